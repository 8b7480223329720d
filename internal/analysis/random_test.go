package analysis_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// volumeRecorder makes random calls of one process of four, as the recorder would record them, and sums
// what they move.
type volumeRecorder struct {
	t     testing.TB
	r     *rand.Rand
	defs  efg.Definitions
	build *efg.Builder

	variety uint64 // number of different arguments
	live    []started
	last    []uint64 // array of requests as the last call left it
	volumes map[string]analysis.Volume
	cells   map[[2]int]analysis.Cell
}

// started is a persistent request and what a start sends.
type started struct {
	id, bytes uint64
	to        int
}

func word(name string) uint64 { return signature.ConstantByName(name).Word() }

func newVolumeRecorder(t testing.TB, seed uint64) *volumeRecorder {
	l := &volumeRecorder{
		t: t, r: rand.New(rand.NewPCG(seed, 3)), volumes: map[string]analysis.Volume{}, cells: map[[2]int]analysis.Cell{},
	}
	l.variety = 1 + l.r.Uint64N(40)
	l.build = efg.NewBuilder(0, efg.DefaultDemote, &l.defs)
	return l
}

// input makes a call from values by the names of words.
func (l *volumeRecorder) input(name string, site uint64, values map[string]any) efg.Input {
	p := signature.ProcByName(name)
	in := efg.Input{Words: make([]uint64, len(p.Words))}
	in.Words[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(p.Words), 0))
	in.Words[1] = site
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		switch v := values[p.Words[i].Name].(type) {
		case uint64:
			in.Words[i] = v
		case []uint64:
			in.Words[i] = signature.Ident(signature.Hash(v...))
			in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: v})
		}
	}
	return in
}

