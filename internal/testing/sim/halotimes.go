package sim

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// haloTimes are times of the calls of a periodic halo exchange in which no message arrives before
// it was sent: ranks compute for different and varying times, and wait for their neighbours.
type haloTimes struct {
	Config
	left [][]uint64 // when the exchange of a step was over, ns, by step and rank
	met  []uint64   // when the last rank entered the MPI_Allreduce of a step
}

// Times of the simulated program, ns.
const (
	haloCompute = 20_000 // of a step
	haloPost    = 100    // least duration of a call that posts, and least gap before it: half
	haloLatency = 1_500  // of a message
	haloReduce  = 3_000  // of MPI_Allreduce, after the last rank has entered it
	haloSetup   = 1_000_000
)

// newHaloTimes follows the program step by step.
func newHaloTimes(c Config) (*haloTimes, error) {
	if _, err := c.check(); err != nil {
		return nil, err
	}
	if c.Program != "halo" || !c.Periodic {
		return nil, fmt.Errorf("no times for %s, periodic %t: only for a periodic halo exchange", c.Program, c.Periodic)
	}
	h := &haloTimes{Config: c, left: make([][]uint64, c.Steps), met: make([]uint64, c.Steps)}
	near := make([][]neighbour, c.Ranks)
	for i := range near {
		near[i] = (&rank{Config: &h.Config, number: i}).neighbours()
	}
	now, sent := make([]uint64, c.Ranks), make([]uint64, c.Ranks)
	for i := range now {
		now[i] = haloSetup
	}
	for step := range c.Steps {
		for i := range now {
			sent[i] = now[i] + h.computes(i, step) + h.posting(i, step)
		}
		left := make([]uint64, c.Ranks)
		for i := range now {
			last := sent[i]
			for _, n := range near[i] {
				last = max(last, sent[n.rank])
			}
			left[i] = last + haloLatency
			now[i] = left[i]
			h.met[step] = max(h.met[step], left[i]+haloPost)
		}
		h.left[step] = left
		for i := range now {
			if step%10 == 9 {
				now[i] = h.met[step] + haloReduce
			}
		}
	}
	return h, nil
}

// computes is how long a rank computes in a step: some always longer, and all not always as long.
func (h *haloTimes) computes(rank, step int) uint64 {
	return haloCompute + h.draw(5, uint64(rank))%(haloCompute/10) + h.draw(6, uint64(rank), uint64(step))%(haloCompute/5)
}

// posts is the number of calls of a step that post a message.
const posts = 12

// post is the gap before a call that posts, and its duration.
func (h *haloTimes) post(rank, step, call int) (gap, dur uint64) {
	x := h.draw(7, uint64(rank), uint64(step), uint64(call))
	return haloPost/2 + x%(haloPost/2), haloPost + x>>32%haloPost
}

// posting is how long the calls of a step take that post messages.
func (h *haloTimes) posting(rank, step int) (sum uint64) {
	for call := range posts {
		gap, dur := h.post(rank, step, call)
		if call == 0 {
			gap = 0 // the computation
		}
		sum += gap + dur
	}
	return sum
}

// intervals returns a function that returns the gaps and durations of a rank's calls in turn.
func (h *haloTimes) intervals(rank int) func() uint64 {
	var ready []uint64
	now, step := uint64(0), -1
	call := func(enter, exit uint64) {
		ready = append(ready, enter-now, exit-enter)
		now = exit
	}
	return func() uint64 {
		if len(ready) == 0 {
			switch {
			case step < 0: // MPI_Init and MPI_Cart_create
				call(haloSetup/10, haloSetup/2)
				call(haloSetup/2+haloPost, haloSetup)
			case step < h.Steps:
				h.step(rank, step, now, call)
			default:
				call(now+haloPost, now+2*haloReduce)
			}
			step++
		}
		v := ready[0]
		ready = ready[1:]
		return v
	}
}

func (h *haloTimes) step(rank, step int, now uint64, call func(enter, exit uint64)) {
	for k := range posts {
		gap, dur := h.post(rank, step, k)
		if k == 0 {
			gap = h.computes(rank, step)
		}
		call(now+gap, now+gap+dur)
		now += gap + dur
	}
	call(now, h.left[step][rank])
	if step%10 == 9 {
		call(h.left[step][rank]+haloPost, h.met[step]+haloReduce)
	}
}

// TracedNodes is WriteNodes with the times of each call, of a periodic halo exchange.
func (c Config) TracedNodes(dir string, workers int) ([]string, error) {
	h, err := newHaloTimes(c)
	if err != nil {
		return nil, err
	}
	return c.writeNodes(dir, workers, h.give)
}

// TracedRun is a run of a periodic halo exchange with the times of each call.
func (c Config) TracedRun() (*runfile.Run, error) {
	h, err := newHaloTimes(c)
	if err != nil {
		return nil, err
	}
	return c.Run(h.give)
}

// tracedError is the error of the times, in parts of efg.ErrorUnit.
const tracedError = efg.ErrorUnit / 20

// give gives a process its times, and their statistics, as a recording has both.
func (h *haloTimes) give(p *efg.Process) error {
	addStats(&p.Streams[0], p.Defs, h.intervals(p.Rank))
	return GiveTimesWithin(p, tracedError, func() uint64 { return 0 }, h.intervals(p.Rank))
}

// addStats adds the statistics of times that interval returns: the gap before and the duration of each
// call in turn.
func addStats(s *efg.Stream, defs []efg.Def, interval func() uint64) {
	for w := s.Walk(defs); w.Next(); {
		n := &s.Nodes[w.Node()]
		if n.Stats == nil {
			n.Stats = &efg.Stats{}
		}
		gap := interval()
		n.Stats.Add(gap, interval())
	}
}
