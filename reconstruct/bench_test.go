package reconstruct

import (
	"fmt"
	"testing"
)

// halo records n iterations of a halo exchange with a reduction, the loop of
// most programs: 11 events an iteration.
func halo(tb testing.TB, n int) *Process {
	r := newRecorder(tb)
	r.call(0, "MPI_Init")
	for range n {
		for i := range 4 {
			r.call(0, fmt.Sprintf("MPI_Irecv site=%d count=1024 datatype=MPI_DOUBLE source=%d tag=7 comm=MPI_COMM_WORLD request=0", i, i))
		}
		for i := range 4 {
			r.call(0, fmt.Sprintf("MPI_Isend site=%d count=1024 datatype=MPI_DOUBLE dest=%d tag=7 comm=MPI_COMM_WORLD request=0", i+4, i))
		}
		r.calls(`
			MPI_Waitall count=8 array_of_requests=[@1.0,@2.0,@3.0,@4.0,@5.0,@6.0,@7.0,@8.0] array_of_statuses=EFG_AS_POSTED
			MPI_Allreduce sendbuf=MPI_IN_PLACE count=1 datatype=MPI_DOUBLE op=MPI_SUM comm=MPI_COMM_WORLD
			MPI_Bcast count=1 datatype=MPI_INT root=0 comm=MPI_COMM_WORLD
		`)
	}
	r.call(0, "MPI_Finalize")
	return r.process()
}

// perEvent runs f over the process's events until it has seen b.N of them.
func perEvent(b *testing.B, p *Process, f func(*Event)) {
	seen := 0
	b.ReportAllocs()
	for b.Loop() {
		seen = 0
		for e, err := range p.Events(0, Options{}) {
			if err != nil {
				b.Fatal(err)
			}
			f(e)
			seen++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(seen), "ns/event")
}

func BenchmarkIterator(b *testing.B) {
	p := halo(b, 10000)
	perEvent(b, p, func(*Event) {})
}

func BenchmarkJSON(b *testing.B) {
	p := halo(b, 10000)
	var buf []byte
	perEvent(b, p, func(e *Event) { buf = e.AppendJSON(buf[:0]) })
}

func BenchmarkText(b *testing.B) {
	p := halo(b, 10000)
	var buf []byte
	perEvent(b, p, func(e *Event) { buf = e.AppendText(buf[:0]) })
}

// TestNoAllocationPerEvent: writing a longer run needs no more memory.
func TestNoAllocationPerEvent(t *testing.T) {
	allocs := func(n int) float64 {
		p := halo(t, n)
		var buf []byte
		return testing.AllocsPerRun(3, func() {
			for e := range p.Events(0, Options{}) {
				buf = e.AppendJSON(buf[:0])
			}
		})
	}
	if short, long := allocs(10), allocs(1000); long > short+2 {
		t.Errorf("%v allocations for 10 iterations, %v for 1000", short, long)
	}
}
