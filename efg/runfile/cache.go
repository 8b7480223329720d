package runfile

import (
	"bytes"
	"container/list"
	"fmt"
	"sync"
	"unsafe"

	"github.com/efg-tools/efg/efg/block"
)

// cacheSize is the approximate maximum size in memory of the decoded blocks that are kept.
const cacheSize = 64 << 20

// blockCache keeps the most recently used decoded blocks of groups. Runs that are read together
// share one.
type blockCache struct {
	mu     sync.Mutex
	size   int // bytes
	limit  int
	blocks map[cacheKey]*list.Element
	recent *list.List // of *cached, the most recently used in front
}

type cacheKey struct {
	run   *Run
	block int
}

type cached struct {
	key    cacheKey
	once   sync.Once
	groups []*readGroup
	size   int
	err    error
}

func newBlockCache(limit int) *blockCache {
	return &blockCache{limit: limit, blocks: map[cacheKey]*list.Element{}, recent: list.New()}
}

// get returns the groups of a block.
func (c *blockCache) get(r *Run, block int) ([]*readGroup, error) {
	key := cacheKey{r, block}
	c.mu.Lock()
	e := c.blocks[key]
	if e == nil {
		e = c.recent.PushFront(&cached{key: key})
		c.blocks[key] = e
	} else {
		c.recent.MoveToFront(e)
	}
	entry := e.Value.(*cached)
	c.mu.Unlock()
	entry.once.Do(func() {
		entry.groups, entry.err = r.groupsOf(block)
		for _, p := range entry.groups {
			entry.size += p.memory()
		}
		c.grown(entry.size)
	})
	return entry.groups, entry.err
}

// groupsOf reads and decodes a block of groups or of events.
func (r *Run) groupsOf(n int) ([]*readGroup, error) {
	if r.blocks[n].Kind == blockGroups {
		b, err := r.read(n)
		if err != nil {
			return nil, err
		}
		return readGroups(b, r.part)
	}
	section := fmt.Sprintf("events block %d", n)
	code, err := block.ReadCode(r.r, r.blocks[n].Ref, section)
	if err != nil {
		return nil, err
	}
	if r.decoded.groups != nil && bytes.Equal(code, r.decoded.code) {
		return r.decoded.groups, nil
	}
	groups, err := decodeEvents(code, r.features)
	if err != nil {
		return nil, &CorruptError{Section: section, Offset: r.blocks[n].Offset, Cause: err}
	}
	return groups, nil
}

// grown makes room after a block was added.
func (c *blockCache) grown(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += size
	for c.size > c.limit && c.recent.Len() > 1 {
		last := c.recent.Back()
		entry := last.Value.(*cached)
		c.recent.Remove(last)
		delete(c.blocks, entry.key)
		c.size -= entry.size
	}
}

// memory is the approximate size of a group in bytes. Bodies that groups share count for each
// of them.
func (p *readGroup) memory() int {
	n := 8*(len(p.shape)+len(p.masks)+len(p.wide)) + int(unsafe.Sizeof(place{}))*len(p.places) + int(unsafe.Sizeof(readCell{}))*len(p.cells)
	for _, b := range p.bodies {
		n += int(unsafe.Sizeof(b)) + b.Memory()
	}
	return n
}
