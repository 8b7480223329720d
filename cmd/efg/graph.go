package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
)

func newGraph() *cobra.Command {
	var rank string
	var thread int
	cmd := &cobra.Command{
		Use:   "graph FILE --rank N",
		Short: "Write a rank's event flow graph in the DOT language",
		Long: `Write the event flow graph of one thread of one rank in the DOT language of
Graphviz. Nodes are different calls, edges the steps between them. The label of
an edge is its weight or, where a node has several successors, "seq,count" for
each branch run and "first,last,stride,count" for branch runs of equal length
whose sequence numbers form an arithmetic progression.`,
		Example: "  efg graph jacobi.efg --rank 2 > jacobi.dot",
		Args:    argCount(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return graph(args[0], rank, thread, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&rank, "rank", "0", "rank to show")
	cmd.Flags().IntVar(&thread, "thread", 0, "thread to show")
	return cmd
}

func graph(path, rank string, thread int, out io.Writer) error {
	set, err := parseRanks(rank)
	if err != nil {
		return err
	}
	if len(set) != 1 || set[0][0] != set[0][1] {
		return usageError("--rank %s: want one rank", rank)
	}
	if thread < 0 {
		return usageError("--thread %d: want one thread", thread)
	}
	r, err := openRun(path)
	if err != nil {
		return err
	}
	defer r.Close()
	procs, err := set.find(r)
	if err != nil {
		return err
	}
	threads, err := threadsOf(&r.Procs[procs[0]], thread)
	if err != nil {
		return err
	}
	run, err := reconstruct.NewRun(r)
	if err != nil {
		return err
	}
	p, err := run.Process(procs[0])
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	writeDOT(w, p, threads[0])
	return w.Flush()
}

// writeDOT writes the graph of stream j. Errors stick in w.
func writeDOT(w *bufio.Writer, p *reconstruct.Process, j int) {
	s := &p.Data().Streams[j]
	fmt.Fprintf(w, "digraph \"rank %d, thread %d\" {\n", p.Data().Rank, s.Thread)
	fmt.Fprintf(w, "\tnode [shape=box, fontname=\"Helvetica\"];\n")
	for i := range s.Nodes {
		t := p.Describe(j, i)
		label := t.Op + "\n" + strings.Join(t.Args, "\n") + "\n" + t.Site
		style := ""
		if n := s.Nodes[i].Counted; n > 0 {
			label += fmt.Sprintf("\n%d polls, not in the sequence", n)
			style = ", style=dashed"
		}
		fmt.Fprintf(w, "\tn%d [label=%s%s];\n", i, quoteDOT(strings.Replace(label, "\n\n", "\n", 1)), style)
	}
	for i := range s.Nodes {
		writeEdges(w, i, &s.Nodes[i])
	}
	fmt.Fprintf(w, "}\n")
}

func writeEdges(w *bufio.Writer, from int, n *efg.Node) {
	if len(n.Edges) < 2 {
		for _, e := range n.Edges {
			fmt.Fprintf(w, "\tn%d -> n%d [label=\"%d\"];\n", from, e.To, e.Weight)
		}
		return
	}
	for _, e := range efg.StrideEdges(n) {
		fmt.Fprintf(w, "\tn%d -> n%d [label=\"%v\"];\n", from, e.To, e)
	}
}

// quoteDOT quotes a label; line ends align what is before them to the left.
func quoteDOT(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\l`).Replace(s)
	return `"` + s + `\l"`
}
