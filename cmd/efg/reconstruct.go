package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/reconstruct"
)

// reconstructOptions are the options of efg reconstruct.
type reconstructOptions struct {
	rank     string
	thread   int
	from, to uint64
	format   string
	clock    string
	verify   bool
	depth    siteDepth
}

func newReconstruct() *cobra.Command {
	var opt reconstructOptions
	cmd := &cobra.Command{
		Use:   "reconstruct FILE",
		Short: "Print every recorded call, in order",
		Long: `Print every call of a recorded run, in order, with its arguments. Streams follow one
another by rank and, within a rank, by thread.

Formats: jsonl, one JSON object per line (the default unless the output is a
terminal); text, one human-readable line per event (the default on a terminal); mtf,
JSON Lines in the terms of the MPI Trace Format.`,
		Example: `  efg reconstruct jacobi.efg --rank 2
  efg reconstruct jacobi.efg --rank 0-3,7 --from 1000 --to 1100 --format text
  efg reconstruct jacobi.efg --verify`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return reconstructRun(args[0], opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.rank, "rank", "", "ranks to show, as in 0-3,7 (default all)")
	f.IntVar(&opt.thread, "thread", -1, "thread to show (default all)")
	f.Uint64Var(&opt.from, "from", 0, "first event to show, counted from 0 in each stream")
	f.Uint64Var(&opt.to, "to", 0, "event to stop before (default: end of the stream)")
	f.StringVar(&opt.format, "format", "", "jsonl, text or mtf")
	clockFlag(cmd, &opt.clock)
	opt.depth.listFlag(cmd)
	f.BoolVar(&opt.verify, "verify", false, "compare the number and hash of the events with the recorder's")
	completeWords(cmd, "format", "jsonl", "text", "mtf")
	return cmd
}

func reconstructRun(path string, opt reconstructOptions, out, errOut io.Writer) error {
	opt.format = eventFormat(opt.format, out)
	write, err := eventWriter(opt.format)
	if err != nil {
		return err
	}
	set, err := parseRanks(opt.rank)
	if err != nil {
		return err
	}
	if opt.to != 0 && opt.to < opt.from {
		return usageError("--to %d: lies before --from %d", opt.to, opt.from)
	}
	r, err := openShown(path, opt.format != "text" || opt.verify)
	if err != nil {
		return err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	earlyNote(errOut, r)
	if r.Meta.Polls == runfile.PollTotals {
		fmt.Fprintln(errOut, "efg: unsuccessful polls are left out: the run was recorded with --polls totals, which only counts them")
	}
	procs, err := set.find(r)
	if err != nil {
		return err
	}
	if err := checkClock(opt.clock); err != nil {
		return err
	}
	if !opt.verify {
		if err := correctClocks(context.Background(), r, opt.clock, errOut); err != nil {
			return err
		}
	}
	bar := progressBeside(out, errOut, uint64(len(procs)))
	defer bar.close()
	if opt.verify {
		return verify(r, procs, opt.thread, out, bar)
	}
	if opt.format == "mtf" {
		out = printable.Data(out)
	}
	return writeEvents(r, procs, opt, write, out, bar)
}

// writer appends events to b in some format, and a call in progress, if the format supports it.
type writer struct {
	event   func(e *reconstruct.Event, b []byte) []byte
	pending func(c *reconstruct.Pending, b []byte) []byte
}

// eventFormat returns the requested format, or the default for a terminal or other output.
func eventFormat(given string, out io.Writer) string {
	switch {
	case given != "":
		return given
	case printable.IsTerminal(out):
		return "text"
	}
	return "jsonl"
}

func eventWriter(format string) (writer, error) {
	switch format {
	case "jsonl":
		return writer{(*reconstruct.Event).AppendJSON, (*reconstruct.Pending).AppendJSON}, nil
	case "text":
		return writer{(*reconstruct.Event).AppendText, (*reconstruct.Pending).AppendText}, nil
	case "mtf":
		return writer{event: (*reconstruct.Event).AppendMTF}, nil
	}
	return writer{}, usageError("--format %s: want jsonl, text or mtf", format)
}

func writeEvents(r *runfile.Run, procs []int, opt reconstructOptions, write writer, out io.Writer, bar *progress) error {
	run, err := reconstruct.NewRun(r)
	if err != nil {
		return err
	}
	for n, i := range procs {
		bar.show(uint64(n))
		threads, err := threadsOf(&r.Procs[i], opt.thread)
		if err != nil {
			return err
		}
		p, err := run.Process(i)
		if err != nil {
			return err
		}
		for _, j := range threads {
			if err := writeStream(p, j, opt, write, out); err != nil {
				return fmt.Errorf("rank %d: %w", r.Procs[i].Rank, err)
			}
		}
	}
	return nil
}

func writeStream(p *reconstruct.Process, j int, opt reconstructOptions, write writer, out io.Writer) error {
	const full = 1 << 16
	b := make([]byte, 0, 2*full)
	what := reconstruct.Options{From: opt.from, To: opt.to, Issues: opt.format == "mtf"}
	for e, err := range p.Events(j, what) {
		if err != nil {
			return err
		}
		if b = write.event(e, b); len(b) >= full {
			if _, err := out.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	if c := p.Pending(j); c != nil && write.pending != nil && opt.from <= c.After() && (opt.to == 0 || opt.to > c.After()) {
		b = write.pending(c, b)
	}
	_, err := out.Write(b)
	return err
}

// verify recomputes number and hash of the events of every stream.
func verify(r *runfile.Run, procs []int, thread int, out io.Writer, bar *progress) error {
	w := bufio.NewWriter(out)
	defer w.Flush()
	var streams, failed int
	var events uint64
	v := runfile.NewVerifier(r)
	for n, i := range procs {
		bar.show(uint64(n))
		threads, err := threadsOf(&r.Procs[i], thread)
		if err != nil {
			return err
		}
		for k, err := range v.Process(i, threads) {
			info := &r.Procs[i].Streams[threads[k]]
			streams++
			events += info.Events
			if err != nil {
				failed++
			}
			if err != nil || len(procs) <= 64 {
				fmt.Fprintf(w, "rank %d, thread %d: %d events, %s\n", r.Procs[i].Rank, info.Thread, info.Events, verdict(info, err))
			}
		}
	}
	if err := v.Close(); err != nil {
		failed++
		fmt.Fprintf(w, "WRONG: %v\n", err)
	}
	if failed > 0 {
		fmt.Fprintf(w, "%d of %d streams differ from what was recorded\n", failed, streams)
		return &exitError{status: 1}
	}
	fmt.Fprintf(w, "all %d events of %d streams are as recorded\n", events, streams)
	return nil
}

func verdict(s *runfile.StreamInfo, err error) string {
	switch {
	case err != nil:
		return "WRONG: " + err.Error()
	case s.Dropped > 0:
		return fmt.Sprintf("verified; %d more were not recorded for lack of space", s.Dropped)
	case !s.Complete():
		return "verified up to the end of the recording"
	}
	return "verified"
}
