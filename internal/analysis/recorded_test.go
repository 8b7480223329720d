package analysis_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// recordings are the programs of testdata that are recorded for the tests.
var recordings = []testrun.Program{
	{Source: "c/amr.c", MPI: "openmpi"}, {Source: "c/coll.c"}, {Source: "c/comms.c", MPI: "openmpi"}, {Source: "c/eager.c", MPI: "openmpi"},
	{Source: "c/errors.c", MPI: "openmpi"}, {Source: "c/fail.c", Args: "kill", MPI: "openmpi", Fails: true}, {Source: "c/farm.c", MPI: "openmpi"}, {Source: "c/growing.c"},
	{Source: "c/halo3d.c", MPI: "openmpi"}, {Source: "c/icoll.c"}, {Source: "c/inter.c", MPI: "openmpi"}, {Source: "c/intercoll.c"},
	{Source: "c/io.c", Args: "2 DIR", MPI: "openmpi"}, {Source: "c/jacobi.c", Args: "40", MPI: "openmpi"}, {Source: "c/large.c"}, {Source: "c/loops.c", MPI: "openmpi"},
	{Source: "c/neigh.c"}, {Source: "c/partitioned.c"}, {Source: "c/pcoll.c"}, {Source: "c/persistent.c"},
	{Source: "c/polling.c", MPI: "openmpi"}, {Source: "c/probes.c", MPI: "openmpi"}, {Source: "c/rma.c"}, {Source: "c/sessions.c"},
	{Source: "c/spawn.c", Ranks: 2, MPI: "openmpi"}, {Source: "c/threads.c", MPI: "openmpi"}, {Source: "c/types.c", MPI: "openmpi"}, {Source: "c/userops.c", MPI: "openmpi"},
	{Source: "fortran/halo_mpifh.f", MPI: "openmpi"}, {Source: "fortran/coll_usempi.f90", Args: "DIR", MPI: "openmpi"}, {Source: "fortran/all_f08.f90", Args: "DIR", MPI: "openmpi"},
}

// TestRecorded compares reports and matrices of recorded programs with the counts of their
// events.
func TestRecorded(t *testing.T) {
	testrun.Record(t, recordings, func(t *testing.T, r *testrun.Recording) { compareWithEvents(t, r.Run) })
}

// compareWithEvents checks the report of each rank and the matrix of a run.
func compareWithEvents(t *testing.T, run *runfile.Run) {
	sites, err := run.Sites()
	if err != nil {
		t.Fatal(err)
	}
	first := analysis.FirstRanks(run.Procs)
	cells := map[[2]int]analysis.Cell{}
	var calls, unknown uint64
	for i := range run.Procs {
		data, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		names := reconstruct.NewNames(data.Defs, sites)
		c := newCounter(reconstruct.NewProcess(data, names), names, first[i])
		if err := c.count(); err != nil {
			t.Fatal(err)
		}
		report, err := analysis.NewReport(run, []int{i})
		if err != nil {
			t.Fatal(err)
		}
		c.compare(t, report)
		calls += report.Total.Calls
		unknown += report.Total.Unknown
		for at, cell := range c.cells {
			sum := cells[at]
			sum.Bytes += cell.Bytes
			sum.Messages += cell.Messages
			cells[at] = sum
		}
	}
	t.Logf("%d calls, %d of unknown size", calls, unknown)
	compareMatrix(t, run, cells)
	compareOperations(t, run)
}

func (c *counter) compare(t *testing.T, report *analysis.Report) {
	t.Helper()
	calls, volumes, sizes := map[string]uint64{}, map[string]analysis.Volume{}, map[string]*analysis.Sizes{}
	for _, r := range report.Callsites {
		key := r.Op + " " + r.Site
		if sizes[key] == nil {
			sizes[key] = &analysis.Sizes{}
		}
		v := volumes[key]
		v.Add(&r.Volume, 1)
		volumes[key] = v
		calls[key] += r.Calls
		sizes[key].Merge(&r.Sizes)
	}
	for key, n := range c.calls {
		if calls[key] != n {
			t.Errorf("rank %d: %s: %d calls, want %d", c.p.Data().Rank, key, calls[key], n)
		}
		want := c.volumes[key]
		if volumes[key] != want {
			t.Errorf("rank %d: %s: %+v, want %+v", c.p.Data().Rank, key, volumes[key], want)
		}
		compareSizes(t, key, sizes[key], c.sizes[key])
	}
	if len(calls) != len(c.calls) {
		t.Errorf("rank %d: %d callsites, want %d", c.p.Data().Rank, len(calls), len(c.calls))
	}
}

// compareSizes compares the sizes of calls of which some move something.
func compareSizes(t *testing.T, key string, got *analysis.Sizes, want map[int]uint64) {
	t.Helper()
	none := want[0]
	if delete(want, 0); len(want) == 0 {
		if got.Used() > 0 {
			t.Errorf("%s: sizes %v of calls that move nothing", key, got)
		}
		return
	}
	for bin, n := range got {
		if bin == 0 && n != none || bin > 0 && n != want[bin] {
			t.Errorf("%s: %d of sizes with %d digits, want %d", key, n, bin, want[bin])
		}
	}
}

