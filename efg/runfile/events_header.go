package runfile

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/signature"
)

// knownHeaders are the headers of common calls, with the classes of their words: a coder of events
// is trained with them. See FORMAT.md, "Event blocks".
//
//go:embed headers.txt
var knownHeaders string

type knownHeader struct {
	header  uint64
	classes []uint8
}

// commonHeaders parses the list: a header and the classes of its words from 1 on in each line.
var commonHeaders = sync.OnceValue(func() []knownHeader {
	var list []knownHeader
	for line := range strings.Lines(knownHeaders) {
		var h knownHeader
		for i, f := range strings.Fields(line) {
			v, err := strconv.ParseUint(f, 10, 64)
			if err != nil {
				panic(err) // the list is part of the program
			}
			if i == 0 {
				h.header, h.classes = v, append(h.classes, 0)
				continue
			}
			h.classes = append(h.classes, uint8(v))
		}
		list = append(list, h)
	}
	return list
})

// header codes the header of an event's node: its number among the common ones and those of the block,
// and 1, or 0 and a new one.
func (e *eventCoder) header(header uint64) uint64 {
	b := &e.lastHeaders
	guesses := []mix.Guess{
		{Context: mix.Hash(ctxHeader, 1, b[0])},
		{Context: mix.Hash(ctxHeader, 2, b[0], b[1])},
		{Context: mix.Hash(ctxHeader, 3, b[0], b[1], b[2])},
		{Context: mix.Hash(ctxHeader, 4, e.before[0])},
		{Context: mix.Hash(ctxHeader, 5, e.before[0], e.before[1])},
		{Context: mix.Hash(ctxHeader, 6, uint64(len(e.local)))},
	}
	if p := &e.places; e.byPath {
		guesses = append(guesses, mix.Guess{Context: mix.Hash(ctxHeader, 7, p[0])}, mix.Guess{Context: mix.Hash(ctxHeader, 8, p[0], p[1])},
			mix.Guess{Context: mix.Hash(ctxHeader, 9, p[0], p[1], p[2])})
	}
	number := e.c.Value(kindHeader, guesses, mix.Hash(ctxHeader, b[0]), 0, e.headerNumber[header])
	switch {
	case number == 0:
		return e.newHeader(header)
	case number > uint64(len(e.headers)):
		e.failf("header %d of %d", number, len(e.headers))
		return 0
	}
	return e.headers[number-1]
}

// newHeader codes a header that is new in the block.
func (e *eventCoder) newHeader(header uint64) uint64 {
	header = e.c.Number(mix.Hash(ctxHeader), header)
	if count := signature.Header(header).Words(); count < signature.FirstWord || count > signature.MaxWords {
		e.failf("event of %d words", count)
		return 0
	}
	if _, ok := e.headerNumber[header]; !ok {
		e.headers = append(e.headers, header)
		e.headerNumber[header] = uint64(len(e.headers))
	}
	return header
}

// The classes of words: what kind of argument they are. A word of none is of class 0, a tag of class 1.
const (
	tagClass    = 1
	wordClasses = 40
)

// classesOf codes, once for each header, the classes of its events' words.
func (e *eventCoder) classesOf(header uint64) []uint8 {
	if list, ok := e.classes[header]; ok {
		return list
	}
	given := make([]uint8, signature.Header(header).Words())
	for k := 1; e.c.Encoding() && k < len(given); k++ {
		given[k] = classOf(header, k)
	}
	list := e.codeClasses(header, given)
	e.classes[header] = list
	return list
}

func (e *eventCoder) codeClasses(header uint64, given []uint8) []uint8 {
	list := make([]uint8, len(given))
	last := uint64(0)
	for k := 1; k < len(given); k++ {
		guesses := []mix.Guess{{Context: mix.Hash(ctxClass, last)}, {Context: mix.Hash(ctxClass, last, uint64(k))}}
		if last = e.c.Value(kindForm, guesses, mix.Hash(ctxClass), 0, uint64(given[k])); last >= wordClasses {
			e.failf("word of class %d", last)
			break
		}
		list[k] = uint8(last)
	}
	return list
}

// classOf is the class of word k of events with this header. Only the writer asks.
func classOf(header uint64, k int) uint8 {
	p := signature.ProcByID(signature.Header(header).Proc())
	if k == 1 || p == nil || k >= len(p.Words) {
		return 0
	}
	if p.Words[k].Param < 0 {
		return wordClasses - 1
	}
	w := &p.Words[k]
	kind := p.Params[w.Param].Kind
	if kind == signature.Tag || kind == signature.Status && w.Part == signature.MessageTag {
		return tagClass
	}
	return 2 + uint8(kind)
}
