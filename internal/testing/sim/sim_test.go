package sim

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

var update = flag.Bool("update", false, "rewrite the expected output")

// configs are small simulations of every kind.
var configs = []Config{
	{Program: "halo", Ranks: 27, Steps: 25},
	{Program: "halo", Ranks: 27, Steps: 25, Null: true, Stats: true},
	{Program: "halo", Ranks: 8, Steps: 12, Periodic: true},
	{Program: "halo", Ranks: 4, Steps: 3, Grid: [3]int{1, 4, 1}},
	{Program: "farm", Ranks: 20, Steps: 40, Seed: 3},
	{Program: "mesh", Ranks: 30, Steps: 40, Stats: true},
	{Program: "random", Ranks: 7, Steps: 3000, Signatures: 100},
}

func (c Config) String() string {
	return fmt.Sprintf("%s-%d-%d-%v-%v", c.Program, c.Ranks, c.Steps, c.Periodic, c.Null)
}

// Every simulated stream is a valid graph with the right hash of its events.
func TestStreamsAreValid(t *testing.T) {
	for _, c := range configs {
		n := 0
		for p, err := range c.All(2) {
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			if p.Rank != n || p.Size != c.Ranks {
				t.Fatalf("%v: rank %d of %d, want %d", c, p.Rank, p.Size, n)
			}
			s := &p.Streams[0]
			if node, err := efg.CheckStream(s); err != nil {
				t.Fatalf("%v: rank %d, node %d: %v", c, n, node, err)
			}
			if err := s.Verify(p.Defs); err != nil {
				t.Fatalf("%v: rank %d: %v", c, n, err)
			}
			if c.Stats != (s.Nodes[0].Stats != nil) {
				t.Fatalf("%v: rank %d: times: %v", c, n, !c.Stats)
			}
			n++
		}
		if n != c.Ranks {
			t.Errorf("%v: %d ranks", c, n)
		}
	}
}

// traffic counts messages by sender, receiver, tag and bytes, and fails on what no MPI would
// do.
type traffic map[[4]int]int

func (m traffic) add(t *testing.T, e *reconstruct.Event, rank int) {
	line := string(e.AppendJSON(nil))
	var op string
	if _, after, ok := strings.Cut(line, `"op":"`); ok {
		op, _, _ = strings.Cut(after, `"`)
	}
	number := func(s, name string) int {
		v := -1
		if _, after, ok := strings.Cut(s, `"`+name+`":`); ok {
			fmt.Sscan(strings.TrimRight(strings.FieldsFunc(after, func(r rune) bool { return r == ',' || r == '}' })[0], "]"), &v)
		}
		return v
	}
	args, out, ok := strings.Cut(line, `"out":`)
	if !ok {
		t.Fatalf("rank %d: %s", rank, line)
	}
	switch op {
	case "MPI_Send", "MPI_Isend":
		if to := number(args, "dest"); to >= 0 {
			m[[4]int{rank, to, number(args, "tag"), number(args, "count")}]++
		}
	case "MPI_Recv", "MPI_Waitany":
		if from := number(out, "source"); from >= 0 {
			m[[4]int{from, rank, number(out, "tag"), number(out, "count")}]--
		}
	}
}

// Every received message was sent, except in the halo exchange, whose receives are as posted.
func TestMessagesMatch(t *testing.T) {
	for _, c := range configs {
		if c.Program == "halo" {
			continue
		}
		m := traffic{}
		for p, err := range c.All(1) {
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range reconstruct.NewProcess(p, reconstruct.NewNames(p.Defs, nil)).Events(0, reconstruct.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				m.add(t, e, p.Rank)
			}
		}
		if len(m) == 0 {
			t.Errorf("%v: no messages", c)
		}
		for k, n := range m {
			if n != 0 {
				t.Fatalf("%v: %d messages %v sent and not received", c, n, k)
			}
		}
	}
}

