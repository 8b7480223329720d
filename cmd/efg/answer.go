package main

import (
	"bufio"
	"errors"
	"io"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// overRanks computes a result over ranks of a run, shows the progress, and passes the result to
// show. ranks is the value of --rank, data that of --json.
func overRanks[T any](path, ranks string, data bool, errOut io.Writer,
	compute func(r *runfile.Run, procs []int, progress ...analysis.Progress) (T, error),
	show func(r *runfile.Run, procs []int, result T) error) error {
	set, err := parseRanks(ranks)
	if err != nil {
		return err
	}
	r, err := openShown(path, data)
	if err != nil {
		return err
	}
	defer r.Close()
	procs, err := set.find(r)
	if err != nil {
		return err
	}
	bar := newProgress(errOut, "ranks", uint64(len(procs)))
	result, err := compute(r, procs, bar.show)
	bar.close()
	if err != nil {
		return err
	}
	return show(r, procs, result)
}

// writeAnswer writes a document as JSON, or as text.
func writeAnswer(out io.Writer, asJSON bool, doc func() any, text func(w *bufio.Writer)) error {
	w := bufio.NewWriter(out)
	var err error
	if asJSON {
		err = jsondoc.Write(w, doc())
	} else {
		text(w)
	}
	return errors.Join(err, w.Flush())
}

// checkTop checks the number of rows to show.
func checkTop(top int, rows string) error {
	if top < 0 {
		return usageError("--top %d: want a number of %s, or 0 for all", top, rows)
	}
	return nil
}
