package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// locate finds the events of the suspects that are shown.
func (b *builder) locate() error {
	byProc := map[int][]*group{}
	for _, g := range b.groups {
		byProc[g.proc] = append(byProc[g.proc], g)
	}
	sites, err := b.run.Sites()
	if err != nil {
		return err
	}
	return analysis.EachUntimed(b.run, slices.Sorted(maps.Keys(byProc)), func(p *analysis.Process) error {
		return b.locateIn(p, byProc[b.number[p.Data.Rank]], sites)
	})
}

func (b *builder) locateIn(p *analysis.Process, groups []*group, sites []efg.Site) error {
	w := wants{map[channel]uint64{}, map[channel]uint64{}, map[object]bool{}, map[place]bool{}}
	walk := false
	for _, g := range groups {
		switch g.kind {
		case OtherTypes:
			w.typed[g.channel] = g.before
		case LostMessage:
			w.sends[g.channel] = g.before
		case UnfreedObject:
			w.objects[g.object] = true
		case UnsentMessage:
			w.nodes[g.at] = true
		}
		walk = walk || !g.located()
	}
	f := &found{}
	if walk {
		var err error
		if f, err = newTally(p).walkThrough(w); err != nil {
			return err
		}
	}
	names := reconstruct.NewNames(p.Data.Defs, sites)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range groups {
		b.report.Findings = append(b.report.Findings, g.finding(f, p.Data, names))
	}
	return nil
}

// located says whether the event is known without looking.
func (g *group) located() bool {
	switch g.kind {
	case LostMessage, OtherTypes, UnsentMessage, UnfreedObject, OpenReceive, OpenRequest, OpenStart, UnfreedRequest:
		return false
	}
	return true
}

func (g *group) finding(f *found, p *efg.Process, names *reconstruct.Names) Finding {
	at := spot{g.at, g.event}
	switch g.kind {
	case OtherTypes:
		at = f.typed[g.channel]
	case LostMessage:
		at = f.sends[g.channel]
	case UnsentMessage:
		at = f.nodes[g.at]
	case UnfreedObject:
		at = f.objects[g.object]
	case OpenReceive, OpenRequest, OpenStart, UnfreedRequest:
		at = f.pending[g.at]
	}
	if g.call != nil {
		g.text = g.endText(inCallText(p, g.at.thread, g.call, names))
	}
	slices.Sort(g.ranks)
	return Finding{
		Kind: g.kind, Rank: g.rank, Thread: at.thread, Event: at.event, Op: g.op,
		Site: strings.TrimSpace(names.Func(g.site) + " " + names.Place(g.site)),
		Text: g.describe(names), Count: g.total, Ranks: slices.Compact(g.ranks), Remark: g.remark,
	}
}

// endText says of a process that was in a call when its recording ended what is wrong.
func (g *group) endText(call string) string {
	switch g.kind {
	case InvalidArgument:
		return fmt.Sprintf("%s; it was in %s when it ended", g.local, call)
	case EndedEarly, NoFinalize:
		return fmt.Sprintf("%s in %s", g.text, call)
	}
	return fmt.Sprintf("was in %s when the recording ended", call)
}

// describe says what is wrong with what counting found.
func (g *group) describe(names *reconstruct.Names) string {
	c := g.channel
	on := fmt.Sprintf("with tag %s on %s", tagText(c.tag), names.Handle(signature.Comm, c.comm))
	switch g.kind {
	case LostMessage:
		return fmt.Sprintf("the message to rank %d %s was never received", c.to, on)
	case OtherTypes:
		return fmt.Sprintf("the message to rank %d %s is received as of other basic datatypes", c.to, on)
	case UnsentMessage:
		return fmt.Sprintf("got a message from rank %d %s that is not among those that it sent", c.from, on)
	case OpenReceive:
		return "posted a receive that no call completed"
	case OpenRequest:
		return "made a request that no call completed or freed"
	case OpenStart:
		return "made a persistent request that was started and not completed"
	case UnfreedRequest:
		return "made a persistent request that was never freed"
	case UnfreedObject:
		return fmt.Sprintf("made the %s %s, which was never freed", g.text, names.Handle(g.object.kind, g.object.word))
	}
	if g.call != nil {
		return g.text
	}
	if g.local != "" {
		return fmt.Sprintf("%s, on %s", g.local, names.Handle(signature.Comm, g.object.word))
	}
	if g.kind == EndedEarly {
		return g.text + "; this is the last call that was recorded of the process, which was in none then"
	}
	return g.text
}

func tagText(tag uint64) string {
	if k, ok := signature.ConstNumber(tag); ok {
		if c := signature.ConstantByID(k); c != nil {
			return c.Name
		}
	}
	return fmt.Sprint(int64(tag))
}
