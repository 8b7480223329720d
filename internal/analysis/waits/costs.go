package waits

import (
	"cmp"
	"slices"
)

// cost is the waiting that a cause is responsible for, ns: of those that waited for the process
// itself, and of those that waited for others because these had waited.
type cost struct{ short, long float64 }

// costTable has those of all causes: of each process by themselves, because causes that are found together are most
// often of one.
type costTable struct {
	byProcess []tally[numberedCost] // from nobody on
	causes    int
}

// numberedCost is the cost of a cause, which has the number, from 1, of causes in the order in which they were found.
type numberedCost struct {
	cost
	number int
}

// at returns the cost of a cause, until the next call.
func (c *costTable) at(of cause) *cost {
	x := c.byProcess[of.process-nobody].at(of)
	if x.number == 0 {
		c.causes++
		x.number = c.causes
	}
	return &x.cost
}

// inOrder returns all causes in the order in which they were found.
func (c *costTable) inOrder() []*tallied[numberedCost] {
	list := make([]*tallied[numberedCost], 0, c.causes)
	for i := range c.byProcess {
		of := c.byProcess[i].list
		for k := range of {
			list = append(list, &of[k])
		}
	}
	slices.SortFunc(list, func(x, y *tallied[numberedCost]) int { return cmp.Compare(x.value.number, y.value.number) })
	return list
}
