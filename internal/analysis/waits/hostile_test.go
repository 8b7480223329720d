package waits

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// FuzzHostile changes words and times of simulated programs, or of a run that synchronises in
// many ways: looking for waits ends, with or without an error.
func FuzzHostile(f *testing.F) {
	for program := range byte(5) {
		f.Add(program, []byte{})
		f.Add(program, []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789"))
		f.Add(program, []byte("abcdefghijklmnopqrstuvwxyz\x00\x01\x02\x03\x04\x05\x06\x07\x08\xff\xff"))
	}
	f.Fuzz(func(t *testing.T, program byte, changes []byte) {
		procs := hostileProcesses(t, int(program)%5)
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
		numbers := make([]int, len(run.Procs))
		for i := range numbers {
			numbers[i] = i
		}
		if r, err := New(run, numbers); err == nil && r == nil {
			t.Error("no report")
		}
	})
}

// hostileProcesses are those of a simulated program, or of a script.
func hostileProcesses(t *testing.T, program int) (procs []*efg.Process) {
	if program == len(sim.Programs()) {
		run := windowScript(t).Run()
		for i := range run.Procs {
			p, err := run.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			procs = append(procs, p)
		}
		return procs
	}
	c := sim.Config{Program: sim.Programs()[program], Ranks: 4, Steps: 6, Seed: 1}
	for rank := range c.Ranks {
		p, err := c.Process(rank)
		if err != nil {
			t.Fatal(err)
		}
		p.Host = "a"
		if err := sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 { return 1000 * uint64(1+rank) }); err != nil {
			t.Fatal(err)
		}
		procs = append(procs, p)
	}
	return procs
}

// change alters a word, a procedure, a definition or the beginning of a process's clock.
func change(p *efg.Process, node uint16, what byte, v uint64) {
	s := &p.Streams[0]
	n := &s.Nodes[int(node)%len(s.Nodes)]
	k := int(what / 4)
	switch what % 4 {
	case 0:
		n.Words[1+k%(len(n.Words)-1)] = v
	case 1:
		n.Words[0] = v&^(0xff<<24) | uint64(len(n.Words))<<24
	case 2:
		if len(p.Defs) > 0 {
			if d := &p.Defs[k%len(p.Defs)]; len(d.Words) > 0 {
				d.Words[int(node)%len(d.Words)] = v
			}
		}
	case 3:
		s.Trace.Begin = v
	}
}
