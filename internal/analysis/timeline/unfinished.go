package timeline

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// open opens a stream of a process, with the call that its thread was in when its recording ended, if there is one.
func (t *Timeline) open(p *efg.Process, j, number int) (*stream, error) {
	s := newStream(p, &p.Streams[j], number, &t.marks[number])
	if s.Pending == nil || s.Pending.Since == 0 || s.Trace.Untimed > 0 {
		return s, nil
	}
	_, end, err := t.Extent()
	if err != nil {
		return nil, err
	}
	s.addUnfinished(p, p.LatestEndInRun(end))
	return s, nil
}

// unfinished is a call that had not returned when the recording ended. It is a node after those of the graph, and lasts until the process was
// gone, or the run ended.
type unfinished struct {
	node     int
	from, to int64
}

func (s *stream) addUnfinished(p *efg.Process, end int64) {
	h := signature.Header(s.Pending.Words[0])
	s.unfinished = &unfinished{node: len(s.procs), from: s.Pending.InRun(p), to: end}
	s.procs = append(s.procs, uint16(h.Proc()))
}

// site is the word of the callsite of a node.
func (s *stream) site(node int) uint64 {
	if node < len(s.Nodes) {
		return s.Nodes[node].Words[1]
	}
	return s.Pending.Words[1]
}

// unfinishedUntil is until when process i was in a call at the latest, if the recording of a thread of it ended in one; otherwise 0.
func (t *Timeline) unfinishedUntil(i int) int64 {
	meta := &t.run.Meta
	for j := range t.run.Procs[i].Streams {
		if t.run.Procs[i].Streams[j].InCall && meta.Started > 0 {
			return t.run.LatestEnd(i, meta.Ended-meta.Started)
		}
	}
	return 0
}
