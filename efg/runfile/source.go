package runfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// memorySource is a process in memory that is to be packed.
type memorySource struct {
	proc        *efg.Process
	rank        int
	defs        *defIndex
	ready       []*record
	checkpoints []*efg.Checkpoints // by stream, after flattening
}

func (s *memorySource) info() *ProcInfo {
	p := s.proc
	info := &ProcInfo{
		ProcShared: &ProcShared{Size: p.Size, World: p.World, Host: p.Host, Command: p.Command, MPI: p.MPI, Mono: p.Mono, Anchors: p.Anchors},
		Rank:       p.WorldRank(), PID: p.PID, Start: p.Start, Gone: p.Gone,
		Streams: make([]StreamInfo, len(p.Streams)),
	}
	for i := range p.Streams {
		st := &p.Streams[i]
		info.Streams[i] = StreamInfo{hash: st.Hash, StreamShared: &StreamShared{
			Thread: st.Thread, End: st.End, Events: st.Events, Dropped: st.Dropped, InCall: st.Pending != nil, Words: st.WordCount(),
		}}
		if st.Trace != nil {
			info.Streams[i].Untimed = st.Trace.Untimed
		}
	}
	return info
}

func (s *memorySource) began() int64 { return began(s.proc) }

func (s *memorySource) inCall() bool {
	return slices.ContainsFunc(s.proc.Streams, func(st efg.Stream) bool { return st.Pending != nil })
}

func (s *memorySource) inInner() bool {
	return slices.ContainsFunc(s.proc.Streams, func(st efg.Stream) bool { return st.Pending != nil && st.Pending.Inner != nil })
}

func (s *memorySource) traced() bool {
	return slices.ContainsFunc(s.proc.Streams, func(st efg.Stream) bool { return st.Trace != nil })
}

func (s *memorySource) untimed() bool {
	return slices.ContainsFunc(s.proc.Streams, func(st efg.Stream) bool { return st.Trace != nil && st.Trace.Untimed > 0 })
}

// began is when a process began, or the first of its world.
func began(p *efg.Process) int64 {
	if p.Start == 0 {
		return p.Began
	}
	return p.Start
}

func (s *memorySource) open(rank int) {
	s.rank = rank
	s.defs = newDefIndex(s.proc.Defs)
}

func (s *memorySource) keys() ([]shapeKey, error) {
	records, err := s.flatten()
	if err != nil {
		return nil, err
	}
	s.ready = records
	var keys []shapeKey
	for _, u := range records {
		keys = append(keys, u.key)
	}
	return keys, nil
}

func (s *memorySource) flatten() ([]*record, error) {
	r := ranksOf(s.rank, s.proc.Size, s.proc.Defs)
	r.findPeerVecs(s.proc.Streams)
	u, err := flattenDefs(s.defs, r)
	if err != nil {
		return nil, err
	}
	records := []*record{u}
	for i := range s.proc.Streams {
		if u, err = flattenGraph(&s.proc.Streams[i], s.defs, r); err != nil {
			return nil, fmt.Errorf("thread %d: %w", s.proc.Streams[i].Thread, err)
		}
		records = append(records, u)
	}
	for i := range s.proc.Streams {
		st := &s.proc.Streams[i]
		m := st.Checkpoints
		if m == nil {
			m, err = efg.MakeCheckpoints(st, s.proc.Defs, st.CheckpointDistance())
		}
		if err != nil || m != nil && m.IsNone() {
			m = nil
		}
		s.checkpoints = append(s.checkpoints, m)
		if m != nil { // a graph that cannot be walked has none
			records = append(records, flattenCheckpoints(m, i))
		}
	}
	for i := range s.proc.Streams {
		st := &s.proc.Streams[i]
		if st.Pending == nil {
			continue
		}
		if u, err = flattenPending(st, i, s.defs, r); err != nil {
			return nil, fmt.Errorf("thread %d: %w", st.Thread, err)
		}
		records = append(records, u)
	}
	return records, nil
}

