package table

import (
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/reconstruct"
)

// nodeRow is a node of a stream's graph.
type nodeRow struct {
	rank   int
	thread uint32
	number int
	node   *eventrow.Node
	args   string
	facts  *analysis.Node
}

// statistic is a time of a node's calls.
func (n *nodeRow) statistic(f func(*efg.Stats) uint64) Value {
	if n.facts.Stats == nil || n.facts.Stats.Count == 0 {
		return absent
	}
	return integer(f(n.facts.Stats))
}

var nodes = define(
	Schema{Name: "nodes", Order: 3, Doc: "the distinct calls of each stream: the nodes of its graph"},
	column[nodeRow]{Column{"rank", Integer, false, "", "as in events"}, func(n *nodeRow) Value { return integer(n.rank) }},
	column[nodeRow]{Column{"thread", Integer, false, "", "as in events"}, func(n *nodeRow) Value { return integer(n.thread) }},
	column[nodeRow]{Column{"node", Integer, false, "", "number of the node"}, func(n *nodeRow) Value { return integer(n.number) }},
	column[nodeRow]{Column{"op", Text, false, "", "procedure"}, func(n *nodeRow) Value { return text(n.node.Op) }},
	column[nodeRow]{Column{"class", Text, true, "", "as in events"}, func(n *nodeRow) Value { return text(n.node.Class) }},
	column[nodeRow]{Column{"site", Text, true, "", "source location"}, func(n *nodeRow) Value { return text(n.node.Site) }},
	column[nodeRow]{Column{"func", Text, true, "", "function that contains the call"}, func(n *nodeRow) Value { return text(n.node.Func) }},
	column[nodeRow]{Column{"error", Text, true, "", "error class, if the calls failed"}, func(n *nodeRow) Value { return text(n.node.Error) }},
	column[nodeRow]{Column{"args", Text, true, "", "arguments and results, * for those that vary"}, func(n *nodeRow) Value { return text(n.args) }},
	column[nodeRow]{Column{"path", JSON, true, "", "as in events"}, func(n *nodeRow) Value { return text(n.node.Path) }},
)

var calls = define(
	Schema{Name: "calls", Order: 3, Doc: "what the calls of each node add up to"},
	column[nodeRow]{Column{"rank", Integer, false, "", "as in events"}, func(n *nodeRow) Value { return integer(n.rank) }},
	column[nodeRow]{Column{"thread", Integer, false, "", "as in events"}, func(n *nodeRow) Value { return integer(n.thread) }},
	column[nodeRow]{Column{"node", Integer, false, "", "number of the node"}, func(n *nodeRow) Value { return integer(n.number) }},
	column[nodeRow]{Column{"op", Text, false, "", "procedure"}, func(n *nodeRow) Value { return text(n.node.Op) }},
	column[nodeRow]{Column{"site", Text, true, "", "source location"}, func(n *nodeRow) Value { return text(n.node.Site) }},
	column[nodeRow]{Column{"setup", Boolean, false, "", "the calls begin or end MPI"}, func(n *nodeRow) Value { return boolean(n.facts.Setup()) }},
	column[nodeRow]{Column{"visits", Integer, false, "", "number of calls"}, func(n *nodeRow) Value { return integer(n.facts.Visits) }},
	column[nodeRow]{Column{"sent", Integer, false, "bytes", "sent"}, func(n *nodeRow) Value { return integer(n.facts.Volume.Sent) }},
	column[nodeRow]{Column{"received", Integer, false, "bytes", "received"}, func(n *nodeRow) Value { return integer(n.facts.Volume.Received) }},
	column[nodeRow]{Column{"read", Integer, false, "bytes", "read from files"}, func(n *nodeRow) Value { return integer(n.facts.Volume.Read) }},
	column[nodeRow]{Column{"written", Integer, false, "bytes", "written to files"}, func(n *nodeRow) Value { return integer(n.facts.Volume.Written) }},
	column[nodeRow]{Column{"messages", Integer, false, "", "point-to-point messages sent"}, func(n *nodeRow) Value { return integer(n.facts.Volume.Messages) }},
	column[nodeRow]{Column{"time", Integer, true, "ns", "sum of the times of the calls"}, func(n *nodeRow) Value { return n.statistic(func(s *efg.Stats) uint64 { return s.Dur.Sum }) }},
	column[nodeRow]{Column{"time_min", Integer, true, "ns", "of the shortest call"}, func(n *nodeRow) Value { return n.statistic(func(s *efg.Stats) uint64 { return s.Dur.Min }) }},
	column[nodeRow]{Column{"time_max", Integer, true, "ns", "of the longest call"}, func(n *nodeRow) Value { return n.statistic(func(s *efg.Stats) uint64 { return s.Dur.Max }) }},
	column[nodeRow]{Column{"gap", Integer, true, "ns", "sum of the times from the calls before to these"}, func(n *nodeRow) Value { return n.statistic(func(s *efg.Stats) uint64 { return s.Gap.Sum }) }},
	column[nodeRow]{Column{"path", JSON, true, "", "as in events"}, func(n *nodeRow) Value { return text(n.node.Path) }},
	column[nodeRow]{Column{"shared", Boolean, true, "", "time_min and time_max are those of all nodes that differ from this one in their call paths alone"}, func(n *nodeRow) Value {
		if n.facts.Stats == nil || n.facts.Stats.Count == 0 {
			return absent
		}
		return boolean(n.facts.Stats.Shared)
	}},
)

