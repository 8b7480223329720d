package diff

import (
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
)

// shared is what the summaries of the processes of a rank class have in common: all except
// peers and times.
type shared struct {
	summary
	places    []peerPlace
	objects   []uint64   // communicators and windows in which ranks are relative
	commRanks []commRank // the ranks of one of the processes in them
	rows      [][]int    // by stream and node: number of the call in the profile
}

// peerPlace is where a summary's peer is.
type peerPlace struct{ stream, node, word, commRank int }

// maxShared bounds the number of classes of which something is kept.
const maxShared = 1 << 12

// share keeps what a process has in common with those of its class. The caller holds the lock.
func (v *survey) share(q *process, s *summary) {
	key, ok := q.Alike()
	if !ok || v.shared[key] != nil || len(v.shared) >= maxShared {
		return
	}
	c := &shared{summary: *s}
	c.peers, c.time = nil, nil
	for object, at := range q.commRanks {
		c.objects, c.commRanks = append(c.objects, object), append(c.commRanks, at)
	}
	c.rows = make([][]int, len(q.streams))
	for _, i := range s.order {
		t := q.streams[i]
		c.rows[i] = make([]int, len(t.nodes))
		for k := range t.nodes {
			n := &t.nodes[k]
			c.rows[i][k] = s.row(v.numbers[n.call])
			if !c.addPlaces(q, i, k, n, v.mostPeers) {
				return
			}
		}
	}
	if c.hasAllPeers(q) {
		v.shared[key] = c
	}
}

// hasAllPeers reports whether all words that differ in the processes of the class are
// among the peers.
func (c *shared) hasAllPeers(q *process) bool {
	known := map[[3]int]bool{}
	for _, at := range c.places {
		known[[3]int{at.stream, at.node, at.word}] = true
	}
	for i := range q.streams {
		for _, at := range q.PeerWords(i) {
			if !known[[3]int{i, at[0], at[1]}] {
				return false
			}
		}
	}
	return true
}

// addPlaces notes where the peers of a node are, like arguments; false if there are ranks in
// arrays.
func (c *shared) addPlaces(q *process, i, k int, n *node, most int) bool {
	for w := 2; w < len(n.Words); w++ {
		if n.Mask>>w&1 != 0 {
			continue
		}
		f := n.constant(q, w)
		if f.near == f.far {
			continue
		}
		if n.isVec(w) || len(c.places) >= most {
			return false
		}
		c.places = append(c.places, peerPlace{i, k, w, slices.Index(c.objects, commRankObject(n.Node))})
	}
	return true
}

// common finds what is kept of the class of a process; nil if nothing is.
func (v *survey) common(p *analysis.Process) *shared {
	key, ok := p.Alike()
	if !ok {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shared[key]
}

// summarize makes the summary of a process from what its class has in common and from its own
// times; false if its rank in one of the communicators differs.
func (c *shared) summarize(p *analysis.Process) (*summary, []Totals, bool, error) {
	s := c.summary
	s.proc, s.rank = p.Number(), p.Data.Rank
	seats := make([]commRank, len(c.commRanks))
	for i, object := range c.objects {
		if seats[i] = commRankIn(p, object); seats[i].size != c.commRanks[i].size {
			return nil, nil, false, nil
		}
	}
	s.peers = make([]form, len(c.places))
	for i, at := range c.places {
		w := p.Data.Streams[at.stream].Nodes[at.node].Words[at.word]
		s.peers[i] = seats[at.commRank].form(w)
	}
	rows := make([]Totals, len(s.profile.calls))
	for i := range c.rows {
		nodes, err := p.Nodes(i)
		if err != nil {
			return nil, nil, false, err
		}
		for k := range nodes {
			rows[c.rows[i][k]].addNode(&nodes[k])
		}
	}
	return &s, rows, true, nil
}

// addShared keeps a summary that was made from what its class has in common. The caller holds
// the lock.
func (v *survey) addShared(s *summary, rows []Totals) {
	s.total, s.running = 0, 0
	s.time = nil
	for i, n := range s.profile.calls {
		v.addRow(s, len(rows), i, int(n), &rows[i])
	}
	v.summaries = append(v.summaries, *s)
}

// addRow adds the totals of call i of all calls in a process.
func (v *survey) addRow(s *summary, all, i, number int, r *Totals) {
	if s.time == nil && r.Time.Sum > 0 {
		s.time = make([]uint64, all)
	}
	if s.time != nil {
		s.time[i] = r.Time.Sum
	}
	s.total += r.Time.Sum
	if analysis.Running(v.list[number].op) {
		s.running += r.Time.Sum
	}
	v.sums[number].add(r)
	v.timed = v.timed || r.Time.Count > 0
}
