package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/draw/heatmap"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/terminal"
)

type matrixOptions struct {
	analysis.MatrixOptions
	csv, json bool
	textForm
	png       string
	top, bins int
	from, to  string
	order     string
}

func newMatrix() *cobra.Command {
	var opt matrixOptions
	cmd := &cobra.Command{
		Use:   "matrix FILE",
		Short: "Show which rank sent how much to which",
		Long: `Show how many bytes and messages each rank sent to each other rank, as recorded in
the senders' calls. Collectives are included with --collectives, by their meaning rather
than their implementation: a broadcast goes from the root to all others. The receivers'
calls are only counted; a note reports where they disagree with the senders'.

With --from or --to only a block of the matrix is shown. --order host has the ranks of a
host together, --order topology those that send each other messages: the blocks of a grid,
the subtrees of a tree, neighbours after neighbours otherwise. --from and --to are then
places in this order, from 0.`,
		Example: `  efg matrix jacobi.efg
  efg matrix jacobi.efg --collectives --csv > jacobi.csv
  efg matrix jacobi.efg --collectives --one-sided --png jacobi.png
  efg matrix jacobi.efg --from 0-1 --to 2-3`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return matrix(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opt.Collectives, "collectives", false, "include collective operations")
	f.BoolVar(&opt.OneSided, "one-sided", false, "include puts, gets and accumulates")
	f.BoolVar(&opt.csv, "csv", false, "write one line per pair: from,to,bytes,messages")
	f.BoolVar(&opt.json, "json", false, "write JSON")
	opt.textForm.flags(cmd)
	f.StringVar(&opt.from, "from", "", "sending `RANKS`, as in 64-127 (default all)")
	f.StringVar(&opt.to, "to", "", "receiving `RANKS`, as in 64-127 (default all)")
	f.IntVar(&opt.bins, "bins", 0, "with --json: sum consecutive ranks into at most `N` rows and columns")
	f.StringVar(&opt.order, "order", string(analysis.ByRank), "`ORDER` of the ranks in tables, pictures and bins: "+strings.Join(analysis.RankOrders, ", "))
	f.StringVar(&opt.png, "png", "", "write a PNG of the matrix to `FILE`")
	f.IntVar(&opt.top, "top", 20, "pairs to show if the matrix is too large for a table; 0: all")
	return cmd
}

func matrix(path string, opt *matrixOptions, out, errOut io.Writer) error {
	if err := opt.check(); err != nil {
		return err
	}
	r, err := openShown(path, opt.json || opt.csv)
	if err != nil {
		return err
	}
	defer r.Close()
	bar := newProgress(errOut, "ranks", uint64(len(r.Procs)))
	m, err := analysis.NewMatrix(r, opt.MatrixOptions, bar.show)
	bar.close()
	if err != nil {
		return err
	}
	m.Arrange(r, analysis.RankOrder(opt.order))
	return writeMatrix(out, path, m, opt)
}

func (opt *matrixOptions) check() error {
	switch {
	case opt.csv && opt.json:
		return usageError("--csv and --json: want one of them")
	case opt.top < 0:
		return usageError("--top %d: want a number of pairs, or 0 for all", opt.top)
	case opt.bins < 0 || opt.bins > 0 && !opt.json:
		return usageError("--bins %d: want a number of rows, with --json", opt.bins)
	case !slices.Contains(analysis.RankOrders, opt.order):
		return usageError("--order %s: want %s", opt.order, strings.Join(analysis.RankOrders, ", "))
	case opt.order != string(analysis.ByRank) && (opt.csv || opt.json && opt.bins == 0):
		return usageError("--order %s: want a table, --png, or --json with --bins", opt.order)
	}
	return nil
}

// block returns the requested block, and whether there is one.
func (opt *matrixOptions) block(m *analysis.Matrix) (b analysis.Block, given bool, err error) {
	var spans [2]*[2]int
	for i, text := range []string{opt.from, opt.to} {
		set, err := rankset.Parse(text)
		if err != nil || len(set) > 1 {
			return b, false, usageError("--from, --to: want ranks as in 64-127")
		}
		if len(set) == 1 {
			spans[i] = &set[0]
		}
	}
	b, given = jsondoc.BlockOf(m, spans[0], spans[1])
	if given && !m.Valid(b) {
		return b, given, usageError("--from, --to: want ranks below %d", m.Size)
	}
	return b, given, nil
}

func writeMatrix(out io.Writer, path string, m *analysis.Matrix, opt *matrixOptions) error {
	block, given, err := opt.block(m)
	if err != nil {
		return err
	}
	if opt.png != "" {
		err := writePicture(opt.png, func(w io.Writer) error { return heatmap.PNG(w, m.Bin(block, heatmap.Bins)) })
		if err != nil || !opt.csv && !opt.json {
			return err
		}
	}
	if opt.bins > 0 {
		return jsondoc.Write(out, jsondoc.NewMatrixBins(path, m, opt.MatrixOptions, analysis.RankOrder(opt.order), block, opt.bins))
	}
	if given {
		if m, err = m.Cut(block); err != nil {
			return err
		}
	}
	w := opt.screen(out)
	switch {
	case opt.json && given:
		err = jsondoc.Write(w, jsondoc.NewMatrixBlock(path, m, opt.MatrixOptions, block))
	case opt.json:
		err = jsondoc.Write(w, jsondoc.NewMatrix(path, m, opt.MatrixOptions))
	case opt.csv:
		err = matrixCSV(w, m)
	default:
		err = matrixText(w, path, m, block, opt)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

// maxExpanded is the maximum number of pairs that are written one by one.
const maxExpanded = 200_000_000

func matrixCSV(w io.Writer, m *analysis.Matrix) error {
	if n := m.Expanded(); n > maxExpanded {
		return usageError("%s pairs are too many for --csv; --json keeps collectives together", grouped(n))
	}
	fmt.Fprintln(w, "from,to,bytes,messages")
	return m.Each(func(e analysis.Entry) error {
		_, err := fmt.Fprintf(w, "%d,%d,%d,%d\n", e.From, e.To, e.Bytes, e.Messages)
		return err
	})
}

// tableRanks is the maximum number of ranks of a matrix shown as a table.
const tableRanks = 16

func matrixText(w *terminal.Screen, path string, m *analysis.Matrix, block analysis.Block, opt *matrixOptions) error {
	all, sent, received := m.Totals()
	sent, received = placed(m, sent, block.From), placed(m, received, block.To)
	fmt.Fprintf(w, "file      %s\n", path)
	fmt.Fprintf(w, "ranks     %d\n", m.Size)
	if block != m.All() {
		what := "ranks"
		if m.Order != nil {
			what = "places"
		}
		fmt.Fprintf(w, "block     %s %d-%d to %s %d-%d\n", what, block.From.First, block.From.Last, what, block.To.First, block.To.Last)
	}
	fmt.Fprintf(w, "messages  %s, %s\n", grouped(all.Messages), byteText(all.Bytes))
	var err error
	if max(block.From.Size(), block.To.Size()) <= tableRanks {
		err = matrixTables(w, m, block, sent, received)
	} else {
		matrixTotals(w, m, block, sent, received)
		err = heaviestPairs(w, m, opt.top)
	}
	matrixNotes(w, m)
	return err
}

// placed returns what is known of the ranks at some places, in order.
func placed(m *analysis.Matrix, ofRank []analysis.Cell, places analysis.Range) []analysis.Cell {
	list := make([]analysis.Cell, 0, places.Size())
	for _, rank := range m.Ranks(places) {
		list = append(list, ofRank[rank])
	}
	return list
}

// matrixTables shows bytes and messages with a row for each sender.
func matrixTables(w io.Writer, m *analysis.Matrix, block analysis.Block, sent, received []analysis.Cell) error {
	cells := map[[2]int]analysis.Cell{}
	err := m.Each(func(e analysis.Entry) error {
		cells[[2]int{e.From, e.To}] = e.Cell
		return nil
	})
	for _, what := range []struct {
		title string
		text  func(analysis.Cell) string
	}{
		{"Bytes, from the rank of the row to that of the column", func(c analysis.Cell) string { return byteText(c.Bytes) }},
		{"Messages", func(c analysis.Cell) string { return grouped(c.Messages) }},
	} {
		t := &terminal.Table{}
		t.Right("")
		for _, to := range m.Ranks(block.To) {
			t.Right(fmt.Sprint(to))
		}
		t.Right("sent")
		for i, from := range m.Ranks(block.From) {
			row := []string{fmt.Sprint(from)}
			for _, to := range m.Ranks(block.To) {
				text := "."
				if c, ok := cells[[2]int{from, to}]; ok {
					text = what.text(c)
				}
				row = append(row, text)
			}
			t.Row(append(row, what.text(sent[i]))...)
		}
		last := []string{"received"}
		for to := range received {
			last = append(last, what.text(received[to]))
		}
		t.Row(append(last, "")...)
		fmt.Fprintf(w, "\n%s\n", what.title)
		t.Write(w)
	}
	return err
}

// matrixTotals shows how ranks of a block differ in what they send and receive in it.
func matrixTotals(w io.Writer, m *analysis.Matrix, block analysis.Block, sent, received []analysis.Cell) {
	t := &terminal.Table{}
	t.Left("per rank")
	t.Right("min", "mean", "max", "of rank")
	for _, row := range []struct {
		name  string
		first int // place
		list  []analysis.Cell
		of    func(analysis.Cell) uint64
		text  func(uint64) string
	}{
		{"bytes sent", block.From.First, sent, func(c analysis.Cell) uint64 { return c.Bytes }, byteText},
		{"bytes received", block.To.First, received, func(c analysis.Cell) uint64 { return c.Bytes }, byteText},
		{"messages sent", block.From.First, sent, func(c analysis.Cell) uint64 { return c.Messages }, grouped},
		{"messages received", block.To.First, received, func(c analysis.Cell) uint64 { return c.Messages }, grouped},
	} {
		least, most, at, sum := row.of(row.list[0]), uint64(0), 0, uint64(0)
		for i, c := range row.list {
			v := row.of(c)
			least = min(least, v)
			if v > most {
				most, at = v, i
			}
			sum += v
		}
		t.Row(row.name, row.text(least), row.text(sum/uint64(len(row.list))), row.text(most), fmt.Sprint(m.RankAt(row.first+at)))
	}
	fmt.Fprintln(w)
	t.Write(w)
}

// heaviestPairs lists the pairs that exchange the most data. Collectives over too many ranks to
// list are left out.
func heaviestPairs(w io.Writer, m *analysis.Matrix, top int) error {
	pairs := &firsts[analysis.Entry]{most: top, compare: func(x, y *analysis.Entry) int { return compare(y.Bytes, x.Bytes) }}
	if top == 0 {
		pairs.most = math.MaxInt
	}
	title := "Pairs"
	if m.Expanded() <= maxExpanded/10 {
		err := m.Each(func(e analysis.Entry) error {
			pairs.add(&e)
			return nil
		})
		if err != nil {
			return err
		}
	} else {
		title = "Pairs, without collectives to all"
		for i := range m.Entries {
			pairs.add(&m.Entries[i])
		}
	}
	list := pairs.list()
	if len(list) < pairs.added {
		fmt.Fprintf(w, "\n%s: the first %d of %s, by bytes\n", title, top, grouped(uint64(pairs.added)))
	} else {
		fmt.Fprintf(w, "\n%s, by bytes\n", title)
	}
	t := &terminal.Table{}
	t.Right("from", "to", "bytes", "messages")
	for _, e := range list {
		t.Row(fmt.Sprint(e.From), fmt.Sprint(e.To), byteText(e.Bytes), grouped(e.Messages))
	}
	t.Write(w)
	return nil
}

// maxNotes is the maximum number of listed ranks with unmatched messages.
const maxNotes = 10

func matrixNotes(w io.Writer, m *analysis.Matrix) {
	if m.Outside.Messages > 0 {
		fmt.Fprintf(w, "\nnote: %s more messages, %s, whose other side is unknown (a process of another MPI_COMM_WORLD, neighbours that were not recorded)\n",
			grouped(m.Outside.Messages), byteText(m.Outside.Bytes))
	}
	if len(m.Unmatched) == 0 {
		return
	}
	fmt.Fprintf(w, "\nnote: sends and receives differ in number. Point-to-point messages sent to a rank, and receives it posted:\n")
	t := &terminal.Table{}
	t.Right("rank", "sent to it", "receives")
	for _, u := range m.Unmatched[:min(len(m.Unmatched), maxNotes)] {
		t.Row(fmt.Sprint(u.Rank), grouped(u.Sent), grouped(u.Received))
	}
	t.Write(w)
	if n := len(m.Unmatched) - maxNotes; n > 0 {
		fmt.Fprintf(w, "and %s more ranks\n", grouped(uint64(n)))
	}
}