func (s *memorySource) records() ([]*record, error) {
	records := s.ready
	s.ready = nil
	return records, nil
}

func (s *memorySource) hasTimes() bool {
	return slices.ContainsFunc(s.proc.Streams, func(t efg.Stream) bool {
		return slices.ContainsFunc(t.Nodes, func(n efg.Node) bool { return n.Stats != nil })
	})
}

func (s *memorySource) times() ([][]efg.Node, []efg.Def, error) {
	var nodes [][]efg.Node
	for i := range s.proc.Streams {
		nodes = append(nodes, s.proc.Streams[i].Nodes)
	}
	return nodes, s.proc.Defs, nil
}

func (s *memorySource) traces() ([]*efg.Stream, []*efg.Checkpoints, error) {
	streams := make([]*efg.Stream, len(s.proc.Streams))
	for i := range streams {
		streams[i] = &s.proc.Streams[i]
		if err := streams[i].LoadTimes(); err != nil {
			return nil, nil, err
		}
	}
	return streams, s.checkpoints, nil
}

func (s *memorySource) counters() []efg.Counter { return s.proc.Counters }

func (s *memorySource) exact() bool { return true }

func (s *memorySource) hash() uint64 {
	if s.proc.Sum != nil {
		return *s.proc.Sum
	}
	sum := uint64(0)
	for i := range s.proc.Streams {
		sum += hashPart(s.proc.WorldRank(), s.proc.Streams[i].Thread, s.proc.Streams[i].Hash)
	}
	return sum
}

// findSites adds the positions of the callsites from the processes' definitions.
func findSites(sites []Site, procs []*efg.Process) []Site {
	sites = slices.Clone(sites)
	var missing []int
	for i := range sites {
		if sites[i].ref.module == "" {
			missing = append(missing, i)
		}
	}
	for _, p := range procs {
		if len(missing) == 0 {
			break
		}
		x := newDefIndex(p.Defs)
		missing = slices.DeleteFunc(missing, func(i int) bool {
			ref, ok := siteOf(x, sites[i].Word)
			if ok {
				sites[i].ref = ref
			}
			return ok
		})
	}
	return sites
}

// PartError reports that a part of a run, a file that is to be merged, cannot be read.
type PartError struct {
	Part  string
	Cause error
}

func (e *PartError) Error() string { return e.Part + ": " + e.Cause.Error() }

func (e *PartError) Unwrap() error { return e.Cause }

// fileSource is a process of a run file that is to be packed with others.
type fileSource struct {
	run  *Run
	proc int
}

func (s *fileSource) info() *ProcInfo {
	info := s.run.Procs[s.proc]
	info.Rank = int(info.inIts)
	return &info
}

func (s *fileSource) began() int64 {
	info := &s.run.Procs[s.proc]
	if info.Start == 0 {
		return s.run.worlds[info.world].start
	}
	return info.Start
}

func (s *fileSource) inCall() bool {
	return slices.ContainsFunc(s.run.Procs[s.proc].Streams, func(st StreamInfo) bool { return st.InCall })
}

func (s *fileSource) inInner() bool { return s.run.features&featureInner != 0 && s.inCall() }

func (s *fileSource) traced() bool { return len(s.run.traces) > 0 }

func (s *fileSource) untimed() bool {
	return slices.ContainsFunc(s.run.Procs[s.proc].Streams, func(st StreamInfo) bool { return st.Untimed > 0 })
}

func (s *fileSource) open(int) {}

// failed adds to an error which file it is about.
func (s *fileSource) failed(err error) error {
	var part *PartError
	if err == nil || errors.As(err, &part) {
		return err
	}
	return &PartError{s.run.path, err}
}

