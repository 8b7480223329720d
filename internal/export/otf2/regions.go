package otf2

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// openRegion is a region that the program has named and not ended.
type openRegion struct {
	name   uint64 // word
	region uint32
}

// nameWord is the word of the name of a region.
const nameWord = signature.FirstWord

// textsOf are the strings of a process, by their words.
func textsOf(p *efg.Process) map[uint64]string {
	texts := map[uint64]string{}
	for i := range p.Defs {
		if d := &p.Defs[i]; d.Kind == efg.DefString {
			texts[d.Word] = string(d.Data)
		}
	}
	return texts
}

// addNamed defines the regions that the calls of a node begin.
func (a *archive) addNamed(facts *analysis.Process, texts map[uint64]string, stream, node int) error {
	return facts.ValueGroups(stream, node, 1<<nameWord, func(g *analysis.ValueGroup) error {
		a.defs.text(a.defs.regions[a.defs.region(named(texts[g.Word(nameWord)]))].name)
		return nil
	})
}

// annotation writes a call by which the program begins or ends a region. One inside another call is
// written as a call: what it begins might not end there.
func (t *threadWriter) annotation(e *reconstruct.Event, x *plan) {
	switch {
	case e.Depth() > 0 || x.action == closes && len(t.open) == 0:
		t.beginCall(e.Depth())
		t.atStart(reference(t.b[:0], eventEnter, x.region), t.arguments(e, x))
		t.atEnd(reference(t.b[:0], eventLeave, x.region), t.results(e))
		t.endCall(e.Depth())
	case x.action == opens:
		t.openRegion(e, x)
	default:
		t.closeRegion(e, x)
	}
}

// openRegion enters a region.
func (t *threadWriter) openRegion(e *reconstruct.Event, x *plan) {
	name := e.Word(nameWord)
	r := openRegion{name, t.process.defs.byName[named(t.process.texts[name])]}
	t.open = append(t.open, r)
	t.releaseInner()
	t.put(t.start, reference(t.b[:0], eventEnter, r.region), t.arguments(e, x))
}

// closeRegion leaves the innermost region with a name and those in it or, if none has it, the innermost
// one.
func (t *threadWriter) closeRegion(e *reconstruct.Event, x *plan) {
	t.releaseInner()
	at := len(t.open) - 1
	for i, r := range slices.Backward(t.open) {
		if r.name == e.Word(nameWord) {
			at = i
			break
		}
	}
	t.leaveRegions(at+1, t.process.stamp(t.start))
	t.put(t.start, reference(t.b[:0], eventLeave, t.open[at].region), t.arguments(e, x))
	t.open = t.open[:at]
}

// leaveRegions leaves regions that the program does not end itself.
func (t *threadWriter) leaveRegions(from int, time uint64) {
	for _, r := range slices.Backward(t.open[from:]) {
		list := attributeList{d: t.process.defs, b: t.list[:0]}
		list.mark(unfinishedAttribute, true)
		t.list = list.b
		t.last = max(t.last, time)
		t.out.event(t.last, t.encode(&list), reference(t.b[:0], eventLeave, r.region))
	}
	t.open = t.open[:from]
}
