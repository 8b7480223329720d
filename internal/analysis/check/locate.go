package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
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

func (b *builder) locateIn(p *analysis.Process, groups []*group, sites []runfile.Site) error {
	w := wantedEvents{sends: map[channel]uint64{}, typed: map[channel]uint64{}, objects: map[object]bool{}, nodes: map[place]bool{}}
	walk := false
	for _, g := range groups {
		switch g.kind {
		case OtherTypes:
			w.typed[g.channel] = g.before
		case LostMessage:
			w.sends[g.channel] = g.before
		case UnfreedObject:
			w.objects[g.object] = true
		case UnsentMessage, FreedHandle:
			w.nodes[g.at] = true
		case PersistentMisused:
			w.nodes[g.at] = w.nodes[g.at] || g.idle
		}
		walk = walk || !g.located()
	}
	f := &foundEvents{}
	if walk {
		var err error
		if f, err = newTally(p).walkThrough(w); err != nil {
			return err
		}
	}
	names := reconstruct.NamesOf(p.Data, sites)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range groups {
		b.report.Findings = append(b.report.Findings, g.finding(f, p, names))
	}
	return nil
}

// located reports whether the event is already known.
func (g *group) located() bool {
	switch g.kind {
	case LostMessage, OtherTypes, UnsentMessage, FreedHandle, UnfreedObject, OpenReceive, OpenRequest, OpenStart, UnfreedRequest:
		return false
	}
	return !g.idle
}

func (g *group) finding(f *foundEvents, p *analysis.Process, names *reconstruct.Names) Finding {
	at := eventRef{g.at, g.event}
	switch g.kind {
	case OtherTypes:
		at = f.typed[g.channel].eventRef
		g.text = dataText(names, f.typed[g.channel].datatype)
	case LostMessage:
		at = f.sends[g.channel]
	case UnsentMessage, FreedHandle:
		at = f.nodes[g.at]
	case UnfreedObject:
		at = f.objects[g.object]
	case OpenReceive, OpenRequest, OpenStart, UnfreedRequest:
		at = f.pending[g.at]
	case PersistentMisused:
		if g.idle {
			at = f.nodes[g.at]
		}
	}
	if g.call != nil {
		g.text = g.endText(inCallText(p.Data, g.at.thread, g.call, names))
	}
	slices.Sort(g.ranks)
	return Finding{
		Kind: g.kind, Rank: g.rank, Thread: at.thread, Event: at.event, Op: g.op,
		Site: names.Callsite(g.site),
		Text: g.describe(p, names), Count: g.total, Ranks: slices.Compact(g.ranks), Remark: g.remark,
	}
}

// endText says what is wrong with a process that was in a call when its recording ended.
func (g *group) endText(call string) string {
	switch g.kind {
	case InvalidArgument:
		return fmt.Sprintf("%s; it was in %s when it ended", g.local, call)
	case EndedEarly, NoFinalize:
		return fmt.Sprintf("%s in %s", g.text, call)
	}
	return fmt.Sprintf("was in %s when the recording ended", call)
}

// describe describes a fault that was found by counting.
func (g *group) describe(p *analysis.Process, names *reconstruct.Names) string {
	c := g.channel
	on := fmt.Sprintf("with tag %s on %s", tagText(c.tag), names.Handle(signature.Comm, c.comm))
	switch g.kind {
	case LostMessage:
		text := fmt.Sprintf("the message to %s %s was never received", rankText(p, c.comm, int(c.to), names), on)
		if g.other != "" {
			text += "; " + g.other
		}
		return text
	case OtherTypes:
		if g.other == "" {
			g.other = "other basic datatypes"
		}
		return fmt.Sprintf("the message to %s %s, of %s, is received as of %s", rankText(p, c.comm, int(c.to), names), on, g.text, g.other)
	case UnsentMessage:
		return fmt.Sprintf("got a message from %s %s that is not among those that it sent", rankText(p, c.comm, int(c.from), names), on)
	case OpenReceive:
		return "posted a receive that was never completed"
	case OpenRequest:
		return "created a request that was never completed or freed"
	case OpenStart:
		return "created a persistent request that was started and not completed"
	case UnfreedRequest:
		return "created a persistent request that was never freed"
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
		return g.text + "; this is the last recorded call of the process, which was not in MPI then"
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
