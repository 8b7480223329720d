package table

import (
	"github.com/efg-tools/efg/efg"
)

// counterRow is what a counter counted at a node.
type counterRow struct {
	rank    int
	thread  uint32
	node    int
	counter *efg.Counter
	sums    *efg.NodeCounter
}

var counters = define(
	Schema{Name: "counters", Order: 3, Doc: "what each counter (efg run --counters) counted in the calls of each node, and from the end of the call before to their start"},
	column[counterRow]{Column{"rank", Integer, false, "", "as in events"}, func(c *counterRow) Value { return integer(c.rank) }},
	column[counterRow]{Column{"thread", Integer, false, "", "as in events"}, func(c *counterRow) Value { return integer(c.thread) }},
	column[counterRow]{Column{"node", Integer, false, "", "number of the node"}, func(c *counterRow) Value { return integer(c.node) }},
	column[counterRow]{Column{"counter", Text, false, "", "name of the counter"}, func(c *counterRow) Value { return text(c.counter.Name) }},
	column[counterRow]{Column{"unit", Text, true, "", "what it counts, if these are not events"}, func(c *counterRow) Value { return text(c.counter.Unit) }},
	column[counterRow]{Column{"counted", Integer, false, "", "number of calls that are in the sums"}, func(c *counterRow) Value { return integer(c.sums.Count) }},
	column[counterRow]{Column{"calls", Integer, false, "", "sum in the calls"}, func(c *counterRow) Value { return integer(c.sums.Call.Sum) }},
	column[counterRow]{Column{"calls_min", Integer, false, "", "smallest in a call"}, func(c *counterRow) Value { return integer(c.sums.Call.Min) }},
	column[counterRow]{Column{"calls_max", Integer, false, "", "largest in a call"}, func(c *counterRow) Value { return integer(c.sums.Call.Max) }},
	column[counterRow]{Column{"before", Integer, false, "", "sum before the calls"}, func(c *counterRow) Value { return integer(c.sums.Before.Sum) }},
	column[counterRow]{Column{"before_min", Integer, false, "", "smallest before a call"}, func(c *counterRow) Value { return integer(c.sums.Before.Min) }},
	column[counterRow]{Column{"before_max", Integer, false, "", "largest before a call"}, func(c *counterRow) Value { return integer(c.sums.Before.Max) }},
	column[counterRow]{Column{"multiplexed", Boolean, false, "", "it was counted only a part of the time, because it shared the hardware"}, func(c *counterRow) Value { return boolean(c.counter.State&efg.CounterMultiplexed != 0) }},
)

// addCounters adds what was counted at a node of a stream.
func (b *builders) addCounters(p *efg.Process, s *efg.Stream, node int) error {
	for i := range s.Nodes[node].Counters {
		c := &s.Nodes[node].Counters[i]
		if c.Count == 0 || i >= len(p.Counters) {
			continue
		}
		if err := b.counters.add(&counterRow{p.Rank, s.Thread, node, &p.Counters[i], c}); err != nil {
			return err
		}
	}
	return nil
}
