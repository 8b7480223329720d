package main

import (
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/export/graph"
	"github.com/efg-tools/efg/internal/durable"
)

type graphOptions struct {
	rank, format, output, colour string
	thread, collapse             int
}

// graphFormats are the formats of efg graph, by name, which is their extension,
// too.
var graphFormats = map[string]func(w io.Writer, g *graph.Graph, file string, colour *graph.Measure) error{
	"dot":     func(w io.Writer, g *graph.Graph, _ string, colour *graph.Measure) error { return g.DOT(w, colour) },
	"json":    func(w io.Writer, g *graph.Graph, file string, _ *graph.Measure) error { return g.JSON(w, file) },
	"graphml": func(w io.Writer, g *graph.Graph, _ string, _ *graph.Measure) error { return g.GraphML(w) },
	"svg":     func(w io.Writer, g *graph.Graph, _ string, colour *graph.Measure) error { return g.SVG(w, colour) },
	"png":     func(w io.Writer, g *graph.Graph, _ string, colour *graph.Measure) error { return g.PNG(w, colour) },
}

const wantFormats = "svg, png, dot, json or graphml"

func newGraph() *cobra.Command {
	var opt graphOptions
	cmd := &cobra.Command{
		Use:   "graph FILE --rank N",
		Short: "Draw a rank's event flow graph, or write it for other programs",
		Long: `Draw the event flow graph of one thread of one rank, or write it for other
programs. Nodes are different calls, edges the steps between them. The label of
an edge is its weight or, where a node has several successors, "seq,count" for
each branch run and "first,last,stride,count" for branch runs of equal length
whose sequence numbers form an arithmetic progression.

Formats: svg and png (pictures), dot (the language of Graphviz), json and graphml
(with all that is known of each node). Without --format it is that of the extension
of OUTPUT, else dot. docs/graph.md describes them.`,
		Example: `  efg graph jacobi.efg --rank 2 > jacobi.dot
  efg graph jacobi.efg --collapse=2 --colour time -o jacobi.svg
  efg graph jacobi.efg --format json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeGraph(args[0], &opt, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.rank, "rank", "0", "rank to show")
	f.IntVar(&opt.thread, "thread", 0, "thread to show")
	f.StringVar(&opt.format, "format", "", wantFormats)
	f.StringVarP(&opt.output, "output", "o", "", "write to this file")
	f.IntVar(&opt.collapse, "collapse", 0, "make one node of each loop of this `DEPTH`; without a number 1, the outermost")
	f.Lookup("collapse").NoOptDefVal = "1"
	f.StringVar(&opt.colour, "colour", "", "colour nodes by their share of the "+measureNames())
	completeWords(cmd, "format", slices.Sorted(maps.Keys(graphFormats))...)
	completeWords(cmd, "colour", "time", "calls", "bytes")
	return cmd
}

// measureNames are what nodes can be coloured by: "time, calls or bytes".
func measureNames() string {
	var names []string
	for _, m := range graph.Measures() {
		names = append(names, m.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// check fills in the format, and returns the measure for colours.
func (opt *graphOptions) check() (*graph.Measure, error) {
	if opt.format == "" {
		opt.format = strings.TrimPrefix(filepath.Ext(opt.output), ".")
	}
	if opt.format == "" {
		opt.format = "dot"
	}
	if graphFormats[opt.format] == nil {
		return nil, usageError("--format %s: want %s", opt.format, wantFormats)
	}
	if opt.thread < 0 {
		return nil, usageError("--thread %d: want one thread", opt.thread)
	}
	if opt.collapse < 0 {
		return nil, usageError("--collapse=%d: want a depth of loops, from 1", opt.collapse)
	}
	if opt.colour == "" {
		return nil, nil
	}
	measures := graph.Measures()
	i := slices.IndexFunc(measures, func(m graph.Measure) bool { return m.Name == opt.colour })
	if i < 0 {
		return nil, usageError("--colour %s: want %s", opt.colour, measureNames())
	}
	return &measures[i], nil
}

func writeGraph(path string, opt *graphOptions, out io.Writer) error {
	colour, err := opt.check()
	if err != nil {
		return err
	}
	set, err := parseRanks(opt.rank)
	if err != nil {
		return err
	}
	if len(set) != 1 || set[0][0] != set[0][1] {
		return usageError("--rank %s: want one rank", opt.rank)
	}
	r, err := openRun(path)
	if err != nil {
		return err
	}
	defer r.Close()
	g, err := buildGraph(r, set, opt)
	if err != nil {
		return err
	}
	if opt.colour == "time" && !g.Timed {
		return usageError("--colour time: %s has no times; efg run --time stats records them", path)
	}
	write := func(w io.Writer) error {
		err := graphFormats[opt.format](w, g, path, colour)
		if errors.Is(err, graph.ErrTooLarge) {
			return usageError("rank %d of %s: %w; draw less with --collapse, or write --format dot, json or graphml", g.Rank, path, err)
		}
		return err
	}
	if opt.output == "" {
		return write(out)
	}
	return durable.Write(opt.output, write)
}

func buildGraph(r *efg.Run, set ranks, opt *graphOptions) (*graph.Graph, error) {
	procs, err := set.find(r)
	if err != nil {
		return nil, err
	}
	threads, err := threadsOf(&r.Procs[procs[0]], opt.thread)
	if err != nil {
		return nil, err
	}
	g, err := graph.Build(r, procs[0], threads[0])
	if err == nil && opt.collapse > 0 {
		g = g.Collapse(opt.collapse)
	}
	return g, err
}
