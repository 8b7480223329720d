package efg

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// The methods below rebuild the graph of a recording that says which node each event is at,
// such as one read from another format. A builder whose nodes were made with AddNode takes
// events only through AddAt.

// NewDefinitions returns a list with these definitions. It keeps list.
func NewDefinitions(list []Def) *Definitions {
	d := &Definitions{List: list, index: make(map[uint64]int, len(list))}
	for i, def := range list {
		if _, ok := d.index[def.Word]; !ok {
			d.index[def.Word] = i
		}
	}
	return d
}

// AddNode adds the stream's next node: words is its signature, in which the words that mask
// demotes are zero. counted is the number of polls of a node whose header says that they are
// only counted, otherwise 0.
func (b *Builder) AddNode(words []uint64, mask, counted uint64) error {
	n := len(b.nodes)
	if len(words) < signature.FirstWord || len(words) > signature.MaxWords || signature.Header(words[0]).Words() != len(words) {
		return fmt.Errorf("node %d: %d words, header says %d", n, len(words), signature.Header(firstWord(words)).Words())
	}
	if mask&3 != 0 || mask>>len(words) != 0 {
		return fmt.Errorf("node %d: mask %#x of %d words", n, mask, len(words))
	}
	if isCounted(words) != (counted > 0) {
		return fmt.Errorf("node %d: %d polls counted, header %#x", n, counted, words[0])
	}
	words = slices.Clone(words)
	for i := range words {
		if mask>>i&1 != 0 && words[i] != 0 {
			return fmt.Errorf("node %d: word %d is demoted and not zero", n, i)
		}
	}
	b.nodes = append(b.nodes, b.newNode(words, mask, HashWords(words)))
	b.nodes[n].run = counted
	return nil
}

func firstWord(words []uint64) uint64 {
	if len(words) == 0 {
		return 0
	}
	return words[0]
}

// AddAt appends an event at a node. The first events of the nodes must be in the order in which
// the nodes were added.
func (b *Builder) AddAt(node int, e Input) error {
	for b.begun < len(b.nodes) && isCounted(b.nodes[b.begun].words) {
		b.begun++
	}
	if node < 0 || node > b.begun || node >= len(b.nodes) {
		return fmt.Errorf("event %d: node %d, but %d of %d have events so far", b.events, node, b.begun, len(b.nodes))
	}
	if n := b.nodes[node]; isCounted(n.words) || !n.matches(e.Words) {
		return fmt.Errorf("event %d: the words are not those of node %d", b.events, node)
	}
	if node == b.begun {
		b.begun++
	}
	b.enter(node, e)
	return nil
}

// Events is the number of events so far.
func (b *Builder) Events() uint64 { return b.events }

// Node is the node of the last event, -1 before the first.
func (b *Builder) Node() int { return b.cur }
