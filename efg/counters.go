package efg

import (
	"fmt"
	"math/bits"
	"strings"
)

// MaxCounters bounds the counters of a run.
const MaxCounters = 8

// Counter is a value that was read at the start and the end of each call of a process: of the
// hardware, or of what the kernel counts.
type Counter struct {
	Name  string
	Unit  string // "": it is a number of events
	State CounterState
}

// CounterState is a set of bits.
type CounterState uint8

const (
	// CounterRead: it was read, at least in one thread.
	CounterRead CounterState = 1 << iota
	// CounterMultiplexed: it shared the hardware with others, and was only counted a part of
	// the time. Values are what was counted, too low.
	CounterMultiplexed
	// CounterFailed: in some thread it could not be read.
	CounterFailed

	// CounterStates is above all states.
	CounterStates = 1 << iota
)

// Read reports whether there are values.
func (c Counter) Read() bool { return c.State&CounterRead != 0 }

// Text is the counter's name, with its unit behind a space if it has one.
func (c *Counter) Text() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " " + c.Unit
}

// ParseCounter is the reverse of Text.
func ParseCounter(text string) Counter {
	name, unit, _ := strings.Cut(text, " ")
	return Counter{Name: name, Unit: unit}
}

// NodeCounter is what a counter counted at a node: in the calls, and before them, since the end
// of the call before.
type NodeCounter struct {
	Count        uint64 // events that were counted; 0: none, and the rest has no meaning
	Call, Before Tally
}

// TallyBins is the number of bins of a Tally.
const TallyBins = 48

// Tally sums up values. Bins[i] is the number of those with i bits: bin 0 has zeros, bin i values
// in [2^(i-1), 2^i); the last bin also what lies above.
type Tally struct {
	Sum, Min, Max uint64
	Bins          [TallyBins]uint32
}

// TallyBin is the bin of a value.
func TallyBin(v uint64) int { return min(bits.Len64(v), TallyBins-1) }

// AddOf adds to a counter's values those of another node.
func (c *NodeCounter) AddOf(o *NodeCounter) {
	if o.Count == 0 {
		return
	}
	if c.Count == 0 {
		*c = *o
		return
	}
	c.Count += o.Count
	c.Call.add(&o.Call)
	c.Before.add(&o.Before)
}

func (t *Tally) add(o *Tally) {
	t.Sum += o.Sum
	t.Min, t.Max = min(t.Min, o.Min), max(t.Max, o.Max)
	for i, n := range o.Bins {
		t.Bins[i] += n
	}
}

// checkCounters checks the counters of a node that was visited so often.
func checkCounters(list []NodeCounter, visits uint64) error {
	if len(list) > MaxCounters {
		return fmt.Errorf("%d counters", len(list))
	}
	for i := range list {
		if n := list[i].Count; n > visits {
			return fmt.Errorf("counter %d of %d events at a node visited %d times", i, n, visits)
		}
	}
	return nil
}

// dropLater removes what was counted if events after the node's visits are in it.
func (n *Node) dropLater(visits uint64) {
	for i := range n.Counters {
		if n.Counters[i].Count > visits {
			n.Counters[i] = NodeCounter{}
		}
	}
}
