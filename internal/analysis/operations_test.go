package analysis_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// describe writes operations as text, completely.
func describe(node int, list []analysis.Operation) string {
	text := fmt.Sprint(node, ":")
	for _, o := range list {
		name := ""
		if o.Proc != nil {
			name = o.Proc.Name
		}
		o.Proc = nil
		text += fmt.Sprintf(" %s %+v", name, o)
	}
	return text
}

// compareCalls compares the operations of a stream's calls found on the graph with those of its
// events, one by one.
func compareCalls(t *testing.T, p *analysis.Process, i int, fields analysis.Fields) {
	t.Helper()
	graph, events := map[string]uint64{}, map[string]uint64{}
	for k := range p.Data.Streams[i].Nodes {
		err := p.Calls(i, k, fields, func(c *analysis.Call) error {
			graph[describe(k, c.Operations)] += c.Times
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	follower := p.Follow(i, fields)
	for e, err := range reconstruct.NewProcess(p.Data, reconstruct.NewNames(p.Data.Defs, nil)).Events(i, reconstruct.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		c, err := follower.Call(e)
		if err != nil {
			t.Fatal(err)
		}
		events[describe(e.Node(), c.Operations)]++
	}
	for text, n := range events {
		if graph[text] != n {
			t.Errorf("fields %d: %s\n%d times on the graph, %d in the events", fields, text, graph[text], n)
		}
		delete(graph, text)
	}
	for text, n := range graph {
		t.Errorf("fields %d: %s\n%d times on the graph, not in the events", fields, text, n)
	}
}

const allFields = analysis.CommField | analysis.BytesField | analysis.TagField

// compareOperations does so for all streams of a run, and compares the bytes
// with those of the nodes.
func compareOperations(t *testing.T, run *runfile.Run) {
	t.Helper()
	first := analysis.FirstRanks(run.Procs)
	for n := range run.Procs {
		data, err := run.Process(n)
		if err != nil {
			t.Fatal(err)
		}
		p, err := analysis.NewProcess(data, first[n])
		if err != nil {
			t.Fatal(err)
		}
		for i := range data.Streams {
			for _, fields := range []analysis.Fields{0, analysis.CommField, analysis.BytesField, analysis.TagField, allFields} {
				compareCalls(t, p, i, fields)
			}
			compareVolumes(t, p, i)
		}
	}
}

func compareVolumes(t *testing.T, p *analysis.Process, i int) {
	t.Helper()
	nodes, err := p.Nodes(i)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		var v analysis.Volume
		err := p.Calls(i, n.Number, allFields, func(c *analysis.Call) error {
			for _, o := range c.Operations {
				v.Sent += o.Sent * c.Times
				v.Received += o.Received * c.Times
			}
			return nil
		})
		sent, received := n.Volume.Sent+n.Volume.Written, n.Volume.Received+n.Volume.Read
		if err != nil || v.Sent != sent || v.Received != received {
			t.Errorf("node %d, %s: %d and %d bytes, want %d and %d; %v", n.Number, n.Op, v.Sent, v.Received, sent, received, err)
		}
	}
}

// Random calls, with persistent requests that only the order of events distinguishes.
func TestRandomOperations(t *testing.T) {
	for seed := range uint64(100) {
		l := newVolumeRecorder(t, seed)
		for range 20 + l.r.IntN(400) {
			l.step()
		}
		p := l.process()
		compareCalls(t, p, 0, 0)
		compareCalls(t, p, 0, allFields)
		compareVolumes(t, p, 0)
		cells := map[[2]int]analysis.Cell{}
		for k := range p.Data.Streams[0].Nodes {
			err := p.Calls(0, k, analysis.BytesField, func(c *analysis.Call) error {
				for _, o := range c.Operations {
					if o.Kind == analysis.SendOperation && o.Moves {
						cell := cells[[2]int{1, o.Peer}]
						cell.Bytes += o.Sent * c.Times
						cell.Messages += c.Times
						cells[[2]int{1, o.Peer}] = cell
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !maps.Equal(cells, l.cells) {
			t.Errorf("seed %d: %v, want %v", seed, cells, l.cells)
		}
	}
}