func compareMatrix(t *testing.T, run *runfile.Run, cells map[[2]int]analysis.Cell) {
	t.Helper()
	m, err := analysis.NewMatrix(run, analysis.MatrixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[[2]int]analysis.Cell{}
	for _, e := range m.Entries {
		got[[2]int{e.From, e.To}] = e.Cell
	}
	var outside analysis.Cell
	for at, cell := range cells {
		switch {
		case at[1] < 0:
			outside.Bytes += cell.Bytes
			outside.Messages += cell.Messages
		case got[at] != cell:
			t.Errorf("%v: %+v, want %+v", at, got[at], cell)
		}
		delete(got, at)
	}
	if len(got) > 0 || m.Outside != outside {
		t.Errorf("more than was sent: %v; outside %v, want %v", got, m.Outside, outside)
	}
	checkExpansion(t, run)
}

// checkExpansion compares the sums that keep fans together with those of the
// expanded matrix, in all cells.
func checkExpansion(t *testing.T, run *runfile.Run) {
	t.Helper()
	m, err := analysis.NewMatrix(run, analysis.MatrixOptions{OneSided: true, Collectives: true})
	if err != nil {
		t.Fatal(err)
	}
	all, sent, received := m.Totals()
	bins := m.Bin(m.All(), 3)
	var sum analysis.Cell
	rows, columns := make([]analysis.Cell, m.Size), make([]analysis.Cell, m.Size)
	byBin := make([]uint64, bins.Rows*bins.Columns)
	add := func(c *analysis.Cell, o analysis.Cell) { c.Bytes += o.Bytes; c.Messages += o.Messages }
	err = m.Each(func(e analysis.Entry) error {
		add(&sum, e.Cell)
		add(&rows[e.From], e.Cell)
		add(&columns[e.To], e.Cell)
		byBin[e.From/bins.Width*bins.Columns+e.To/bins.Width] += e.Bytes
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(all, sent, received), fmt.Sprint(sum, rows, columns); got != want {
		t.Errorf("totals %s, want %s", got, want)
	}
	for i := range byBin {
		if got := bins.Bytes[i/bins.Columns][i%bins.Columns]; got != byBin[i] {
			t.Errorf("bin %d: %d, want %d", i, got, byBin[i])
		}
	}
	if bins.Total() != all {
		t.Errorf("the bins hold %+v, want %+v", bins.Total(), all)
	}
	for _, order := range analysis.RankOrders {
		m.Arrange(run, analysis.RankOrder(order))
		checkBlocks(t, m)
		checkCoding(t, m)
	}
}

// checkCoding encodes and decodes a matrix.
func checkCoding(t *testing.T, m *analysis.Matrix) {
	t.Helper()
	cells := func(m *analysis.Matrix) (list []analysis.Entry) {
		m.Each(func(e analysis.Entry) error {
			list = append(list, e)
			return nil
		})
		return list
	}
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	got, err := analysis.DecodeMatrix(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(cells(got), cells(m)) || !slices.Equal(got.Unmatched, m.Unmatched) || !slices.Equal(got.Order, m.Order) || got.Outside != m.Outside || got.Size != m.Size || len(got.Fans) != len(m.Fans) {
		t.Errorf("decoded %+v, want %+v", got, m)
	}
	for n := range len(data) {
		if _, err := analysis.DecodeMatrix(bytes.NewReader(data[:n])); err == nil {
			t.Errorf("%d of %d bytes were decoded", n, len(data))
		}
	}
}

// checkBlocks compares blocks, cut out and summed, with the cells of the expanded matrix.
func checkBlocks(t *testing.T, m *analysis.Matrix) {
	t.Helper()
	n := m.Size
	place := make([]int, n) // of each rank
	for at := range place {
		place[m.RankAt(at)] = at
	}
	if at := slices.Sorted(slices.Values(m.Ranks(m.All().From))); len(at) != n || at[n-1] != n-1 || len(slices.Compact(at)) != n {
		t.Fatalf("the order has not each rank once: %v", m.Order)
	}
	for _, b := range []analysis.Block{
		m.All(),
		{From: analysis.Range{First: n / 3, Last: n - 1}, To: analysis.Range{First: 0, Last: n / 2}},
		{From: analysis.Range{First: n / 2, Last: n / 2}, To: analysis.Range{First: 0, Last: n - 1}},
	} {
		bins := m.Bin(b, 3)
		want, wantBins := map[[2]int]analysis.Cell{}, map[[2]int]analysis.Cell{}
		m.Each(func(e analysis.Entry) error {
			if b.From.Has(place[e.From]) && b.To.Has(place[e.To]) {
				want[[2]int{e.From, e.To}] = e.Cell
				at := [2]int{(place[e.From] - b.From.First) / bins.Width, (place[e.To] - b.To.First) / bins.Width}
				c := wantBins[at]
				c.Bytes, c.Messages = c.Bytes+e.Bytes, c.Messages+e.Messages
				wantBins[at] = c
			}
			return nil
		})
		cut, err := m.Cut(b)
		if err != nil {
			t.Fatal(err)
		}
		got := map[[2]int]analysis.Cell{}
		for _, e := range cut.Entries {
			got[[2]int{e.From, e.To}] = e.Cell
		}
		if !maps.Equal(got, want) || len(cut.Fans) > 0 {
			t.Errorf("block %+v: %v, want %v", b, got, want)
		}
		if len(bins.Bytes) > 3 || bins.Columns > 3 {
			t.Errorf("block %+v has %d x %d bins", b, bins.Rows, bins.Columns)
		}
		for i := range bins.Rows {
			for j := range bins.Columns {
				if got, want := (analysis.Cell{Bytes: bins.Bytes[i][j], Messages: bins.Messages[i][j]}), wantBins[[2]int{i, j}]; got != want {
					t.Errorf("block %+v, bin %d,%d: %+v, want %+v", b, i, j, got, want)
				}
			}
		}
	}
	if _, err := m.Cut(analysis.Block{From: analysis.Range{First: 0, Last: n}, To: analysis.Range{First: 0, Last: 0}}); err == nil {
		t.Error("a rank that is not there can be cut out")
	}
}
