package efg

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/signature"
)

// archive reads a txtar file: sections that start with "-- name --".
func archive(t *testing.T, path string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSuffix(s, " --")
		} else if line != "" {
			sections[name] = append(sections[name], line)
		}
	}
	return sections
}

// figure builds the graph of an archive's events. A line that begins with a number is repeated.
func figure(t *testing.T, events []string) *Stream {
	t.Helper()
	b := NewBuilder(0, DefaultDemote, &Definitions{})
	for _, line := range events {
		ops := strings.Fields(line)
		times := 1
		if n, err := strconv.Atoi(ops[0]); err == nil {
			times, ops = n, ops[1:]
		}
		for range times {
			for _, op := range ops {
				h := signature.MakeHeader(signature.ProcByName(op).ID, signature.C, false, 3, 0)
				if err := b.Add(Input{Words: []uint64{uint64(h), 0, 0}}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// printed are a graph's edges as the figures print them.
type printed struct{ weights, runs, edges []string }

func printEdges(s *Stream, skip []string) printed {
	name := func(i uint32) string { return signature.ProcByID(signature.Header(s.Nodes[i].Words[0]).Proc()).Name }
	var p printed
	for i := range s.Nodes {
		n := &s.Nodes[i]
		from := name(uint32(i))
		if slices.Contains(skip, from) {
			continue
		}
		for _, e := range n.Edges {
			l := fmt.Sprintf("%s -> %s %d", from, name(e.To), e.Weight)
			p.weights = append(p.weights, l)
			if len(n.Edges) == 1 {
				p.runs, p.edges = append(p.runs, l), append(p.edges, l)
			}
		}
		for _, e := range StrideEdges(n) {
			p.edges = append(p.edges, fmt.Sprintf("%s -> %s %v", from, name(e.To), e))
			for seq := e.First; seq <= e.Last; seq += max(e.Stride, 1) {
				p.runs = append(p.runs, fmt.Sprintf("%s -> %s %d,%d", from, name(e.To), seq, e.Count))
			}
		}
	}
	return p
}

// TestFigures: nodes, edges and weights are those of the published figures.
func TestFigures(t *testing.T) {
	files, err := filepath.Glob("testdata/figures/*.txtar")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d figures, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a := archive(t, file)
			s := figure(t, a["events"])
			p := printEdges(s, a["not drawn"])
			compared := false
			for section, got := range map[string][]string{"weights": p.weights, "runs": p.runs, "edges": p.edges} {
				want, ok := a[section]
				if !ok {
					continue
				}
				compared = true
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s:\n%s\nwant\n%s", section, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			if !compared {
				t.Error("nothing to compare with")
			}
			if _, err := CheckStream(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStrideEdgesCoverAllRuns: expanded, the edges are the branch runs.
func TestStrideEdgesCoverAllRuns(t *testing.T) {
	var events []string
	for i := range 300 {
		events = append(events, fmt.Sprintf("%d MPI_Barrier MPI_Bcast", i%3+1))
		events = append(events, fmt.Sprintf("%d MPI_Barrier %s", i*i%5+1, []string{"MPI_Reduce", "MPI_Gather"}[i*7%10/7]))
	}
	s := figure(t, events)
	n := &s.Nodes[0]
	got := map[uint64]StrideEdge{}
	for _, e := range StrideEdges(n) {
		for seq := e.First; seq <= e.Last; seq += max(e.Stride, 1) {
			if _, twice := got[seq]; twice {
				t.Fatalf("branch run %d is in two edges", seq)
			}
			got[seq] = e
		}
	}
	lengths := newRunLengths(n)
	it := n.Runs.Iter()
	seq := uint64(0)
	for edge, ok := it.Next(); ok; edge, ok = it.Next() {
		seq++
		if e := got[seq]; e.To != n.Edges[edge].To || e.Count != lengths.next(edge) {
			t.Fatalf("branch run %d: %+v", seq, e)
		}
	}
	if uint64(len(got)) != seq {
		t.Errorf("%d branch runs in edges, %d in the graph", len(got), seq)
	}
}
