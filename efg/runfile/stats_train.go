package runfile

import (
	_ "embed"
	"sync"

	"github.com/efg-tools/efg/efg/mix"
)

// statsExamples are the statistics of short recordings of programs of testdata, as the code of a statistics block: a
// coder of statistics learns from them first. They are part of the format, as those of events are.
//
//go:embed statistics.bin
var statsExamples []byte

// statsStart is what a coder of statistics begins with.
var statsStart = sync.OnceValue(func() *mix.State {
	s := &statsCoder{c: mix.NewDecoder(statsExamples, statsTable), left: 1 << 20}
	for range s.number(numberExamples, 0) {
		s.streams(nil)
		s.forget()
	}
	if s.err != nil {
		panic(s.err) // they are part of the program
	}
	return s.c.Learned()
})
