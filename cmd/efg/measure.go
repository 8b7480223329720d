package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/network"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type measureOptions struct {
	out   string
	mpicc string
	pairs int
	json  bool
	textForm
}

func newMeasureNetwork() *cobra.Command {
	var opt measureOptions
	cmd := &cobra.Command{
		Use:   "measure-network [flags] -- LAUNCHER [ARG...]",
		Short: "Measure latency, overhead and bandwidth between ranks, for efg whatif",
		Long: `Measure the LogGPS parameters of a network: latency, the overhead of a processor, the gap
between messages, the time per byte, and the size from which a sender waits for its receiver;
for pairs of ranks on one host and on two. LAUNCHER starts the ranks: it is what would
stand before the program. A small MPI program is compiled for it, with the compiler that belongs
to the launcher (mpicc.mpich to mpiexec.mpich) or the one of --mpicc.

The result is written to a file for efg whatif --network. One pair is measured at a time,
while the other ranks sleep; nothing else should run on the hosts. See docs/whatif.md.`,
		Example: `  efg measure-network -- mpiexec -n 2
  efg measure-network -o cluster.json --pairs 2 -- mpiexec -n 4`,
		Args: argCount(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return measureNetwork(cmd, args, &opt)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&opt.out, "output", "o", "network.json", "`file` to write")
	f.StringVar(&opt.mpicc, "mpicc", "", "`compiler` of the launcher's MPI library")
	f.IntVar(&opt.pairs, "pairs", 4, "pairs of ranks to measure on one host, and as many on two")
	f.BoolVar(&opt.json, "json", false, "write JSON to standard output, too")
	opt.textForm.flags(cmd)
	return cmd
}

// mostPairs bounds how many pairs are measured.
const mostPairs = 1000

func measureNetwork(cmd *cobra.Command, launcher []string, opt *measureOptions) error {
	if opt.pairs < 1 || opt.pairs > mostPairs {
		return usageError("--pairs %d: want a number from 1 to %d", opt.pairs, mostPairs)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	n, err := network.Measure(ctx, &network.Options{Launcher: launcher, Compiler: opt.mpicc, Pairs: opt.pairs, Stderr: cmd.ErrOrStderr()})
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if err := durable.Write(opt.out, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	if opt.json {
		_, err = cmd.OutOrStdout().Write(data)
		return err
	}
	w := opt.screen(cmd.OutOrStdout())
	writeNetwork(w, opt.out, n)
	return w.Flush()
}

func writeNetwork(w io.Writer, path string, n *network.Network) {
	fmt.Fprintf(w, "file      %s\nMPI       %s\nranks     %d on %s\n\n", path, shorten(n.MPI, 60), n.Ranks, plural(n.Hosts, "host"))
	t := &terminal.Table{}
	t.Left("pairs on")
	t.Right("pairs", "latency", "overhead", "gap", "bandwidth", "sender waits from")
	names := map[string]string{network.SameHost: "one host", network.OtherHost: "two hosts"}
	for i := range n.Classes {
		c := &n.Classes[i]
		bandwidth, eager := "-", "never"
		if c.PerByte > 0 {
			bandwidth = units.Bytes(1e9/c.PerByte) + "/s"
		}
		if c.EagerLimit != nil {
			eager = grouped(uint64(*c.EagerLimit)+1) + " B"
		}
		t.Row(names[c.Class], strconv.Itoa(c.Pairs), units.Nanoseconds(c.Latency), units.Nanoseconds(c.Overhead), units.Nanoseconds(c.Gap), bandwidth, eager)
	}
	t.Write(w)
}
