package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
)

// diffSequences compares two runs event by event.
func diffSequences(args []string, opt *diffOptions, out, errOut io.Writer) error {
	for _, what := range opt.ignore {
		if what != "site" && what != "time" {
			return usageError("--ignore %s: want time, or site,time", what)
		}
	}
	switch {
	case !slices.Contains(opt.ignore, "time"):
		return usageError("--ignore %s: want time, too: no two runs have the same times", opt.ignore[0])
	case len(args) != 2:
		return usageError("--ignore: wants two files")
	case opt.ranks != "" || opt.failOn != "" || opt.depth.given:
		return usageError("--ignore: compares all ranks, without --ranks, --fail-on and --site-depth")
	}
	in := diffInput{errOut: errOut}
	defer in.close()
	if err := in.open(args, nil, opt.depth, opt.data()); err != nil {
		return err
	}
	bar := in.progress()
	s, err := diff.NewSequences(in.runs[0], in.runs[1], !slices.Contains(opt.ignore, "site"), bar.show)
	bar.close()
	if err != nil {
		return err
	}
	w := opt.screen(out)
	if opt.data() {
		err = opt.writeData(w, jsondoc.NewSequences(args, s))
	} else {
		sequencesText(w, args, s, opt.top)
	}
	if failed := w.Flush(); err == nil {
		err = failed
	}
	if err == nil && !s.Equal() {
		err = &exitError{1, fmt.Errorf("the events of %s and %s differ", args[0], args[1])}
	}
	return err
}

// sequencesText writes how the events of two runs differ.
func sequencesText(w *terminal.Screen, files []string, s *diff.Sequences, top int) {
	for k, name := range []string{"first ", "second"} {
		fmt.Fprintf(w, "%s    %s: %s ranks, %s events compared, %s polls that found nothing\n", name, files[k],
			grouped(uint64(s.Ranks[k])), grouped(s.Events[k]), grouped(s.Polls[k]))
	}
	if s.Equal() {
		fmt.Fprintf(w, "\nThe runs are equal: the same events, in order, with the same arguments and results\n")
		return
	}
	fmt.Fprintf(w, "\nThe runs differ, on %s:\n", plural(len(s.First), "thread"))
	for i, d := range s.First {
		if top > 0 && i == top {
			fmt.Fprintf(w, "and %d more; --top 0 shows all\n", len(s.First)-i)
			return
		}
		fmt.Fprintf(w, "rank %d thread %d: %s\n", d.Rank, d.Thread, d.What)
		for k, name := range []string{"first ", "second"} {
			if d.Call[k] != "" {
				fmt.Fprintf(w, "  %s event %d: %s\n", name, d.Event[k], d.Call[k])
			}
		}
	}
}
