package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/findings"
	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/recording"
)

// keepRecording writes the run file, if anything was recorded, and removes the segments; if
// the file cannot be written they stay, so that nothing is lost.
func keepRecording(dir *recording.Directory, opt *runOptions, meta runfile.Meta, signals heldSignals, errOut io.Writer) error {
	var result *merge.Result
	err := signals.hold(func() (err error) {
		result, err = dir.Seal(opt.output, meta)
		return err
	}, func(left int) {
		fmt.Fprintf(errOut, "efg: writing %s; interrupt it %s to give up\n", opt.output, map[int]string{2: "twice more", 1: "once more"}[left])
	})
	var given *interruptedError
	switch {
	case errors.As(err, &given):
		return &exitError{statusOf(given.signal), fmt.Errorf("%s was not written: %w; %s", opt.output, err, howToFinish(dir))}
	case err != nil:
		return errors.Join(fmt.Errorf("%w; %s", err, howToFinish(dir)), dir.Close())
	}
	return endRecording(dir, opt, result, errOut)
}

// howToFinish says where a recording is kept whose run file was not written.
func howToFinish(dir *recording.Directory) string {
	return fmt.Sprintf("the recording stays in %s: efg merge --recover %s writes the file", dir.Path, shellWord(dir.Path))
}

// endRecording reports the result of a recording, and removes what is no longer needed.
func endRecording(dir *recording.Directory, opt *runOptions, result *merge.Result, errOut io.Writer) error {
	var err error
	if result == nil {
		err = nothingRecorded(opt, errOut)
	} else {
		reportLosses(result, errOut)
		suggestNext(opt.output, result, errOut)
	}
	if opt.keep || result != nil && len(result.LeftOut) > 0 {
		fmt.Fprintf(errOut, "efg: segments are in %s\n", dir.Path)
		return errors.Join(err, dir.Keep())
	}
	return errors.Join(err, dir.Remove())
}

// reportLosses reports what is missing from a run file.
func reportLosses(r *merge.Result, errOut io.Writer) {
	for _, what := range r.LeftOut {
		fmt.Fprintln(errOut, "efg: a process is missing from the file:", what)
	}
	for _, path := range r.Running {
		fmt.Fprintf(errOut, "efg: %s: its process is still running; the file has what it recorded so far\n", path)
	}
	if r.Dropped > 0 {
		fmt.Fprintf(errOut, "efg: %d events were not recorded for lack of space\n", r.Dropped)
	}
}

// suggestNext prints to a terminal a summary of the file, a command to try next, and how much of the
// time the ranks computed.
func suggestNext(file string, r *merge.Result, errOut io.Writer) {
	if !printable.IsTerminal(errOut) {
		return
	}
	next, sentence := "report", ""
	if run, err := runfile.OpenRun(file); err == nil {
		if live.EndedInCall(run) {
			next = "where"
		}
		sentence, _ = findings.First(run)
		run.Close()
	}
	fmt.Fprintf(errOut, "efg: wrote %s: %s, %s; next: efg %s %s\n",
		file, pluralOf(uint64(r.Processes), "rank"), pluralOf(r.Events, "call"), next, shellWord(file))
	if sentence != "" {
		fmt.Fprintln(errOut, "efg:", sentence)
	}
}

// nothingRecorded reports that there is no run file.
func nothingRecorded(opt *runOptions, errOut io.Writer) error {
	err := fmt.Errorf("nothing was recorded, %s was not written: no process called MPI through a shared library that efg recognizes%s",
		opt.output, keepOld(opt.output))
	if opt.require {
		return err
	}
	fmt.Fprintln(errOut, "efg:", err)
	return nil
}

// keepOld renames an existing run file that could be mistaken for that of an unrecorded run,
// and returns a description of that, as the end of a sentence.
func keepOld(file string) string {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	aside := file + "~"
	if err := os.Rename(file, aside); err != nil {
		return fmt.Sprintf("; %s is of an earlier run", file)
	}
	return fmt.Sprintf("; that of an earlier run is %s now", aside)
}

// reportAbandoned reports a recording that a killed efg run left behind.
func reportAbandoned(errOut io.Writer) {
	left := recording.Abandoned()
	for _, d := range left {
		d.Close()
	}
	if len(left) == 0 {
		return
	}
	last := left[len(left)-1]
	what := "a recording is left of an efg run that was killed"
	if len(left) > 1 {
		what = fmt.Sprintf("%d recordings are left of efg runs that were killed, the newest", len(left))
	}
	fmt.Fprintf(errOut, "efg: %s in %s, of %s (%s): efg merge --recover writes the run file, with --discard it removes the recording\n",
		what, last.Path, last.Started().Format("2006-01-02 15:04"), printable.Line(commandText(last.Info.Command)))
}

// shellWord is a word in the syntax of a shell.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%+,-./:=@_~", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 && s[0] != '~' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
