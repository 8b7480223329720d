package runfile

import (
	"errors"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// eventStreams is how many streams there may be in an event block: one is read with all others.
const eventStreams = 256

// fewEvents reports whether the graphs of these processes may be stored in an event block.
func fewEvents(sources []source, most uint64) bool {
	if most == 0 {
		return false
	}
	n, streams := uint64(0), 0
	for _, s := range sources {
		info := s.info()
		if streams += len(info.Streams); streams > eventStreams {
			return false
		}
		for _, st := range info.Streams {
			if n += st.Events; n > most {
				return false
			}
		}
	}
	return true
}

// beginGraphs begins to encode the groups of graphs that were set aside.
func (rw *runWriter) beginGraphs() {
	if len(rw.aside) == 0 {
		return
	}
	rw.eventCode = make(chan []byte, 1)
	go func() { rw.eventCode <- eventBlock(rw.aside) }()
}

// endGraphs writes what beginGraphs began: as events, or, where that is smaller, as columns.
func (rw *runWriter) endGraphs() error {
	if rw.eventCode == nil {
		return nil
	}
	if code := <-rw.eventCode; code != nil {
		n, err := rw.enqueueRaw(blockEvents, code)
		for i, p := range rw.aside {
			rw.groups[p.id].place = n<<20 | i
		}
		return err
	}
	for _, p := range rw.aside {
		if err := rw.put(p); err != nil {
			return err
		}
	}
	return rw.endGroup()
}

// eventBlock returns the event block of groups of graphs; nil if it is not smaller than their
// columns, or does not give the graphs back: a recorder makes none of these, but a file that was
// made by other means may hold them.
func eventBlock(groups []*openGroup) []byte {
	events := uint64(0)
	var want []*readGroup
	for _, p := range groups {
		want = append(want, p.asRead()) // folds what the columns need folded, too
		events += p.events()
	}
	size := make(chan int, 1)
	go func() { size <- columnsSize(groups) }()
	code, err := encodeChecked(want, events)
	if least := <-size; err != nil || len(code) >= least {
		return nil
	}
	return block.AppendCode(nil, blockEvents, code)
}

var errNotSame = errors.New("events of another graph")

// encodeChecked is encodeEvents, and makes sure that decodeEvents gives the groups back.
func encodeChecked(want []*readGroup, events uint64) ([]byte, error) {
	code, err := encodeEvents(want, events)
	if err != nil {
		return nil, err
	}
	got, err := decodeEvents(code)
	if err != nil || len(got) != len(want) {
		return nil, errors.Join(errNotSame, err)
	}
	for i := range want {
		if err := sameGroup(got[i], want[i]); err != nil {
			return nil, err
		}
	}
	return code, nil
}

// events is the number of events of the group's first member, times its members, or so.
func (p *recordGroup) events() uint64 {
	n := uint64(0)
	for i, at := range layout(p.kind, p.shape) {
		if at.what == cellNumber && at.column == colWeight {
			n += p.cells[i].value.first
		}
	}
	return n * p.members
}

// sameGroup returns an error if two groups are not equal. A word that may be one of two tokens
// may be either.
func sameGroup(got, want *readGroup) error {
	if got.key != want.key || got.members != want.members {
		return errNotSame
	}
	var a, b []uint64
	var err error
	for m := range want.members {
		if a, err = got.memberCells(a[:0], m); err != nil {
			return err
		}
		if b, err = want.memberCells(b[:0], m); err != nil {
			return err
		}
		for i := range b {
			if !sameCell(got, want, i, a[i], b[i]) {
				return errNotSame
			}
		}
	}
	return nil
}

func sameCell(got, want *readGroup, i int, a, b uint64) bool {
	if want.places[i].what == cellSeq {
		return a < uint64(len(got.bodies)) && got.bodies[a].Key == want.bodies[b].Key
	}
	alt, either := want.alts[i]
	return a == b || either && a == alt
}

// columnsSize is how many bytes groups take as columns.
func columnsSize(groups []*openGroup) int {
	w := newGroupWriter(func(*seq.Body) (int, error) { return 0, nil })
	for _, p := range groups {
		w.group(p.recordGroup)
	}
	return len(block.Append(nil, blockGroups, w.cols, 0))
}
