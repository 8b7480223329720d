package httpapi

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/draw/graph"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// graphTypes are the types of the formats of a graph.
var graphTypes = map[string]string{
	"json": jsonType, "dot": "text/vnd.graphviz; charset=utf-8", "graphml": "application/xml", "svg": "image/svg+xml", "png": "image/png",
}

func askGraph(q *query) answerer {
	rank, thread, collapse := q.number("rank", 0, 0, 1<<31-1), q.number("thread", 0, 0, 1<<31-1), q.number("collapse", 0, 0, 1000)
	format := q.choice("format", "json", "json", "dot", "graphml", "svg", "png")
	measures := graph.Measures()
	var colour *graph.Measure
	if q.has("colour") {
		i := slices.IndexFunc(measures, func(m graph.Measure) bool { return m.Name == q.text("colour") })
		if i < 0 {
			q.fail("colour", "time, calls or bytes")
		} else {
			colour = &measures[i]
		}
	}
	return func(in *input, w io.Writer) (string, error) {
		g, err := buildGraph(in.run, rank, thread)
		if err != nil {
			return "", err
		}
		if colour != nil && colour.Name == "time" && !g.Timed {
			return "", badRequest("colour=time: %s has no times", in.name)
		}
		if collapse > 0 {
			g = g.Collapse(collapse)
		}
		return graphTypes[format], writeGraph(w, g, format, in.name, colour)
	}
}

func buildGraph(run *runfile.Run, rank, thread int) (*graph.Graph, error) {
	proc := slices.IndexFunc(run.Procs, func(p runfile.ProcInfo) bool { return p.Rank == rank })
	if proc < 0 {
		return nil, badRequest("no rank %d in the run", rank)
	}
	stream := slices.IndexFunc(run.Procs[proc].Streams, func(s runfile.StreamInfo) bool { return int(s.Thread) == thread })
	if stream < 0 {
		return nil, badRequest("no thread %d: rank %d has %d recorded threads", thread, rank, len(run.Procs[proc].Streams))
	}
	return graph.Build(run, proc, stream)
}

func writeGraph(w io.Writer, g *graph.Graph, format, name string, colour *graph.Measure) (err error) {
	switch format {
	case "json":
		err = jsondoc.Write(w, jsondoc.NewGraph(name, g))
	case "dot":
		err = g.DOT(w, colour)
	case "graphml":
		err = g.GraphML(w)
	case "svg":
		err = g.SVG(w, colour)
	case "png":
		err = g.PNG(w, colour)
	}
	if errors.Is(err, graph.ErrTooLarge) {
		return &statusError{http.StatusUnprocessableEntity, "the graph is " + err.Error() + "; collapse loops, or use format dot, json or graphml"}
	}
	return err
}

var layoutParams = []string{"rank", "thread", "open", "arguments", "room", siteDepth}

// mostRoom bounds the characters of a line that a client writes itself.
const mostRoom = 100

// askLayout says where the nodes and edges of a graph are drawn whose loops are collapsed but for those that are
// open. The parameter room is that of graph.LayoutOptions.
func askLayout(q *query) answerer {
	rank, thread := q.number("rank", 0, 0, 1<<31-1), q.number("thread", 0, 0, 1<<31-1)
	opt := graph.LayoutOptions{Arguments: q.flag("arguments"), Room: q.number("room", 0, 0, mostRoom)}
	open := q.text("open")
	return asJSON(func(in *input) (any, error) {
		g, err := buildGraph(in.run, rank, thread)
		if err != nil {
			return nil, err
		}
		if open != "all" {
			if g, err = collapsed(g, open); err != nil {
				return nil, err
			}
		}
		l, err := g.Layout(opt)
		if errors.Is(err, graph.ErrTooLarge) {
			return nil, &statusError{http.StatusUnprocessableEntity, "the graph is " + err.Error() + "; collapse loops"}
		}
		if err != nil {
			return nil, err
		}
		return jsondoc.NewGraphLayout(in.name, g, l), nil
	})
}

// collapsed is the graph with all loops collapsed but for those in a list of numbers.
func collapsed(g *graph.Graph, list string) (*graph.Graph, error) {
	open := map[string]bool{}
	for number := range strings.SplitSeq(list, ",") {
		if number == "" {
			continue
		}
		if !slices.ContainsFunc(g.Loops, func(l graph.Loop) bool { return l.Number == number }) {
			return nil, badRequest("open=%s: no loop %s", list, number)
		}
		open[number] = true
	}
	return g.CollapseExcept(open), nil
}
