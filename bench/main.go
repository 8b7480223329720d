// Command bench measures what efg promises: the cost of a recorded call, the time to start, the
// memory and file space that a program needs, the speed of reading a recording. It prints
// Markdown, which docs/results.md keeps. All comparisons are medians of alternating runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	pairs := flag.Int("pairs", 5, "alternating runs of each kind")
	efgPath := flag.String("efg", "bin/efg", "the program to measure")
	only := flag.String("only", "", "one part: "+strings.Join(partNames(), ", "))
	flag.Parse()
	if err := run(*efgPath, *pairs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is what the parts share.
type bench struct {
	efg     string // absolute path of the program
	dir     string // for programs and recordings
	pairs   int
	mpis    []mpi
	preload string // library to preload in measured programs; "" for none
	yield   string // testdata/yield, if it is built
	*cleanups
}

type part struct {
	name string
	run  func(*bench) error
}

var parts = []part{
	{"calls", calls}, {"callpath", callPaths}, {"regions", regions}, {"logger", logger}, {"recorder", recorder}, {"counters", counters}, {"start", start}, {"seal", seal}, {"memory", memory}, {"read", read}, {"size", size}, {"exchange", exchange}, {"export", exportTraces},
	{"growth", growth}, {"ranks", manyRanks}, {"merge", mergeCommand}, {"times", timeStats}, {"traces", traces}, {"polls", polls}, {"irregular", irregular}, {"analysis", analyses}, {"whatif", whatifModel}, {"generate", generated}, {"replay", replayed}, {"daemon", daemonPart}, {"http", httpPart},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func run(efgPath string, pairs int, only string) error {
	abs, err := filepath.Abs(efgPath)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "efg-bench-")
	if err != nil {
		return err
	}
	b := &bench{efg: abs, dir: dir, pairs: pairs, cleanups: &cleanups{}}
	defer b.atEnd(func() { os.RemoveAll(dir) })()
	b.onSignals()
	if err := b.findMPIs(); err != nil {
		return err
	}
	b.describeMachine()
	for _, p := range parts {
		if only != "" && only != p.name {
			continue
		}
		if err := p.run(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
