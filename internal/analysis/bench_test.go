package analysis_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// halo writes a run of ranks that exchange with their neighbours in a periodic row, at
// distances 1 to 13 both ways, and reduce from time to time.
func halo(tb testing.TB, name string, ranks, iterations int) {
	var procs []*efg.Process
	for rank := range ranks {
		procs = append(procs, haloProcess(tb, rank, ranks, iterations))
	}
	if err := runfile.WriteRun(name, procs, runfile.Meta{Time: "stats"}); err != nil {
		tb.Fatal(err)
	}
}

func haloProcess(tb testing.TB, rank, ranks, iterations int) *efg.Process {
	word := func(name string) uint64 { return signature.ConstantByName(name).Word() }
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	add := func(name string, site uint64, vecs []efg.VecContent, words ...uint64) {
		p := signature.ProcByName(name)
		in := efg.Input{Words: make([]uint64, len(p.Words)), Vecs: vecs}
		in.Words[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(p.Words), 0))
		in.Words[1] = site
		copy(in.Words[2:], words)
		if err := b.Add(in); err != nil {
			tb.Fatal(err)
		}
	}
	world, double := word("MPI_COMM_WORLD"), word("MPI_DOUBLE")
	add("MPI_Init", 1, nil)
	for i := range iterations {
		for d := range 26 {
			shift := d - 13
			if d >= 13 {
				shift++
			}
			peer := uint64((rank + shift + ranks) % ranks)
			add("MPI_Irecv", uint64(100+d), nil, world, 0, uint64(1000+d), double, peer, 5)
			add("MPI_Isend", uint64(200+d), nil, world, 0, uint64(1000+d), double, peer, 5)
		}
		add("MPI_Waitall", 300, nil, 0, 0, signature.Absent, signature.Absent)
		if i%10 == 9 {
			add("MPI_Allreduce", 400, nil, world, 0, 0, 1, double, word("MPI_SUM"))
		}
	}
	add("MPI_Finalize", 500, nil)
	s, err := b.Stream()
	if err != nil {
		tb.Fatal(err)
	}
	s.End = efg.EndFinalized
	for i := range s.Nodes {
		s.Nodes[i].Stats = &efg.Stats{Count: 1, Dur: efg.Interval{Sum: 100, Min: 100, Max: 100}}
		s.Nodes[i].Stats.Dur.Bins[3] = 1
	}
	return &efg.Process{Rank: rank, Size: ranks, World: 5, PID: rank, Streams: []efg.Stream{*s}, Defs: defs.List}
}

// BenchmarkMany makes reports of 1,024 ranks. Ten times as many iterations must not take
// longer.
func BenchmarkMany(b *testing.B) {
	for _, iterations := range []int{20, 200} {
		file := filepath.Join(b.TempDir(), fmt.Sprint(iterations, ".efg"))
		halo(b, file, 1024, iterations)
		run, err := runfile.OpenRun(file)
		if err != nil {
			b.Fatal(err)
		}
		defer run.Close()
		var procs []int
		for i := range run.Procs {
			procs = append(procs, i)
		}
		b.Run(fmt.Sprint("report/", iterations), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := analysis.NewReport(run, procs); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("matrix/", iterations), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := analysis.NewMatrix(run, analysis.MatrixOptions{Collectives: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
