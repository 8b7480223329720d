package runfile

import (
	"errors"
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

// A property of processes or streams is a sequence in the index. set is called with consecutive
// items that have the same value.
type processProperty struct {
	get func(*runWriter, *ProcInfo) uint64
	set func(*Run, []ProcInfo, uint64) error
}

var processProperties = []processProperty{
	{func(_ *runWriter, p *ProcInfo) uint64 { return uint64(p.world) },
		func(r *Run, ps []ProcInfo, v uint64) error {
			return setBelow(ps, v, uint64(len(r.worlds)), "world", func(p *ProcInfo) { p.world = int(v) })
		}},
	{func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(int64(p.inIts)) },
		func(_ *Run, ps []ProcInfo, v uint64) error {
			return setBelow(ps, v, 1<<32, "rank", func(p *ProcInfo) { p.inIts = int(block.Unzigzag(v)) })
		}},
	{func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(int64(p.Size)) },
		func(_ *Run, ps []ProcInfo, v uint64) error {
			return setBelow(ps, v, 1<<32, "size", func(p *ProcInfo) { p.Size = int(block.Unzigzag(v)) })
		}},
	{func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(int64(p.PID)) },
		func(_ *Run, ps []ProcInfo, v uint64) error {
			return setEach(ps, func(p *ProcInfo) { p.PID = int(block.Unzigzag(v)) })
		}},
	{func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(p.Host) },
		func(r *Run, ps []ProcInfo, v uint64) error {
			host, err := r.str(v)
			return errors.Join(err, setEach(ps, func(p *ProcInfo) { p.Host = host }))
		}},
	{func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(p.MPI) },
		func(r *Run, ps []ProcInfo, v uint64) error {
			mpi, err := r.str(v)
			return errors.Join(err, setEach(ps, func(p *ProcInfo) { p.MPI = mpi }))
		}},
	{func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(strings.Join(p.Command, "\x00")) }, setCommand},
	{func(_ *runWriter, p *ProcInfo) uint64 { return block.Zigzag(p.Start) },
		func(_ *Run, ps []ProcInfo, v uint64) error {
			return setEach(ps, func(p *ProcInfo) { p.Start = block.Unzigzag(v) })
		}},
	{func(rw *runWriter, p *ProcInfo) uint64 { return uint64(rw.groups[p.defs].place) },
		func(r *Run, ps []ProcInfo, v uint64) error {
			return setBelow(ps, v, uint64(len(r.groups)), "group", func(p *ProcInfo) { p.defs = int(v) })
		}},
	{func(_ *runWriter, p *ProcInfo) uint64 { return uint64(len(p.Streams)) }, setStreams},
	{func(rw *runWriter, p *ProcInfo) uint64 {
		if len(rw.traces) == 0 {
			return 0
		}
		return block.Zigzag(p.Mono)
	},
		func(_ *Run, ps []ProcInfo, v uint64) error {
			return setEach(ps, func(p *ProcInfo) { p.Mono = block.Unzigzag(v) })
		}},
}

func setCommand(r *Run, ps []ProcInfo, v uint64) error {
	s, err := r.str(v)
	if err != nil || s == "" {
		return err
	}
	command := r.command(s)
	return setEach(ps, func(p *ProcInfo) { p.Command = command })
}

// setStreams sets the number of streams of each process.
func setStreams(r *Run, ps []ProcInfo, v uint64) error {
	for i := range ps {
		if v > uint64(len(r.streams)) {
			return fmt.Errorf("%d streams announced, there are %d more", v, len(r.streams))
		}
		ps[i].Streams, r.streams = r.streams[:v:v], r.streams[v:]
	}
	return nil
}

type streamProperty struct {
	get func(*runWriter, *StreamInfo) uint64
	set func(*Run, []StreamInfo, uint64) error
}

var streamProperties = []streamProperty{
	{func(_ *runWriter, s *StreamInfo) uint64 { return uint64(s.Thread) },
		func(_ *Run, ss []StreamInfo, v uint64) error {
			return setBelow(ss, v, 1<<32, "thread", func(s *StreamInfo) { s.Thread = uint32(v) })
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return uint64(s.End) },
		func(_ *Run, ss []StreamInfo, v uint64) error {
			return setBelow(ss, v, uint64(efg.EndExit)+1, "end", func(s *StreamInfo) { s.End = efg.End(v) })
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return s.Events },
		func(_ *Run, ss []StreamInfo, v uint64) error {
			return setEach(ss, func(s *StreamInfo) { s.Events = v })
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return s.Dropped },
		func(_ *Run, ss []StreamInfo, v uint64) error {
			return setEach(ss, func(s *StreamInfo) { s.Dropped = v })
		}},
	{func(_ *runWriter, s *StreamInfo) uint64 { return s.Words },
		func(_ *Run, ss []StreamInfo, v uint64) error {
			return setEach(ss, func(s *StreamInfo) { s.Words = v })
		}},
	{func(rw *runWriter, s *StreamInfo) uint64 { return uint64(rw.groups[s.group].place) }, setGroup},
	{func(rw *runWriter, s *StreamInfo) uint64 {
		if s.checkpoints == 0 {
			return 0
		}
		return uint64(rw.groups[s.checkpoints-1].place) + 1
	},
		func(r *Run, ss []StreamInfo, v uint64) error {
			return setBelow(ss, v, uint64(len(r.groups))+1, "group", func(s *StreamInfo) { s.checkpoints = int(v) })
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
	func(r *Run, ss []StreamInfo, v uint64) error {
		return setBelow(ss, v, uint64(len(r.groups))+1, "group", func(s *StreamInfo) { s.InCall, s.pending = v > 0, int(v)-1 })
	},
}

// propertiesOf are the properties of streams in files with these features.
func propertiesOf(features uint32) []streamProperty {
	if features&featurePending == 0 {
		return streamProperties
	}
	return append(slices.Clone(streamProperties), pendingProperty)
}

func setGroup(r *Run, ss []StreamInfo, v uint64) error {
	if err := inRange(v, uint64(len(r.groups)), "group"); err != nil {
		return err
	}
	p := &r.groups[v]
	r.blocks[p.block].members += uint64(len(ss))
	for i := range ss {
		s := &ss[i]
		s.group, s.Class, s.Nodes, s.Edges = int(v), p.class, p.nodes, p.edges
	}
	return nil
}

// setEach sets a property of each item.
func setEach[T any](items []T, set func(*T)) error {
	for i := range items {
		set(&items[i])
	}
	return nil
}

// setBelow is setEach for a value that must be below a limit.
func setBelow[T any](items []T, v, limit uint64, what string, set func(*T)) error {
	if err := inRange(v, limit, what); err != nil {
		return err
	}
	return setEach(items, set)
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
	for i, prop := range processProperties {
		var vals []uint64
		for j := range rw.procs {
			vals = append(vals, prop.get(rw, &rw.procs[j]))
		}
		seq.PutBody(&cols, indexSeqs+i*seq.BodyColumns, foldValues(vals))
	}
	for i, prop := range propertiesOf(rw.features) {
		var vals []uint64
		for j := range rw.procs {
			for k := range rw.procs[j].Streams {
				vals = append(vals, prop.get(rw, &rw.procs[j].Streams[k]))
			}
		}
		seq.PutBody(&cols, indexSeqs+(len(processProperties)+i)*seq.BodyColumns, foldValues(vals))
	}
	rw.anchorColumns(&cols)
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
