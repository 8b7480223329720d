package runfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// Columns of the index block. Those of processes and streams are sequences, in
// the columns from indexSeqs on: first those of processProperties, then those of
// streamProperties.
const (
	indexCounts       = iota // processes, streams; 1 if each stream has a hash
	indexBlockKind           // of each block
	indexBlockLen            // of each block
	indexWorldID             // of each world
	indexWorldSize           //
	indexWorldStart          // zigzag
	indexGroups              // of each block of groups: their number
	indexClass               // of each group: 0 for a new class, n for the n-th class before a new one
	indexNodes               // of each group: nodes, 0 for definitions
	indexEdges               // of each group
	indexStatsFirst          // of each statistics block: its first process, relative to that of the previous one
	indexStatsProcs          // number of its processes
	indexTraceFirst          // of each trace block: its first stream, relative to that of the previous one
	indexTraceStreams        // number of its streams
	indexHash                // of each stream, or of each group of ranks
	indexSeqs
)

// A property of processes or streams is a sequence in the index. set is called with each item,
// or, of a property whose value is kept once for many items, with one of those that have it.
type processProperty struct {
	shared bool // the value is in ProcShared
	get    func(*runWriter, *ProcInfo) uint64
	set    func(*Run, *ProcInfo, uint64) error
}

var processProperties = [...]processProperty{
	{false, func(_ *runWriter, p *ProcInfo) uint64 { return uint64(p.world) },
		func(r *Run, p *ProcInfo, v uint64) error {
			p.world = int32(v)
			return inRange(v, uint64(len(r.worlds)), "world")
		}},
	{false, func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(int64(p.inIts)) },
		func(_ *Run, p *ProcInfo, v uint64) error {
			p.inIts = int32(block.Unzigzag(v))
			return inRange(v, 1<<32, "rank")
		}},
	{true, func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(int64(p.Size)) },
		func(_ *Run, p *ProcInfo, v uint64) error {
			p.Size = int(block.Unzigzag(v))
			return inRange(v, 1<<32, "size")
		}},
	{false, func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(int64(p.PID)) },
		func(_ *Run, p *ProcInfo, v uint64) error {
			p.PID = int(block.Unzigzag(v))
			return nil
		}},
	{true, func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(p.Host) },
		func(r *Run, p *ProcInfo, v uint64) (err error) {
			p.Host, err = r.str(v)
			return err
		}},
	{true, func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(p.MPI) },
		func(r *Run, p *ProcInfo, v uint64) (err error) {
			p.MPI, err = r.str(v)
			return err
		}},
	{true, func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(strings.Join(p.Command, "\x00")) }, setCommand},
	{false, func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(p.Start) },
		func(_ *Run, p *ProcInfo, v uint64) error {
			p.Start = block.Unzigzag(v)
			return nil
		}},
	{false, func(rw *runWriter, p *ProcInfo) uint64 { return uint64(rw.groups[p.defs].place) },
		func(r *Run, p *ProcInfo, v uint64) error {
			p.defs = int32(v)
			return inRange(v, uint64(len(r.groups)), "group")
		}},
	{false, func(_ *runWriter, p *ProcInfo) uint64 { return uint64(len(p.Streams)) }, setStreams},
	{true, func(rw *runWriter, p *ProcInfo) uint64 {
		if len(rw.traces) == 0 {
			return 0
		}
		return block.Zigzag(p.Mono)
	},
		func(_ *Run, p *ProcInfo, v uint64) error {
			p.Mono = block.Unzigzag(v)
			return nil
		}},
}

func setCommand(r *Run, p *ProcInfo, v uint64) error {
	s, err := r.str(v)
	if err == nil && s != "" {
		p.Command = r.command(s)
	}
	return err
}

// setStreams sets the number of streams of a process.
func setStreams(r *Run, p *ProcInfo, v uint64) error {
	if v > uint64(len(r.streams)) {
		return fmt.Errorf("%d streams announced, there are %d more", v, len(r.streams))
	}
	p.Streams, r.streams = r.streams[:v:v], r.streams[v:]
	return nil
}

// The values of all properties of streams are in StreamShared.
type streamProperty struct {
	get func(*runWriter, *StreamInfo) uint64
	set func(*Run, *StreamShared, uint64) error
}

var streamProperties = []streamProperty{
	{func(_ *runWriter, s *StreamInfo) uint64 { return uint64(s.Thread) },
		func(_ *Run, s *StreamShared, v uint64) error {
			s.Thread = uint32(v)
			return inRange(v, 1<<32, "thread")
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return uint64(s.End) },
		func(_ *Run, s *StreamShared, v uint64) error {
			s.End = efg.End(v)
			return inRange(v, uint64(efg.EndExit)+1, "end")
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return s.Events },
		func(_ *Run, s *StreamShared, v uint64) error {
			s.Events = v
			return nil
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return s.Dropped },
		func(_ *Run, s *StreamShared, v uint64) error {
			s.Dropped = v
			return nil
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return s.Words },
		func(_ *Run, s *StreamShared, v uint64) error {
			s.Words = v
			return nil
		}},
	{func(rw *runWriter, s *StreamInfo) uint64 { return uint64(rw.groups[s.group].place) }, setGroup},
	{func(rw *runWriter, s *StreamInfo) uint64 {
		if s.checkpoints == 0 {
			return 0
		}
		return uint64(rw.groups[s.checkpoints-1].place) + 1
	},
		func(r *Run, s *StreamShared, v uint64) error {
			s.checkpoints = int(v)
			return inRange(v, uint64(len(r.groups))+1, "group")
		}},
}

