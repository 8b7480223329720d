package regions

import (
	"slices"
	"strings"
	"sync"
)

// Paths numbers the regions of a run, each with those around it, from 1; 0 is outside of all.
type Paths struct {
	mu      sync.Mutex
	numbers map[string]int32
	list    []Path
}

// Path is a region with those around it.
type Path struct {
	Names  []string // the outermost first; none: outside of all
	Parent int32    // number of the region around it; -1: it is outside of all
}

// NewPaths returns a numbering without regions.
func NewPaths() *Paths {
	return &Paths{numbers: map[string]int32{"": 0}, list: []Path{{Parent: -1}}}
}

// mostPaths bounds the regions that are numbered: of further ones the number is that of the region
// around them.
const mostPaths = 1 << 16

// Number is the number of a region.
func (p *Paths) Number(names []string) int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.number(names)
}

func (p *Paths) number(names []string) int32 {
	if len(names) == 0 {
		return 0
	}
	key := strings.Join(names, "\x00") + "\x00"
	n, ok := p.numbers[key]
	if ok {
		return n
	}
	parent := p.number(names[:len(names)-1])
	if len(p.list) == mostPaths || len(p.list[parent].Names) < len(names)-1 {
		return parent
	}
	n = int32(len(p.list))
	p.numbers[key], p.list = n, append(p.list, Path{slices.Clone(names), parent})
	return n
}

// List is the regions by number.
func (p *Paths) List() []Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}

// At returns a region by its number.
func (p *Paths) At(number int32) Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list[number]
}

// PathText writes the names of regions, the outermost first, on one line.
func PathText(names []string) string { return strings.Join(names, "/") }
