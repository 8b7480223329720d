package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/recording"
)

// recoverOptions say what to do with the recordings that efg run has left behind.
type recoverOptions struct {
	output  string // "" means where efg run would have written it
	discard bool
}

// recoverRuns finishes the recordings in directories that efg run left behind, all of them if
// none is given. All are tried; the error is that of the first that failed.
func recoverRuns(paths []string, opt *recoverOptions, out, errOut io.Writer) error {
	dirs, err := abandoned(paths)
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		fmt.Fprintln(out, "no recording of a killed efg run is left behind")
		return nil
	}
	if opt.output != "" && len(dirs) > 1 {
		return usageError("-o: %d recordings are left; choose one of %s", len(dirs), strings.Join(pathsOf(dirs), ", "))
	}
	var failed error
	for _, d := range dirs {
		if err := recoverRun(d, opt, out, errOut); err != nil {
			fmt.Fprintf(errOut, "efg: %s: %v\n", d.Path, err)
			failed = &exitError{status: 1}
		}
	}
	return failed
}

// abandoned opens directories by their paths, or finds all.
func abandoned(paths []string) ([]*recording.Directory, error) {
	if len(paths) == 0 {
		return recording.Abandoned(), nil
	}
	var dirs []*recording.Directory
	for _, path := range paths {
		d, err := recording.Open(path)
		if err != nil {
			return nil, usageError("%s: %w", path, reason(err))
		}
		dirs = append(dirs, d)
	}
	return dirs, nil
}

func pathsOf(dirs []*recording.Directory) (list []string) {
	for _, d := range dirs {
		list = append(list, d.Path)
	}
	return list
}

// recoverRun writes the run file of a recording, or removes the recording.
func recoverRun(d *recording.Directory, opt *recoverOptions, out, errOut io.Writer) error {
	defer d.Close()
	what := fmt.Sprintf("%s (%s)", d.Started().Format("2006-01-02 15:04:05"), printable.Line(commandText(d.Info.Command)))
	if d.BeingWritten() {
		return fmt.Errorf("the program of %s is still running; wait for it to end, or end it", what)
	}
	if opt.discard {
		fmt.Fprintf(out, "%s: removed the recording of %s\n", d.Path, what)
		return d.Remove()
	}
	file := opt.output
	if file == "" {
		var err error
		if file, err = freeOutput(d); err != nil {
			return err
		}
	}
	r, err := d.Recover(file)
	switch {
	case err != nil:
		return err
	case r == nil:
		fmt.Fprintf(out, "%s: nothing of %s was recorded\n", d.Path, what)
		return d.Remove()
	}
	reportLosses(r, errOut)
	fmt.Fprintf(out, "%s: %s, %s, of %s\n", file, pluralOf(uint64(r.Processes), "rank"), pluralOf(r.Events, "call"), what)
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(errOut, "efg: segments are in %s\n", d.Path)
		return d.Keep()
	}
	return d.Remove()
}

// freeOutput returns where efg run would have written its file. If another file has been
// written there since, the name is different.
func freeOutput(d *recording.Directory) (string, error) {
	file := d.Info.Output
	base := strings.TrimSuffix(file, filepath.Ext(file))
	for n := 1; ; n++ {
		fi, err := os.Lstat(file)
		switch {
		case errors.Is(err, os.ErrNotExist), err == nil && n == 1 && fi.ModTime().Before(d.Started()):
			return file, nil
		case err != nil:
			return "", err
		}
		file = fmt.Sprintf("%s.recovered%s", base, filepath.Ext(d.Info.Output))
		if n > 1 {
			file = fmt.Sprintf("%s.recovered-%d%s", base, n, filepath.Ext(d.Info.Output))
		}
	}
}
