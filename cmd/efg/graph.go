package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/draw/graph"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/printable"
)

type graphOptions struct {
	rank, format, output, colour string
	thread, collapse             int
	asGiven                      bool // collapse was given
	depth                        siteDepth
}

// graphFormats are the formats of efg graph except pictures, by name, which is also their
// extension.
var graphFormats = map[string]func(w io.Writer, g *graph.Graph, file string, colour *graph.Measure) error{
	"dot": func(w io.Writer, g *graph.Graph, _ string, colour *graph.Measure) error { return g.DOT(w, colour) },
	"json": func(w io.Writer, g *graph.Graph, file string, _ *graph.Measure) error {
		return jsondoc.Write(w, jsondoc.NewGraph(file, g))
	},
	"graphml": func(w io.Writer, g *graph.Graph, _ string, _ *graph.Measure) error { return g.GraphML(w) },
}

// pictureFormats are those that are pictures.
var pictureFormats = map[string]func(p *graph.Picture, w io.Writer) error{"svg": (*graph.Picture).SVG, "png": (*graph.Picture).PNG}

const wantFormats = "svg, png, dot, json or graphml"

func newGraph() *cobra.Command {
	var opt graphOptions
	cmd := &cobra.Command{
		Use:   "graph FILE --rank N",
		Short: "Draw a rank's event flow graph, or write it for other programs",
		Long: `Draw the event flow graph of one thread of one rank, or write it for other
programs. Nodes are distinct calls, edges the steps between them. The label of
an edge is its weight or, where a node has several successors, "seq,count" for
each branch run and "first,last,stride,count" for branch runs of equal length
whose sequence numbers form an arithmetic progression.

Formats: svg and png (pictures), dot (the language of Graphviz), json and graphml
(with all data of each node). Without --format, the extension of OUTPUT decides; the
default is dot. docs/graph.md describes the formats. If a graph is too large for a
readable picture, its outermost loops are collapsed; --collapse overrides that, and
--collapse=0 collapses none.`,
		Example: `  efg graph jacobi.efg --rank 2 > jacobi.dot
  efg graph jacobi.efg --collapse=2 --colour time -o jacobi.svg
  efg graph jacobi.efg --format json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.asGiven = cmd.Flags().Changed("collapse")
			return writeGraph(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.rank, "rank", "0", "rank to show")
	f.IntVar(&opt.thread, "thread", 0, "thread to show")
	f.StringVar(&opt.format, "format", "", wantFormats)
	f.StringVarP(&opt.output, "output", "o", "", "write to this file")
	f.IntVar(&opt.collapse, "collapse", 0, "collapse each loop of this nesting `DEPTH` into one node; 1, the outermost, if no number is given; 0: none (default: as needed for a picture)")
	f.Lookup("collapse").NoOptDefVal = "1"
	opt.depth.flag(cmd)
	f.StringVar(&opt.colour, "colour", "", "colour nodes by their share of the "+measureNames())
	completeWords(cmd, "format", "svg", "png", "dot", "json", "graphml")
	completeWords(cmd, "colour", "time", "calls", "bytes")
	return cmd
}

// measureNames lists what nodes can be coloured by: "time, calls or bytes".
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
	if graphFormats[opt.format] == nil && pictureFormats[opt.format] == nil {
		return nil, usageError("--format %s: want %s", opt.format, wantFormats)
	}
	if opt.thread < 0 {
		return nil, usageError("--thread %d: want one thread", opt.thread)
	}
	if opt.collapse < 0 {
		return nil, usageError("--collapse=%d: want a nesting depth of loops from 1, or 0 for none", opt.collapse)
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

func writeGraph(path string, opt *graphOptions, out, errOut io.Writer) error {
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
	r, err := openShown(path, opt.format == "json")
	if err != nil {
		return err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	g, err := buildGraph(r, set, opt)
	if err != nil {
		return err
	}
	if opt.colour == "time" && !g.Timed {
		return usageError("--colour time: %s has no times; efg run --time stats records them", path)
	}
	write := func(w io.Writer) error {
		if pictureFormats[opt.format] == nil {
			return graphFormats[opt.format](w, g, path, colour)
		}
		err := drawGraph(w, g, opt, colour, errOut)
		if errors.Is(err, graph.ErrTooLarge) {
			return usageError("rank %d of %s: %w; %swrite --format dot, json or graphml", g.Rank, path, err, opt.lessText())
		}
		return err
	}
	if opt.output == "" {
		if opt.format != "json" {
			out = printable.Data(out)
		}
		return write(out)
	}
	return durable.Write(opt.output, write)
}

// lessText says how to reduce a picture that is too large, if that is possible.
func (opt *graphOptions) lessText() string {
	if opt.asGiven {
		return "draw less with --collapse, or "
	}
	return ""
}

// drawGraph draws a graph; with collapsed loops if necessary for a readable picture, unless
// --collapse is given.
func drawGraph(w io.Writer, g *graph.Graph, opt *graphOptions, colour *graph.Measure, errOut io.Writer) error {
	draw := pictureFormats[opt.format]
	if opt.asGiven {
		p, err := g.Picture(colour)
		if err != nil {
			return err
		}
		return draw(p, w)
	}
	p, depth, err := g.Readable(colour, opt.format == "png")
	if err != nil {
		return err
	}
	if depth > 0 {
		loops := "the outermost loops"
		if depth > 1 {
			loops = fmt.Sprintf("loops of depth %d", depth)
		}
		fmt.Fprintf(errOut, "efg: %s and %s are too many for a readable picture: %s are collapsed, which leaves %s; --collapse=0 draws all\n",
			plural(len(g.Nodes), "node"), plural(len(g.Edges), "edge"), loops, plural(p.Nodes(), "node"))
	}
	return draw(p, w)
}

func buildGraph(r *runfile.Run, set ranks, opt *graphOptions) (*graph.Graph, error) {
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
