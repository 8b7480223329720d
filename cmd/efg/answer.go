package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/terminal"
)

// answerForm says in which form a command writes its answer.
type answerForm struct {
	json bool
	// csv is the table to write as comma-separated values, if not empty.
	csv string
	textForm
}

// textForm says how the text of a command is laid out.
type textForm struct {
	wide   bool
	colour terminal.Colour
}

// flags adds the options of an answer whose text has tables. table is the table that --csv writes
// unless another is named; a command without one has no such option.
func (form *answerForm) flags(cmd *cobra.Command, table string) {
	form.dataFlags(cmd, table)
	form.textForm.flags(cmd)
}

// dataFlags adds the options of an answer whose text is as it is.
func (form *answerForm) dataFlags(cmd *cobra.Command, table string) {
	f := cmd.Flags()
	f.BoolVar(&form.json, "json", false, "write JSON")
	if table != "" {
		f.Func("csv", "write a `table` of the JSON document as comma-separated values (default "+table+")", func(name string) error {
			if name == "" {
				return errors.New("want the name of a table")
			}
			form.csv = name
			return nil
		})
		f.Lookup("csv").NoOptDefVal = table
		cmd.PreRunE = func(*cobra.Command, []string) error {
			if form.json && form.csv != "" {
				return usageError("--csv and --json: want one of them")
			}
			return nil
		}
	}
}

func (form *textForm) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&form.wide, "wide", false, "show all columns, whatever the width of the terminal")
	form.colour = terminal.Auto
	f.Func("colour", "colour the text: `when`, auto, always or never (default auto)", func(when string) error {
		if !slices.Contains(terminal.Colours, terminal.Colour(when)) {
			return errors.New("want auto, always or never")
		}
		form.colour = terminal.Colour(when)
		return nil
	})
	completeWords(cmd, "colour", "auto", "always", "never")
}

// data reports whether the answer is for programs rather than for people.
func (form *answerForm) data() bool { return form.json || form.csv != "" }

// screen returns what the text of a command is written to; flush it at the end.
func (form *textForm) screen(out io.Writer) *terminal.Screen {
	return terminal.NewScreen(out, form.wide, form.colour)
}

// write writes a document as JSON, one of its tables, or text.
func (form *answerForm) write(out io.Writer, doc func() any, text func(w *terminal.Screen)) error {
	if form.data() {
		return form.writeData(out, doc())
	}
	w := form.screen(out)
	text(w)
	return w.Flush()
}

func (form *answerForm) writeData(out io.Writer, doc any) error {
	if form.csv == "" {
		return jsondoc.Write(out, doc)
	}
	err := jsondoc.WriteCSV(printable.Data(out), doc, form.csv)
	if errors.Is(err, jsondoc.ErrNoTable) {
		return usageError("--csv: %w", err)
	}
	return err
}

// siteDepth is how many calls of a call path tell callsites apart.
type siteDepth struct {
	calls int // 0: whole paths
	given bool
}

func (d *siteDepth) flag(cmd *cobra.Command) {
	d.define(cmd, "tell callsites apart by the last `N` calls of their call paths; 0: by whole paths (default 1)")
}

// listFlag is flag for lists of calls, which have whole call paths.
func (d *siteDepth) listFlag(cmd *cobra.Command) {
	d.define(cmd, "shorten call paths to their last `N` calls; 0: show whole paths (the default)")
}

func (d *siteDepth) define(cmd *cobra.Command, usage string) {
	cmd.Flags().Func("site-depth", usage, func(text string) (err error) {
		d.given = true
		if d.calls, err = strconv.Atoi(text); err != nil || d.calls < 0 {
			return errors.New("want a number of calls, or 0 for whole call paths")
		}
		return nil
	})
}

// of is the view of a run in which callsites are told apart like that.
func (d siteDepth) of(r *runfile.Run, path string, errOut io.Writer) *runfile.Run {
	switch {
	case !d.given:
		return r
	case r.Meta.CallPath == 0:
		fmt.Fprintf(errOut, "efg: note: %s has no call paths; efg run --callpath records them\n", path)
		return r
	case d.calls == 0:
		return r.WithSiteDepth(efg.AllCalls)
	}
	return r.WithSiteDepth(d.calls)
}

// onlyFlags reports whether no other flags than these are given.
func onlyFlags(cmd *cobra.Command, names ...string) bool {
	only := true
	cmd.Flags().Visit(func(f *pflag.Flag) { only = only && slices.Contains(names, f.Name) })
	return only
}

// overRanks computes a result over ranks of a run, shows the progress, and passes the result to
// show. ranks is the value of --rank, data whether the answer is for programs.
func overRanks[T any](path, ranks string, depth siteDepth, data bool, errOut io.Writer,
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
	r = depth.of(r, path, errOut)
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

// checkTop checks the number of rows to show.
func checkTop(top int, rows string) error {
	if top < 0 {
		return usageError("--top %d: want a number of %s, or 0 for all", top, rows)
	}
	return nil
}