func (l *volumeRecorder) add(name string, site uint64, values map[string]any) {
	if err := l.build.Add(l.input(name, site, values)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *volumeRecorder) note(op string, v analysis.Volume) {
	sum := l.volumes[op]
	sum.Add(&v, 1)
	l.volumes[op] = sum
}

func (l *volumeRecorder) goes(to int, bytes uint64) {
	c := l.cells[[2]int{1, to}]
	c.Bytes += bytes
	c.Messages++
	l.cells[[2]int{1, to}] = c
}

// amount is a random count from 1 to variety.
func (l *volumeRecorder) amount() uint64 { return l.r.Uint64N(l.variety) + 1 }

// datatype is a random datatype and its size.
func (l *volumeRecorder) datatype() (uint64, uint64) {
	if l.r.IntN(4) == 0 {
		return word("MPI_INT"), 4
	}
	return word("MPI_DOUBLE"), 8
}

func (l *volumeRecorder) send() {
	n, to := l.amount(), l.r.IntN(4)
	typ, size := l.datatype()
	for range 1 + l.r.IntN(3)*l.r.IntN(100) {
		l.add("MPI_Send", 10, map[string]any{"comm": word("MPI_COMM_WORLD"), "count": n, "datatype": typ, "dest": uint64(to)})
		l.note("MPI_Send", analysis.Volume{Sent: n * size, Messages: 1})
		l.goes(to, n*size)
	}
}

func (l *volumeRecorder) alltoallv() {
	counts := []uint64{l.amount(), l.amount(), l.amount(), l.amount()}
	total := counts[0] + counts[1] + counts[2] + counts[3]
	typ, size := l.datatype()
	l.add("MPI_Alltoallv", 11, map[string]any{
		"comm": word("MPI_COMM_WORLD"), "sendcounts": counts, "sendtype": typ, "recvcounts": counts, "recvtype": typ,
	})
	l.note("MPI_Alltoallv", analysis.Volume{Sent: total * size, Received: total * size})
}

// make makes a persistent send.
func (l *volumeRecorder) make() {
	n, to := l.amount(), l.r.IntN(4)
	typ, size := l.datatype()
	id, err := l.build.AddNew(l.input("MPI_Send_init", 20, map[string]any{
		"comm": word("MPI_COMM_WORLD"), "count": n, "datatype": typ, "dest": uint64(to),
	}))
	if err != nil {
		l.t.Fatal(err)
	}
	l.live = append(l.live, started{id, n * size, to})
}

func (l *volumeRecorder) free() {
	i := l.r.IntN(len(l.live))
	l.add("MPI_Request_free", 21, map[string]any{"request": l.live[i].id})
	l.build.Free(l.live[i].id)
	l.live = slices.Delete(l.live, i, i+1)
}

func (l *volumeRecorder) begins(op string, s started) {
	l.note(op, analysis.Volume{Sent: s.bytes, Messages: 1})
	l.goes(s.to, s.bytes)
}

func (l *volumeRecorder) start() {
	s := l.live[l.r.IntN(len(l.live))]
	l.add("MPI_Start", 22, map[string]any{"request": s.id})
	l.begins("MPI_Start", s)
	l.add("MPI_Wait", 23, map[string]any{"request": s.id})
}

// startAll starts some requests and waits for them, several times.
func (l *volumeRecorder) startAll() {
	from := l.r.IntN(len(l.live))
	list := l.live[from : from+1+l.r.IntN(len(l.live)-from)]
	var ids []uint64
	for _, s := range list {
		ids = append(ids, s.id)
	}
	site := 24 + l.r.Uint64N(2)
	for range 1 + l.r.IntN(4) {
		l.passArray("MPI_Startall", site, ids)
		for _, s := range list {
			l.begins("MPI_Startall", s)
		}
		l.passArray("MPI_Waitall", site+10, ids)
	}
}

// passArray passes an array of requests as the recorder writes it.
func (l *volumeRecorder) passArray(op string, site uint64, ids []uint64) {
	var array any = ids
	if slices.Equal(ids, l.last) {
		array = word("EFG_SAME")
	}
	l.last = ids
	l.add(op, site, map[string]any{"count": uint64(len(ids)), "array_of_requests": array, "array_of_statuses": signature.Absent})
}

// step makes a random call.
func (l *volumeRecorder) step() {
	switch k := l.r.IntN(12); {
	case k < 3:
		l.send()
	case k == 3:
		l.alltoallv()
	case k < 6 && len(l.live) < 6 || len(l.live) == 0:
		l.make()
	case k == 6:
		l.free()
	case k < 9:
		l.start()
	default:
		l.startAll()
	}
}

func (l *volumeRecorder) process() *analysis.Process {
	s, err := l.build.Stream()
	if err != nil {
		l.t.Fatal(err)
	}
	p, err := analysis.NewProcess(&efg.Process{Rank: 1, Size: 4, Streams: []efg.Stream{*s}, Defs: l.defs.List}, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

func (l *volumeRecorder) check() {
	l.t.Helper()
	p := l.process()
	nodes, err := p.Nodes(0)
	if err != nil {
		l.t.Fatal(err)
	}
	volumes := map[string]analysis.Volume{}
	for _, n := range nodes {
		if n.Volume != (analysis.Volume{}) {
			v := volumes[n.Op]
			v.Add(&n.Volume, 1)
			volumes[n.Op] = v
		}
	}
	if !maps.Equal(volumes, l.volumes) {
		l.t.Errorf("volumes %+v, want %+v", volumes, l.volumes)
	}
	cells := map[[2]int]analysis.Cell{}
	err = p.Flows(0, func(f *analysis.Flow) {
		if f.Kind == analysis.PointToPoint {
			c := cells[[2]int{f.From, f.To}]
			c.Bytes += f.Bytes * f.Times
			c.Messages += f.Times
			cells[[2]int{f.From, f.To}] = c
		}
	})
	if err != nil || !maps.Equal(cells, l.cells) {
		l.t.Errorf("%v: cells %v, want %v", err, cells, l.cells)
	}
}

// Random calls with few and with many different arguments, and requests created again in slots
// that were freed: the sums are those of the calls.
func TestRandomCalls(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newVolumeRecorder(t, seed)
			for range 20 + l.r.IntN(400) {
				l.step()
			}
			l.check()
		})
	}
}