// pendingProperty exists in files with featurePending.
var pendingProperty = streamProperty{
	func(rw *runWriter, s *StreamInfo) uint64 {
		if !s.InCall {
			return 0
		}
		return uint64(rw.groups[s.pending].place) + 1
	},
	func(r *Run, s *StreamShared, v uint64) error {
		s.InCall, s.pending = v > 0, int(v)-1
		return inRange(v, uint64(len(r.groups))+1, "group")
	},
}

// untimedProperty exists in files with featureUntimed.
var untimedProperty = streamProperty{
	func(_ *runWriter, s *StreamInfo) uint64 { return s.Untimed },
	func(_ *Run, s *StreamShared, v uint64) error {
		s.Untimed = v
		return inRange(v, s.Events+1, "number of events without times")
	},
}

// maxStreamProperties is the number of properties of streams with every feature.
const maxStreamProperties = 9

// propertiesOf are the properties of streams in files with these features.
func propertiesOf(features uint32) []streamProperty {
	list := slices.Clone(streamProperties)
	if features&featurePending != 0 {
		list = append(list, pendingProperty)
	}
	if features&featureUntimed != 0 {
		list = append(list, untimedProperty)
	}
	return list
}

func setGroup(r *Run, s *StreamShared, v uint64) error {
	if err := inRange(v, uint64(len(r.groups)), "group"); err != nil {
		return err
	}
	p := &r.groups[v]
	s.group, s.Class, s.Nodes, s.Edges = int(v), p.class, p.nodes, p.edges
	return nil
}

func inRange(v, limit uint64, what string) error {
	if v >= limit {
		return fmt.Errorf("%s %d out of range", what, v)
	}
	return nil
}

// indexColumns makes the index. It numbers the groups.
func (rw *runWriter) indexColumns() block.Columns {
	var cols block.Columns
	for _, v := range []uint64{uint64(len(rw.procs)), uint64(rw.streams), block.Bit(rw.exact)} {
		cols.Put(indexCounts, v)
	}
	for _, b := range rw.blocks {
		cols.Put(indexBlockKind, uint64(b.Kind))
		cols.Put(indexBlockLen, b.Length)
	}
	for _, w := range rw.worlds {
		cols.Put(indexWorldID, w.id)
		cols.Put(indexWorldSize, uint64(w.size))
		cols.Put(indexWorldStart, block.Zigzag(w.start))
	}
	rw.groupColumns(&cols)
	last := 0
	for _, s := range rw.stats {
		cols.Put(indexStatsFirst, uint64(s.first-last))
		cols.Put(indexStatsProcs, uint64(s.procs))
		last = s.first
	}
	last = 0
	for _, t := range rw.traces {
		cols.Put(indexTraceFirst, uint64(t.first-last))
		cols.Put(indexTraceStreams, uint64(t.streams))
		last = t.first
	}
	rw.hashColumns(&cols)
	vals := make([]uint64, 0, max(len(rw.procs), rw.streams))
	for i, prop := range processProperties {
		vals := vals[:0]
		for j := range rw.procs {
			vals = append(vals, prop.get(rw, &rw.procs[j]))
		}
		seq.PutBody(&cols, indexSeqs+i*seq.BodyColumns, foldValues(vals))
	}
	for i, prop := range propertiesOf(rw.features) {
		vals := vals[:0]
		for j := range rw.procs {
			for k := range rw.procs[j].Streams {
				vals = append(vals, prop.get(rw, &rw.procs[j].Streams[k]))
			}
		}
		seq.PutBody(&cols, indexSeqs+(len(processProperties)+i)*seq.BodyColumns, foldValues(vals))
	}
	rw.anchorColumns(&cols)
	rw.endColumns(&cols)
	return cols
}

// foldValues folds values in memory.
func foldValues(vals []uint64) *seq.Body {
	raw, delta := seq.NewWindowWriter(false, seq.PackWindow), seq.NewWindowWriter(true, seq.PackWindow)
	for _, v := range vals {
		raw.Push(v)
		delta.Push(v)
	}
	return seq.SmallerBody(raw, delta)
}

// groupColumns numbers the groups by their positions in the file.
func (rw *runWriter) groupColumns(cols *block.Columns) {
	order := make([]int, len(rw.groups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return rw.groups[a].place - rw.groups[b].place })
	classes := map[shapeKey]int{}
	in := map[int]uint64{} // block → groups
	for n, i := range order {
		p := &rw.groups[i]
		in[p.place>>20]++
		p.place = n
		cols.Put(indexNodes, p.nodes)
		cols.Put(indexEdges, p.edges)
		c, ok := classes[p.key]
		if !ok {
			classes[p.key] = len(classes)
			cols.Put(indexClass, 0)
			continue
		}
		cols.Put(indexClass, uint64(len(classes)-c))
	}
	for i, b := range rw.blocks {
		if b.holdsGroups() {
			cols.Put(indexGroups, in[i])
		}
	}
}
