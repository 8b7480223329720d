package runfile

import (
	"cmp"
	"sort"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// keptTimes is the number of decoded blocks of statistics that a run keeps. A reader of all
// ranks, several at a time, reads each block once.
const keptTimes = 16

// timesCache keeps the most recently used blocks of statistics, newest first.
type timesCache struct {
	mu    sync.Mutex
	kept  []*keptBlock
	limit int // 0 means keptTimes
}

type keptBlock struct {
	number int
	once   sync.Once
	block  *block.Block
	err    error

	mu      sync.Mutex
	reached map[int][]int // by process, or stream, if requested before: its position in the columns
}

// open returns the block, positioned at the last process (or stream) up to i whose position is
// known, and that process.
func (k *keptBlock) open(first, i int) (*block.Block, int) {
	b := k.block.Again()
	k.mu.Lock()
	defer k.mu.Unlock()
	for p := i; p > first; p-- {
		if at := k.reached[p]; at != nil {
			b.Seek(at)
			return b, p
		}
	}
	return b, first
}

// reach records the position of process (or stream) i.
func (k *keptBlock) reach(i int, b *block.Block) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reached == nil {
		k.reached = map[int][]int{}
	}
	k.reached[i] = b.Position()
}

// find returns a block.
func (c *timesCache) find(r *Run, number int) (*keptBlock, error) {
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
	return k, k.err
}

// statsOf finds the statistics block of process i, -1 if there is none.
func (r *Run) statsOf(i int) int {
	k := sort.Search(len(r.stats), func(k int) bool { return r.stats[k].first > i }) - 1
	if k >= 0 && i >= r.stats[k].first+r.stats[k].procs {
		return -1
	}
	return k
}

// TimesBlock numbers the block that has the statistics of Procs[i]; it is -1 if there is none. Blocks are decoded as
// a whole, so processes of one block are best read consecutively, by one goroutine.
func (r *Run) TimesBlock(i int) int { return r.statsOf(i) }

// readTimes reads the statistics of the streams of process i, which has these definitions.
func (r *Run) readTimes(i int, streams []efg.Stream, defs []efg.Def) error {
	k := r.statsOf(i)
	if k < 0 {
		return nil
	}
	kept, err := r.times.find(r, r.stats[k].block)
	if err != nil {
		return err
	}
	b, p := kept.open(r.stats[k].first, i)
	for ; p < i; p++ {
		for range r.Procs[p].Streams {
			r.takeStats(b, nil, nil)
		}
	}
	for j := range streams {
		r.takeStats(b, streams[j].Nodes, defs)
	}
	if b.Err == nil {
		kept.reach(i+1, b)
	}
	return b.Err
}