// The neighbours of the halo exchange are mutual.
func TestNeighboursAreMutual(t *testing.T) {
	for _, c := range configs[:4] {
		if _, err := c.check(); err != nil {
			t.Fatal(err)
		}
		sent, expected := map[[4]uint64]int{}, map[[4]uint64]int{}
		for n := range c.Ranks {
			r := &rank{Config: &c, number: n}
			for _, b := range r.neighbours() {
				if b.rank != signature.ProcNull {
					sent[[4]uint64{uint64(n), b.rank, b.tag, b.count}]++
					expected[[4]uint64{b.rank, uint64(n), b.from, b.count}]++
				}
			}
		}
		if len(sent) == 0 || !reflect.DeepEqual(sent, expected) {
			t.Errorf("%v: sent %v, received %v", c, sent, expected)
		}
	}
}

// The reconstruction of each program's first events is as expected.
func TestReconstruction(t *testing.T) {
	for _, c := range []Config{configs[1], configs[4], configs[5], configs[6]} {
		p, err := c.Process(0)
		if err != nil {
			t.Fatal(err)
		}
		meta, err := c.Meta()
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for e, err := range reconstruct.NewProcess(p, reconstruct.NewNames(p.Defs, meta.Sites)).Events(0, reconstruct.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Seq < 24 {
				got = e.AppendJSON(got)
			}
		}
		file := filepath.Join("testdata", c.Program+".jsonl")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %v\n%s", c, err, got)
		}
	}
}

// Equal configurations yield equal files, whatever the number of workers; the seed matters.
func TestDeterministic(t *testing.T) {
	write := func(c Config, workers int) [][]byte {
		paths, err := c.WriteNodes(t.TempDir(), workers)
		if err != nil {
			t.Fatal(err)
		}
		var files [][]byte
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, data)
		}
		return files
	}
	for _, c := range configs {
		c.Ranks, c.Steps, c.Grid = 130, 10, [3]int{}
		first := write(c, 1)
		if len(first) != 3 {
			t.Fatalf("%v: %d nodes", c, len(first))
		}
		if !reflect.DeepEqual(first, write(c, 3)) {
			t.Errorf("%v: files differ", c)
		}
		c.Seed++
		if reflect.DeepEqual(first, write(c, 3)) {
			t.Errorf("%v: the seed does not matter", c)
		}
	}
}

// The recorder, given the simulated events, makes the simulated graph.
func TestSegments(t *testing.T) {
	feeder := filepath.Join(t.TempDir(), "segments")
	if err := BuildFeeder("../../..", feeder); err != nil {
		t.Fatal(err)
	}
	for _, c := range configs {
		c.Stats = false
		dir := t.TempDir()
		if err := c.WriteSegments(feeder, dir, 2); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
		if len(files) != c.Ranks {
			t.Fatalf("%v: %d segments", c, len(files))
		}
		seen := map[int]bool{}
		for _, f := range files {
			got, err := segment.Read(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := c.Process(got.Rank)
			if err != nil {
				t.Fatal(err)
			}
			seen[got.Rank] = true
			if !reflect.DeepEqual(got.Streams, want.Streams) {
				t.Errorf("%v: rank %d: other graph", c, got.Rank)
			}
			if !equalDefs(got.Defs, want.Defs) || got.World != want.World || got.Size != want.Size {
				t.Errorf("%v: rank %d: %+v\n%+v", c, got.Rank, got.Defs, want.Defs)
			}
		}
		if len(seen) != c.Ranks {
			t.Errorf("%v: %d ranks", c, len(seen))
		}
	}
}

func equalDefs(a, b []efg.Def) bool {
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func TestRefuses(t *testing.T) {
	for _, c := range []Config{
		{Program: "none", Ranks: 4},
		{Program: "halo", Ranks: 1},
		{Program: "halo", Ranks: 8, Grid: [3]int{2, 2, 3}},
		{Program: "random", Ranks: 8, Signatures: maxSignatures + 1},
	} {
		if _, err := c.Process(0); err == nil {
			t.Errorf("%+v is not refused", c)
		}
	}
	if _, err := configs[0].Process(27); err == nil {
		t.Error("rank 27 of 27 is not refused")
	}
}
