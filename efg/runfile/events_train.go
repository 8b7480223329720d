package runfile

import (
	_ "embed"
	"maps"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/mix"
)

// examples are the graphs and definitions of short recordings of three programs of testdata, as the
// code of an event block: a coder of events learns from them first. They are part of the format: files
// that were written with others cannot be read.
//
//go:embed examples.bin
var examples []byte

// eventTable is the number of bits of the table of a coder of events.
const eventTable = 18

// eventStart is what a coder of events begins with.
type eventStart struct {
	state   *mix.State
	headers []uint64
	number  map[uint64]uint64
	classes map[uint64][]uint8
}

var started struct {
	once sync.Once
	*eventStart
}

// Prepare readies what is needed to write a file of events, with times or without. It need not be called: who has time
// before the first file is written saves it then.
func Prepare(times bool) {
	beginning()
	block.Prepare(blockIndexTables)
	if times {
		shortStart()
	}
}

// beginning is what coders of events begin with.
func beginning() *eventStart {
	started.once.Do(func() {
		started.eventStart = &eventStart{}
		c := mix.NewDecoder(examples, eventTable)
		if _, err := started.common(c).readGroups(); err != nil {
			panic(err) // they are part of the program
		}
		started.state = c.Learned()
	})
	return started.eventStart
}

// common has a coder learn the common headers, and returns a coder of events that uses it.
func (b *eventStart) common(c *mix.Coder) *eventCoder {
	b.number, b.classes = map[uint64]uint64{}, map[uint64][]uint8{}
	e := newEventCoder(c)
	c.Train(func() {
		for i, h := range commonHeaders() {
			b.headers = append(b.headers, h.header)
			b.number[h.header] = uint64(i + 1)
			b.classes[h.header] = e.codeClasses(h.header, h.classes)
		}
	})
	return b.coder(c)
}

// coder returns a coder of events that knows the common headers.
func (b *eventStart) coder(c *mix.Coder) *eventCoder {
	e := newEventCoder(c)
	e.headers = slices.Clip(b.headers)
	maps.Copy(e.headerNumber, b.number)
	maps.Copy(e.classes, b.classes)
	return e
}
