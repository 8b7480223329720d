package flame

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// halo is a run with the times that a measure needs.
func halo(t *testing.T, m Measure, seed uint64) *runfile.Run {
	t.Helper()
	c := sim.Config{Program: "halo", Ranks: 8, Steps: 6, Seed: seed, Periodic: true, Stats: true}
	run, err := c.Run(nil)
	if m == Waiting || m == Delay {
		run, err = c.TracedRun()
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// whole is what other reports say of a measure in all.
func whole(t *testing.T, run *runfile.Run, m Measure) uint64 {
	t.Helper()
	procs := []int{0, 1, 2, 3, 4, 5, 6, 7}
	if m == Waiting || m == Delay {
		rep, err := waits.New(run, procs)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(rep.Waiting)
	}
	rep, err := analysis.NewReport(run, procs)
	if err != nil {
		t.Fatal(err)
	}
	all := &rep.Total
	return map[Measure]uint64{Time: all.Time.Sum, Calls: rep.Total.Calls, Bytes: all.Sent + all.Received + all.Read + all.Written}[m]
}

// Nodes have the sums of their children, and the root what the other reports say in all.
func TestSums(t *testing.T) {
	for _, m := range Measures {
		runs := []*runfile.Run{halo(t, m, 1), halo(t, m, 2)}
		tree, err := New(t.Context(), m, nil, runs...)
		if err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		nodes := 0
		check(t, m, tree.Root, &nodes)
		if nodes != tree.Nodes || nodes < 4 {
			t.Errorf("%s: %d nodes, says %d", m, nodes, tree.Nodes)
		}
		for i, run := range runs {
			got, want := tree.Root.Values[i], whole(t, run, m)
			if far := max(got, want) - min(got, want); got == 0 || far > 0 && (m != Delay || far > 100) { // causes are rounded
				t.Errorf("%s: %d, want %d", m, got, want)
			}
		}
	}
}

func check(t *testing.T, m Measure, n *Node, nodes *int) {
	t.Helper()
	*nodes++
	var sum [2]uint64
	for _, c := range n.Children {
		sum[0] += c.Values[0]
		sum[1] += c.Values[1]
		check(t, m, c, nodes)
	}
	if len(n.Children) > 0 && sum != n.Values {
		t.Errorf("%s: %s %s: %d, its children %d", m, n.Kind, n.Name, n.Values, sum)
	}
	if len(n.Children) == 0 && n.Kind != Whole && n.Kind != Procedure && n.Kind != Computation {
		t.Errorf("%s: a leaf is a %s", m, n.Kind)
	}
}

func TestFrames(t *testing.T) {
	b := newBuilder()
	b.paths["exchange in step halo.c:88 ← main main.c:41"] = []string{"main main.c:41", "exchange in step halo.c:88"}
	b.paths["app+0x12 ← libx.so+0x34 ← unknown"] = []string{"unknown", "libx.so+0x34", "app+0x12"}
	for site, want := range map[string]string{
		"exchange in main jacobi.c:42": "file jacobi.c|function main|function exchange|line line 42|procedure MPI_Send",
		"jacobi.c:42":                  "file jacobi.c|line line 42|procedure MPI_Send",
		"main app+0x1234":              "file app|function main|procedure MPI_Send",
		"libx.so+0x12":                 "file libx.so|procedure MPI_Send",
		"":                             "file unknown|procedure MPI_Send",

		"exchange in step halo.c:88 ← main main.c:41": "function main|function step|function exchange|line line 88|procedure MPI_Send",
		"app+0x12 ← libx.so+0x34 ← unknown":           "function unknown|module libx.so|module app|procedure MPI_Send",
	} {
		var list []string
		for _, f := range b.frames(leaf{Procedure, "MPI_Send", site}) {
			list = append(list, string(f.Kind)+" "+f.Name)
		}
		if got := strings.Join(list, "|"); got != want {
			t.Errorf("%q: %s, want %s", site, got, want)
		}
	}
}

// Of very many places the cheap ones are one node.
func TestOthers(t *testing.T) {
	b := newBuilder()
	for i := range MostLeaves + 7 {
		b.at(leaf{Procedure, "MPI_Send", fmt.Sprintf("main a.c:%d", i+1)}, 0, uint64(i+1))
	}
	tree := b.tree(Calls)
	i := slices.IndexFunc(tree.Root.Children, func(n *Node) bool { return n.Kind == Others })
	if i < 0 || tree.Root.Children[i].Values[0] != 28 || tree.Root.Children[i].Name != "7 other places" {
		t.Fatalf("%+v", tree.Root.Children)
	}
	nodes := 0
	for _, c := range tree.Root.Children[:i] {
		check(t, Calls, c, &nodes)
	}
	if tree.Nodes != nodes+2 {
		t.Errorf("%d nodes, says %d", nodes+2, tree.Nodes)
	}
}

func TestWithoutTimes(t *testing.T) {
	run, err := sim.Config{Program: "halo", Ranks: 2, Steps: 3, Seed: 1}.Run(func(*efg.Process) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Measure{Time, Waiting, Delay} {
		if _, err := New(t.Context(), m, nil, run); !errors.Is(err, ErrNoTimes) {
			t.Errorf("%s: %v", m, err)
		}
	}
	if tree, err := New(t.Context(), Calls, nil, run); err != nil || tree.Root.Values[0] == 0 {
		t.Errorf("%+v, %v", tree, err)
	}
}