// edgeRow is a step from node to node.
type edgeRow struct {
	rank           int
	thread         uint32
	source, number int
	edge           *efg.Edge
}

var edges = define(
	Schema{Name: "edges", Order: 3, Doc: "the steps from node to node"},
	column[edgeRow]{Column{"rank", Integer, false, "", "as in events"}, func(e *edgeRow) Value { return integer(e.rank) }},
	column[edgeRow]{Column{"thread", Integer, false, "", "as in events"}, func(e *edgeRow) Value { return integer(e.thread) }},
	column[edgeRow]{Column{"source", Integer, false, "", "node from which the step goes"}, func(e *edgeRow) Value { return integer(e.source) }},
	column[edgeRow]{Column{"number", Integer, false, "", "number of the edge at its source"}, func(e *edgeRow) Value { return integer(e.number) }},
	column[edgeRow]{Column{"target", Integer, false, "", "node to which the step goes"}, func(e *edgeRow) Value { return integer(e.edge.To) }},
	column[edgeRow]{Column{"weight", Integer, false, "", "how often the step was taken"}, func(e *edgeRow) Value { return integer(e.edge.Weight) }},
)

// addGraph adds the nodes and edges of Streams[i].
func (b *builders) addGraph(p *reconstruct.Process, facts *analysis.Process, i int) error {
	if b.nodes == nil && b.calls == nil && b.edges == nil && b.counters == nil {
		return nil
	}
	list, err := facts.Nodes(i)
	if err != nil {
		return err
	}
	data := p.Data()
	s := &data.Streams[i]
	kinds := eventrow.Nodes(p, i)
	for k := range list {
		row := nodeRow{rank: data.Rank, thread: s.Thread, number: k, node: &kinds[k], facts: &list[k]}
		if b.nodes != nil {
			row.args = strings.Join(p.Describe(i, k).Args, ", ")
		}
		if err := b.nodes.add(&row); err != nil {
			return err
		}
		if err := b.calls.add(&row); err != nil {
			return err
		}
		if err := b.addCounters(data, s, k); err != nil {
			return err
		}
		for n := range s.Nodes[k].Edges {
			if err := b.edges.add(&edgeRow{data.Rank, s.Thread, k, n, &s.Nodes[k].Edges[n]}); err != nil {
				return err
			}
		}
	}
	return nil
}
