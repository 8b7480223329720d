package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/whatif"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/network"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type whatifOptions struct {
	compute                      []string
	latency, overhead, bandwidth string
	network, ownNetwork          string
	ideal, balance               bool
	clock                        string
	top                          int
	depth                        siteDepth
	answerForm
}

func newWhatif() *cobra.Command {
	var opt whatifOptions
	cmd := &cobra.Command{
		Use:   "whatif FILE",
		Short: "Predict how long a run would take under other conditions",
		Long: `Predict how long a run would have taken if ranks or parts of the program computed faster
or slower, or on another network. The recorded calls are followed along what they depend
on; waiting changes with what is waited for.

Without a change, show what would shorten the run most: which part of the critical path,
if it took a tenth less time, an ideal network, or ranks that compute for equally long.

--compute gives the time of computations as a factor of the recorded one: of ranks
("rank 0-3: 0.9"), before the calls at a callsite ("site foo.c:88: 0.5"), or of all
("all: 2"). It can be given several times.

--network replaces the recorded network by one that efg measure-network has measured. With
--network recorded, each call takes what calls of its kind typically take in the run, instead
of what it took itself.

The times of each call are needed (the default of efg run). See docs/whatif.md.`,
		Example: `  efg whatif traced.efg
  efg whatif traced.efg --compute 'rank 0: 0.5'
  efg whatif traced.efg --latency 1us --bandwidth 12GB/s
  efg whatif traced.efg --network recorded --compute 'all: 0.5'
  efg whatif traced.efg --ideal-network --json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showWhatif(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&opt.compute, "compute", nil, "`part` that takes another time, and the factor: 'rank 3: 0.9'")
	f.StringVar(&opt.latency, "latency", "", "`time` from sending a message until it is there, as in 1us (default as recorded)")
	f.StringVar(&opt.overhead, "overhead", "", "`time` of a processor for a message (default as recorded)")
	f.StringVar(&opt.bandwidth, "bandwidth", "", "bytes per `time`, as in 12GB/s or 100Gbit/s (default as recorded)")
	f.StringVar(&opt.network, "network", "", "`file` of efg measure-network, or recorded: the network to predict for (default as recorded)")
	f.StringVar(&opt.ownNetwork, "own-network", "", "`file` of efg measure-network: the recorded network (default as found in the run)")
	f.BoolVar(&opt.ideal, "ideal-network", false, "calls take no time, but wait for what they depend on")
	f.BoolVar(&opt.balance, "balance", false, "all ranks compute for equally long")
	clockFlag(cmd, &opt.clock)
	opt.depth.flag(cmd)
	f.IntVar(&opt.top, "top", 10, "parts of the critical path to show; 0: all")
	opt.flags(cmd, "overview.gains")
	return cmd
}

func showWhatif(path string, opt *whatifOptions, out, errOut io.Writer) error {
	if err := checkTop(opt.top, "parts"); err != nil {
		return err
	}
	q, err := opt.question()
	if err != nil {
		return err
	}
	r, err := openShown(path, false)
	if err != nil {
		return err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	if err := correctClocks(context.Background(), r, opt.clock, errOut); err != nil {
		return err
	}
	rep, err := predict(r, q, errOut)
	var question *whatif.QuestionError
	switch {
	case errors.Is(err, match.ErrNoTimes), errors.As(err, &question):
		return usageError("%s: %w", path, err)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	return opt.write(out, func() any { return jsondoc.NewWhatif(path, rep) }, func(w *terminal.Screen) { writeWhatif(w, path, rep, opt.top) })
}

func predict(r *runfile.Run, q *whatif.Question, errOut io.Writer) (*whatif.Report, error) {
	bar := newProgress(errOut, "ranks", uint64(len(r.Procs)))
	defer bar.close()
	return whatif.New(r, q, bar.show)
}

// question is what the options ask.
func (opt *whatifOptions) question() (*whatif.Question, error) {
	q := &whatif.Question{Ideal: opt.ideal, Balance: opt.balance}
	if err := opt.networks(q); err != nil {
		return nil, err
	}
	for _, text := range opt.compute {
		c, err := whatif.ParseChange(text)
		if err != nil {
			return nil, usageError("--compute %w", err)
		}
		q.Changes = append(q.Changes, c)
	}
	for _, p := range []struct {
		name, text string
		to         **float64
		parse      func(string) (float64, error)
	}{
		{"latency", opt.latency, &q.Latency, whatif.ParseTime}, {"overhead", opt.overhead, &q.Overhead, whatif.ParseTime},
		{"bandwidth", opt.bandwidth, &q.PerByte, whatif.ParseBandwidth},
	} {
		if p.text == "" {
			continue
		}
		v, err := p.parse(p.text)
		if err != nil {
			return nil, usageError("--%s %w", p.name, err)
		}
		*p.to = &v
	}
	return q, nil
}

// recordedNetwork is the value of --network for the recorded one.
const recordedNetwork = "recorded"

// networks reads the files of networks.
func (opt *whatifOptions) networks(q *whatif.Question) (err error) {
	if opt.network == recordedNetwork {
		q.Modelled = true
	} else if q.Network, err = readNetwork(opt.network); err != nil {
		return err
	}
	q.Own, err = readNetwork(opt.ownNetwork)
	return err
}

// readNetwork returns nil if there is no file.
func readNetwork(path string) (*whatif.Network, error) {
	if path == "" {
		return nil, nil
	}
	n, err := network.Read(path)
	if err != nil {
		return nil, usageError("%s: %w", path, err)
	}
	of := func(c *network.Class) *whatif.Network {
		if c == nil {
			return nil
		}
		return &whatif.Network{Latency: c.Latency, Overhead: c.Overhead, PerByte: c.PerByte}
	}
	same, between := of(n.Class(network.SameHost)), of(n.Class(network.OtherHost))
	if same == nil {
		return between, nil
	}
	same.Between = between
	return same, nil
}

func writeWhatif(w *terminal.Screen, path string, rep *whatif.Report, top int) {
	fmt.Fprintf(w, "file      %s\n", path)
	fmt.Fprintf(w, "ranks     %d\n", rep.Ranks)
	fmt.Fprintf(w, "time      %s from MPI_Init to MPI_Finalize\n", units.Nanoseconds(rep.Recorded.Time))
	fmt.Fprintf(w, "network   %s\n", networkText(rep))
	fmt.Fprintf(w, "          with typical times of calls instead of the recorded ones the time is %s, %s\n\n", units.Nanoseconds(rep.Modelled.Time), deviation(&rep.Modelled, rep))
	t := &terminal.Table{}
	t.Left("")
	t.Right("time", "change", "parallel efficiency")
	t.Details("load balance", "communication")
	row := func(name string, p *whatif.Prediction) {
		t.Row(name, units.Nanoseconds(p.Time), deviation(p, rep), percent(p.Parallel()), percent(p.LoadBalance()), percent(p.Communication()))
	}
	row("as recorded", &rep.Recorded)
	if rep.Asked != nil {
		row("predicted", rep.Asked)
		t.Write(w)
		whatifNote(w, rep)
		return
	}
	row("on an ideal network", &rep.Ideal)
	row("ranks compute equally long", &rep.Balanced)
	t.Write(w)
	gains := rep.Gains[:cutRows(w, "If a part of the critical path took a tenth less time", len(rep.Gains), top)]
	t = &terminal.Table{}
	t.Right("saves")
	t.Shares("of time")
	t.Details("on path")
	t.Names("in")
	for i := range gains {
		g := &gains[i]
		saved := rep.Recorded.Time - g.Time
		t.Row(units.Nanoseconds(max(saved, 0)), percent(max(saved, 0)/max(rep.Recorded.Time, 1)), share(g.OnPath, rep.Path), regionText(&g.Region))
	}
	t.Write(w)
	whatifNote(w, rep)
}

// unexplained is how far the time may be that typical times of calls give, for them to describe the
// run.
const unexplained = 0.1

func whatifNote(w io.Writer, rep *whatif.Report) {
	if rep.End != nil {
		fmt.Fprintf(w, "\nnote: %s\n", endNote(*rep.End))
	}
	if m := rep.Modelled.Time; m < (1-unexplained)*rep.Recorded.Time || m > (1+unexplained)*rep.Recorded.Time {
		fmt.Fprintf(w, "\nnote: calls of one kind took very different times: ranks may have shared processors. Predictions keep\n"+
			"these times; another network changes only its own part\n")
	}
}

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// deviation is how a prediction differs from the recorded time.
func deviation(p *whatif.Prediction, rep *whatif.Report) string {
	if rep.Recorded.Time <= 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", 100*(p.Time/rep.Recorded.Time-1))
}

func networkText(rep *whatif.Report) string {
	n := &rep.Own
	latency, bandwidth := "latency and overhead not known", "bandwidth not known"
	if n.Latency > 0 {
		latency = fmt.Sprintf("latency %s, overhead %s", units.Nanoseconds(n.Latency), units.Nanoseconds(n.Overhead))
	}
	if n.PerByte > 0 {
		bandwidth = "bandwidth " + units.Bytes(1e9/n.PerByte) + "/s"
	}
	from := "no message was waited for"
	switch {
	case rep.Given:
		from = "as measured"
	case rep.Messages > 0:
		from = "by " + pluralOf(rep.Messages, "message") + " that were waited for"
	}
	return fmt.Sprintf("%s, %s: %s", latency, bandwidth, from)
}
