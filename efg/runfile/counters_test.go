package runfile

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// addCounters gives processes random counters. In the second process one of them could not be read.
func addCounters(procs []*efg.Process, meta *Meta, seed int64) {
	rng := rand.New(rand.NewSource(seed))
	meta.Counters = []string{"instructions", "task-clock ns", "page-faults"}
	for i, p := range procs {
		for k, text := range meta.Counters {
			c := efg.ParseCounter(text)
			c.State = efg.CounterRead
			if k == 1 && i%2 == 1 {
				c.State = efg.CounterFailed
			}
			if k == 2 {
				c.State |= efg.CounterMultiplexed
			}
			p.Counters = append(p.Counters, c)
		}
		for j := range p.Streams {
			s := &p.Streams[j]
			visits := s.Visits()
			for n := range s.Nodes {
				s.Nodes[n].Counters = make([]efg.NodeCounter, len(meta.Counters))
				for k := range meta.Counters {
					if p.Counters[k].Read() {
						s.Nodes[n].Counters[k] = randomCounter(rng, visits[n])
					}
				}
			}
		}
	}
}

// randomCounter counts up to so many events; sometimes what a segment of a killed process may have.
func randomCounter(rng *rand.Rand, visits uint64) (c efg.NodeCounter) {
	if visits == 0 || rng.Intn(8) == 0 {
		return c
	}
	c.Count = 1 + rng.Uint64()%visits
	for _, t := range []*efg.Tally{&c.Call, &c.Before} {
		t.Min = ^uint64(0)
		width := rng.Intn(65)
		for range c.Count {
			v := rng.Uint64() & (1<<width - 1)
			t.Sum += v
			t.Min, t.Max = min(t.Min, v), max(t.Max, v)
			t.Bins[efg.TallyBin(v)]++
		}
		switch rng.Intn(8) {
		case 0:
			t.Bins[rng.Intn(efg.TallyBins)]++
		case 1:
			t.Min, t.Max = t.Max, t.Min
		}
	}
	return c
}

func countedProcs(t *testing.T, n int, seed int64) ([]*efg.Process, Meta) {
	var procs []*efg.Process
	for rank := range n {
		procs = append(procs, builtProcess(t, rank, n, seed+int64(rank)))
	}
	meta := sampleMeta(procs[0])
	addCounters(procs, &meta, seed)
	return procs, meta
}

// What was counted is in the file, for any reader.
func TestCounters(t *testing.T) {
	for seed := range int64(10) {
		procs, meta := countedProcs(t, 4+int(seed%2), seed)
		data := encode(t, procs, meta)
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.validateCounters(); err != nil {
			t.Fatal(err)
		}
		for _, i := range rand.New(rand.NewSource(seed)).Perm(len(procs)) {
			p, err := r.Summed(i)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(p.Counters, procs[i].Counters) {
				t.Fatalf("process %d: %v, want %v", i, p.Counters, procs[i].Counters)
			}
			for j := range p.Streams {
				for n := range p.Streams[j].Nodes {
					if got, want := p.Streams[j].Nodes[n].Counters, procs[i].Streams[j].Nodes[n].Counters; !reflect.DeepEqual(got, want) {
						t.Fatalf("process %d, stream %d, node %d: %v, want %v", i, j, n, got, want)
					}
				}
			}
		}
		if seed > 1 {
			continue // it takes seconds
		}
		if got, want := independently(t, data), shown(t, data); got != want {
			t.Fatalf("seed %d: the independent reader disagrees: %s", seed, firstDifference(got, want))
		}
	}
}

func firstDifference(a, b string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[max(0, i-80):min(len(a), i+80)] + " | " + b[max(0, i-80):min(len(b), i+80)]
		}
	}
	return "one is longer"
}

// Merged parts make the file that all processes together make.
func TestCountersOfParts(t *testing.T) {
	procs, meta := countedProcs(t, 20, 3)
	want := encode(t, procs, meta)
	dir := t.TempDir()
	var parts []string
	for i, share := range [][]*efg.Process{procs[:3], procs[3:16], procs[16:]} {
		var b bytes.Buffer
		if err := EncodePart(&b, share, meta); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, filepath.Join(dir, string(rune('a'+i))))
		if err := os.WriteFile(parts[i], b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got bytes.Buffer
	if err := new(Writer).EncodeMerged(&got, parts); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("merged parts differ from what all processes make")
	}
}

// Without counters there is nothing of them in a file.
func TestNoCounters(t *testing.T) {
	procs, meta := countedProcs(t, 3, 5)
	meta.Counters = nil
	with := encode(t, procs, meta)
	for _, p := range procs {
		p.Counters = nil
		for j := range p.Streams {
			for n := range p.Streams[j].Nodes {
				p.Streams[j].Nodes[n].Counters = nil
			}
		}
	}
	if !bytes.Equal(with, encode(t, procs, meta)) {
		t.Error("a file without counters depends on them")
	}
}