func (s *fileSource) keys() ([]shapeKey, error) {
	info := &s.run.Procs[s.proc]
	key, err := s.run.groupKey(int(info.defs))
	keys := []shapeKey{key}
	for j := range info.Streams {
		if err != nil {
			return nil, s.failed(err)
		}
		key, err = s.run.groupKey(info.Streams[j].group)
		keys = append(keys, key)
	}
	for _, e := range info.extras() {
		if err == nil {
			key, err = s.run.groupKey(e.group)
			keys = append(keys, key)
		}
	}
	return keys, s.failed(err)
}

func (s *fileSource) records() ([]*record, error) {
	records, err := s.run.records(s.proc)
	return records, s.failed(err)
}

// records returns the records of process i.
func (r *Run) records(i int) ([]*record, error) {
	info := &r.Procs[i]
	x, err := r.defs(i)
	if err != nil {
		return nil, err
	}
	in := ranksOf(int(info.inIts), info.Size, x.list)
	records := make([]*record, 1+len(info.Streams))
	for k := range records {
		n, member, kind := int(info.defs), info.ordinal, recordDefs
		if k > 0 {
			n, member, kind = info.Streams[k-1].group, info.Streams[k-1].member, recordGraph
		}
		p, err := r.groupOf(n, kind)
		if err != nil {
			return nil, err
		}
		if records[k], err = p.record(uint64(member), r.str, x, in); err != nil {
			return nil, err
		}
	}
	for _, e := range info.extras() {
		p, err := r.groupOf(e.group, e.kind)
		if err != nil {
			return nil, err
		}
		u, err := p.record(uint64(e.member), r.str, x, in)
		if err != nil {
			return nil, err
		}
		u.stream = e.stream
		records = append(records, u)
	}
	return records, nil
}

// extra is a record that only some streams have.
type extra struct {
	kind   recordKind
	stream int
	group  int
	member uint32
}

// extras lists the checkpoints of the process's streams, and then their calls in
// progress.
func (p *ProcInfo) extras() (list []extra) {
	for j := range p.Streams {
		if s := &p.Streams[j]; s.checkpoints > 0 {
			list = append(list, extra{recordCheckpoints, j, s.checkpoints - 1, s.checkpointMember})
		}
	}
	for j := range p.Streams {
		if s := &p.Streams[j]; s.InCall {
			list = append(list, extra{recordPending, j, s.pending, s.pendingMember})
		}
	}
	return list
}

func (s *fileSource) hasTimes() bool { return s.run.statsOf(s.proc) >= 0 }

func (s *fileSource) times() ([][]efg.Node, []efg.Def, error) {
	if s.hasTimes() {
		p, err := s.run.Process(s.proc)
		if err != nil {
			return nil, nil, s.failed(err)
		}
		return (&memorySource{proc: p}).times()
	}
	nodes := make([][]efg.Node, len(s.run.Procs[s.proc].Streams))
	for j := range nodes {
		n, err := s.run.nodesOf(s.proc, j)
		if err != nil {
			return nil, nil, s.failed(err)
		}
		nodes[j] = make([]efg.Node, n)
	}
	return nodes, nil, nil
}

func (s *fileSource) traces() ([]*efg.Stream, []*efg.Checkpoints, error) {
	info := &s.run.Procs[s.proc]
	if len(info.Streams) == 0 || len(s.run.traces) == 0 {
		return make([]*efg.Stream, 0), nil, nil
	}
	p, err := s.run.Process(s.proc)
	if err != nil {
		return nil, nil, s.failed(err)
	}
	m := &memorySource{proc: p}
	for i := range p.Streams {
		m.checkpoints = append(m.checkpoints, p.Streams[i].Checkpoints)
	}
	return m.traces()
}

func (s *fileSource) counters() []efg.Counter { return s.run.countersByNumber() }

func (s *fileSource) exact() bool { return s.run.exact }

func (s *fileSource) hash() uint64 {
	r, info := s.run, &s.run.Procs[s.proc]
	if !r.exact {
		return r.hashOfFirst(s.proc)
	}
	sum := uint64(0)
	for j := range info.Streams {
		sum += hashPart(int(info.inIts), info.Streams[j].Thread, info.Streams[j].hash)
	}
	return sum
}
