package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Collectives with an array of counts say how many bytes go to each member, and how many come
// from each: what i sends to j is what j receives from i. That is compared for all pairs at
// once: a member hashes, for each other one, the sequence of these numbers over all its calls,
// and sums of such hashes must agree. The same holds for neighbourhood collectives, where only
// neighbours exchange data, and between the groups of an intercommunicator.

// exchange is what a call moves, in bytes.
type exchange struct {
	to, from []uint64 // for each member, by its position in the list of members
}

// Bounds of the comparison: members of a communicator, and elements of arrays that vary from
// call to call at a node.
const (
	maxExchanging = 1 << 13
	maxElements   = 1 << 22
)

// arrays are the words of arrays of counts and of datatypes; 0 if there are none.
type arrays struct{ sendCounts, recvCounts, sendTypes, recvTypes int }

// pairwise reports whether a collective's data are compared for each pair of members. In other
// collectives all members have the same amount.
func (c *collRoles) pairwise(inter bool) bool {
	switch c.proc.Shape {
	case signature.NoData, signature.Prefix:
		return false
	case signature.Neighbours:
		return !inter
	}
	return inter || c.vector()
}

// arrayMask is the set of words of the arrays of a node; 0 if they are too many to be kept.
func (c *collRoles) arrayMask(n *efg.Node) uint64 {
	a := &c.arrays
	m := mask(a.sendCounts, a.recvCounts, a.sendTypes, a.recvTypes)
	for k, w := range maskedWords(n.Mask) {
		if e := n.Attrs[k].Elems; m>>w&1 != 0 && e != nil && e.Len() > maxElements {
			return 0
		}
	}
	return m
}

// maskedWords are the words in a mask, ascending.
func maskedWords(m uint64) []int {
	var list []int
	for w := 0; m>>w != 0; w++ {
		if m>>w&1 != 0 {
			list = append(list, w)
		}
	}
	return list
}
