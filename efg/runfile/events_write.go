package runfile

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/efg/seq"
)

// eventStreams is the maximum number of streams in an event block: they are read together.
const eventStreams = 256

// isPartOfLarge reports whether the processes are some of those of a large world. Their file will be
// merged with many others, each of which has to be decoded: it has neither event blocks nor mixed ones.
func isPartOfLarge(sources []source) bool {
	for _, s := range sources {
		if size := s.info().Size; size > eventStreams && size > len(sources) {
			return true
		}
	}
	return false
}

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

// beginGraphs begins to encode the groups that were set aside.
func (rw *runWriter) beginGraphs() error {
	aside := rw.aside
	rw.aside = nil
	worth := worthEvents(aside)
	for _, p := range aside {
		if worth[p.kind] {
			rw.aside = append(rw.aside, p)
		} else if err := rw.put(p); err != nil {
			return err
		}
	}
	if err := rw.endGroup(); err != nil || len(rw.aside) == 0 {
		return err
	}
	lists := rw.listsOfGraphs()
	rw.eventCode = make(chan decodedEvents, 1)
	go func() { rw.eventCode <- eventBlock(rw.aside, lists, rw.features) }()
	return nil
}

// listsOfGraphs puts lists of definitions before the graphs that name them, and returns, of each group of
// graphs, the numbers of its members' lists.
func (rw *runWriter) listsOfGraphs() [][]int {
	if rw.features&featurePathGraphs == 0 {
		return make([][]int, len(rw.aside))
	}
	slices.SortStableFunc(rw.aside, func(a, b *openGroup) int { return cmp.Compare(a.kind, b.kind) })
	lists := make([][]int, len(rw.aside))
	firstOf, groupOf, n := map[int]int{}, map[int]int{}, 0
	for i, p := range rw.aside {
		if groupOf[p.id] = i; p.kind == recordDefs {
			firstOf[p.id] = n
			n += int(p.members)
		}
	}
	taken := map[int]int{} // members of each group of lists
	for i := range rw.procs {
		p := &rw.procs[i]
		list := -1
		if first, ok := firstOf[int(p.defs)]; ok {
			list = first + taken[int(p.defs)]
			taken[int(p.defs)]++
		}
		for k := range p.Streams {
			if g, ok := groupOf[p.Streams[k].group]; ok {
				lists[g] = append(lists[g], list)
			}
		}
	}
	return lists
}

// Graphs of many events, and many definitions, are not coded as events if their columns are tiny
// even before compression: it would take too long.
const (
	freeEvents      = 1 << 14
	eventsPerByte   = 128
	definitionsSize = 1 << 17 // bytes, as columns before they are compressed
)

// worthEvents reports which kinds of these groups go into an event block.
func worthEvents(groups []*openGroup) (worth [recordKinds]bool) {
	events := uint64(0)
	var size [recordKinds]uint64
	for _, p := range groups {
		size[p.kind] += uint64(p.size())
		events += p.events()
	}
	worth[recordGraph] = events <= freeEvents || events <= eventsPerByte*size[recordGraph]
	worth[recordDefs] = worth[recordGraph] && size[recordDefs] <= definitionsSize
	return worth
}

// endGraphs writes what beginGraphs began: as events, or, where that is smaller, as columns.
func (rw *runWriter) endGraphs() error {
	if rw.eventCode == nil {
		return nil
	}
	if rw.decoded = <-rw.eventCode; rw.decoded.groups != nil {
		n, err := rw.enqueueRaw(blockEvents, block.AppendCode(nil, blockEvents, rw.decoded.code))
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

// decodedEvents is the code of an event block, and the groups that it decodes to.
type decodedEvents struct {
	code   []byte
	groups []*readGroup // nil: there is no event block
}

// eventBlock returns the event block of groups of graphs, or none if it is not smaller than their
// columns or does not reproduce the graphs. A recorder writes no such graphs, but a file that was
// made by other means may hold them.
func eventBlock(groups []*openGroup, lists [][]int, features uint32) decodedEvents {
	var want []eventGroup
	for i, p := range groups {
		want = append(want, eventGroup{p.asRead(), lists[i]}) // folds what the columns need folded, too
	}
	size := make(chan int, 1)
	go func() { size <- columnsSize(groups) }()
	d, err := encodeChecked(want, features)
	if least := <-size; err != nil || len(d.code) >= least {
		return decodedEvents{}
	}
	return d
}

var errNotSame = errors.New("events of another graph")

// encodeChecked is encodeEvents, and checks that the code reproduces the groups: it is decoded while it is made.
func encodeChecked(want []eventGroup, features uint32) (d decodedEvents, err error) {
	stream := mix.NewStream()
	var got []*readGroup
	var wrong error
	var decoding sync.WaitGroup
	decoding.Go(func() {
		begin := beginning()
		got, wrong = begin.decode(begin.state.DecoderOf(stream), features)
	})
	code, err := encodeEvents(want, features, stream)
	decoding.Wait()
	if err != nil {
		return d, err
	}
	if err = wrong; err != nil || len(got) != len(want) {
		return d, errors.Join(errNotSame, err)
	}
	for i := range want {
		if err := sameGroup(got[i], want[i].readGroup); err != nil {
			return d, err
		}
	}
	return decodedEvents{code, got}, nil
}

// events is approximately the group's number of events: that of its first member, times its members.
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

// columnsSize is the number of bytes that groups take as columns.
func columnsSize(groups []*openGroup) int {
	w := newGroupWriter(func(*seq.Body) (int, error) { return 0, nil })
	for _, p := range groups {
		w.group(p.recordGroup)
	}
	return len(block.Append(nil, blockGroups, w.cols, 0))
}
