package block

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkTimes decodes a block like those of the times of events: two columns of numbers of
// intervals, whose logarithms vary.
func BenchmarkTimes(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 16
	cols := make(Columns, 2)
	for i := range cols {
		for range n {
			cols[i] = append(cols[i], uint64(max(0, 40+10*math.Tanh(random.NormFloat64())+3*random.NormFloat64())))
		}
	}
	code := AppendFast(nil, 1, cols)
	for b.Loop() {
		if _, err := Read(bytes.NewReader(code), Ref{1, 0, uint64(len(code))}, "times"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/value")
	b.ReportMetric(float64(len(code))/(2*n), "bytes/value")
}
