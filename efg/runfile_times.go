package efg

import (
	"cmp"
	"sort"
	"sync"
)

// keptTimes is how many decoded blocks of statistics a run keeps. Who reads all
// ranks, several at a time, reads each block once.
const keptTimes = 16

// timesCache keeps the blocks of statistics that were asked for last, newest
// first.
type timesCache struct {
	mu    sync.Mutex
	kept  []*keptBlock
	limit int // 0: keptTimes
}

type keptBlock struct {
	number int
	once   sync.Once
	block  *block
	err    error
}

// block returns a block of statistics, at its start.
func (c *timesCache) block(r *Run, number int) (*block, error) {
	c.mu.Lock()
	var k *keptBlock
	for _, have := range c.kept {
		if have.number == number {
			k = have
		}
	}
	if k == nil {
		k = &keptBlock{number: number}
		c.kept = append([]*keptBlock{k}, c.kept[:min(len(c.kept), cmp.Or(c.limit, keptTimes)-1)]...)
	}
	c.mu.Unlock()
	k.once.Do(func() { k.block, k.err = r.read(number) })
	if k.err != nil {
		return nil, k.err
	}
	return &block{section: k.block.section, cols: k.block.cols, at: make([]int, len(k.block.at))}, nil
}

// statsOf finds the statistics block of process i, -1 if there is none.
func (r *Run) statsOf(i int) int {
	k := sort.Search(len(r.stats), func(k int) bool { return r.stats[k].first > i }) - 1
	if k >= 0 && i >= r.stats[k].first+r.stats[k].procs {
		return -1
	}
	return k
}

// readTimes reads the statistics of the streams of process i.
func (r *Run) readTimes(i int, streams []Stream) error {
	k := r.statsOf(i)
	if k < 0 {
		return nil
	}
	b, err := r.times.block(r, r.stats[k].block)
	if err != nil {
		return err
	}
	for p := r.stats[k].first; p < i; p++ {
		for range r.Procs[p].Streams {
			b.stats(nil)
		}
	}
	for j := range streams {
		b.stats(streams[j].Nodes)
	}
	return b.err
}
