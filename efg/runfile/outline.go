package runfile

import (
	"io"
	"math"
	"math/bits"
)

// Outline says how large a run is. It is read from a run file without the data of each process.
type Outline struct {
	Processes, Streams uint64
	// Graph is the maximum number of nodes and edges of a stream.
	Graph uint64
}

// ReadOutline reads the outline of a run file's content of the given size. The errors
// are those of NewRun.
func ReadOutline(file io.ReaderAt, size int64) (*Outline, error) {
	r := &Run{content: &content{r: file, size: uint64(size)}}
	b, err := r.index()
	if err != nil {
		return nil, err
	}
	o := &Outline{}
	if o.Processes, o.Streams = r.counts(b); b.Err == nil {
		r.groupTable(b)
	}
	for _, p := range r.groups {
		o.Graph = max(o.Graph, saturated(bits.Add64(p.nodes, p.edges, 0)))
	}
	return o, b.Err
}

// Most is an upper bound of the number of nodes and edges of all streams: as if all were as
// large as the largest.
func (o *Outline) Most() uint64 {
	high, low := bits.Mul64(o.Streams, o.Graph)
	return saturated(low, high)
}

func saturated(v, over uint64) uint64 {
	if over != 0 {
		return math.MaxUint64
	}
	return v
}
