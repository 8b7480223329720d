package clocks

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// FuzzHostile changes words, times and anchors of simulated programs on two machines: correcting
// their clocks ends, with or without an error, and so does reading what is corrected.
func FuzzHostile(f *testing.F) {
	for program := range byte(4) {
		f.Add(program, []byte{})
		f.Add(program, []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789"))
		f.Add(program, []byte("abcdefghijklmnopqrstuvwxyz\x00\x01\x02\x03\x04\x05\x06\x07\x08\xff\xff"))
		f.Add(program, []byte("\x00\x00\x03\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x00\x04\xff\xff\xff\xff\xff\xff\xff\x7f"))
	}
	f.Fuzz(func(t *testing.T, program byte, changes []byte) {
		c := sim.Config{Program: sim.Programs()[int(program)%4], Ranks: 4, Steps: 6, Seed: 1}
		var procs []*efg.Process
		for rank := range c.Ranks {
			p, err := c.Process(rank)
			if err != nil {
				t.Fatal(err)
			}
			p.Host = fmt.Sprint("node", rank/2)
			if err := sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 { return 1000 * uint64(1+rank) }); err != nil {
				t.Fatal(err)
			}
			procs = append(procs, p)
		}
		for n := 0; len(changes) >= 11; n++ {
			change(procs[n%len(procs)], binary.LittleEndian.Uint16(changes), changes[2], binary.LittleEndian.Uint64(changes[3:]))
			changes = changes[11:]
		}
		var file bytes.Buffer
		if runfile.EncodeRun(&file, procs, runfile.Meta{Time: runfile.TraceTime(efg.ErrorUnit/100, 0)}) != nil {
			return
		}
		run, err := runfile.NewRun(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			return
		}
		if r, err := Correct(t.Context(), run, nil); err == nil {
			if r == nil || len(r.Machines) == 0 {
				t.Errorf("%+v", r)
			}
			for i := range run.Procs {
				run.Spans(i)
			}
		}
	})
}

// change alters a word, a procedure, an anchor, the beginning of a process's clock, or the length of its
// calls.
func change(p *efg.Process, node uint16, what byte, v uint64) {
	s := &p.Streams[0]
	n := &s.Nodes[int(node)%len(s.Nodes)]
	k := int(what / 5)
	switch what % 5 {
	case 0:
		n.Words[1+k%(len(n.Words)-1)] = v
	case 1:
		n.Words[0] = v&^(0xff<<24) | uint64(len(n.Words))<<24
	case 2:
		p.Anchors = []efg.Anchor{{Tick: 1, Mono: 5, Real: int64(v)}, {Tick: v, Mono: uint64(node), Real: 1}}
	case 3:
		s.Trace.Begin = v
	case 4:
		var t efg.Times
		for range n.Times.Gap.Len() {
			t.Gap.Append(v)
			t.Dur.Append(v >> (k % 64))
		}
		n.Times = &t
	}
}

// Times beyond all measure change nothing of what is in order.
func TestFarApart(t *testing.T) {
	for _, far := range []int64{1 << 40, 1 << 50, 1 << 58} {
		p := newProgram(t, 9, 4, exact, func(ns int64) int64 { return ns + far })
		p.chat(1000)
		run := p.Run()
		if r := corrected(t, run); !r.Machines[1].Aligned {
			t.Errorf("%+v", *r)
		}
	}
}
