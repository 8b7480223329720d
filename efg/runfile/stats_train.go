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

// shortExamples are the same statistics as a short code.
//
//go:embed statistics_short.bin
var shortExamples []byte

// statsStart is what a coder of statistics begins with, shortStart one of short codes.
var (
	statsStart = sync.OnceValue(func() *mix.State {
		return learned(&statsCoder{c: mix.NewDecoder(statsExamples, statsTable)})
	})
	shortStart = sync.OnceValue(func() *mix.State {
		return learned(&statsCoder{c: mix.NewDecoder(shortExamples, shortTable), short: true})
	})
)

// learned is what a coder learns from its examples.
func learned(s *statsCoder) *mix.State {
	s.left = 1 << 20
	for range s.number(numberExamples, 0) {
		s.streams(nil)
		s.forget()
	}
	if s.err != nil {
		panic(s.err) // they are part of the program
	}
	return s.c.Learned()
}
