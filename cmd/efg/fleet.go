package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/fleet"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type fleetOptions struct {
	slower float64
	top    int
	answerForm
}

func newFleet() *cobra.Command {
	var opt fleetOptions
	cmd := &cobra.Command{
		Use:   "fleet [STORE | DIRECTORY | FILE]...",
		Short: "Compare all stored runs: who loses most, what became slower, what scales",
		Long: `Read all runs of the daemon's store, or of other stores, directories and files, and show

  - which programs and users lose most core-hours to waiting for other ranks or, of runs
    without the times of each call, in MPI;
  - which runs took longer than those of the same program, arguments and number of ranks
    before them, and at which callsites;
  - how programs scale of which there are runs with several numbers of ranks.

A directory of stores, as the service for all users keeps one, is read with all of them.
Users are the owners of the run files. docs/fleet.md has the same as SQL over a directory of
Parquet files, for sites with more runs.`,
		Example:           "  efg fleet . --slower 20",
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showFleet(args, &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.Float64Var(&opt.slower, "slower", 10, "by how many percent a run has to take longer to be listed")
	f.IntVar(&opt.top, "top", 10, "programs, users and slower runs to show; 0: all")
	opt.flags(cmd, "programs")
	return cmd
}

func showFleet(paths []string, opt *fleetOptions, out, errOut io.Writer) error {
	if !(opt.slower > 0) {
		return usageError("--slower %v: want a number of percent above 0", opt.slower)
	}
	if opt.top < 0 {
		return usageError("--top %d: want a number, or 0 for all", opt.top)
	}
	if len(paths) == 0 {
		dir, err := storeDir("")
		if err != nil {
			return err
		}
		paths = []string{dir}
	}
	var files []string
	for _, path := range paths {
		found, err := runFiles(path)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return usageError("%s: no run files", strings.Join(paths, ", "))
	}
	slices.Sort(files)
	bar := newProgress(errOut, "runs", uint64(len(files)))
	runs, unread := readFleet(slices.Compact(files), bar.show)
	bar.close()
	if len(runs) == 0 {
		return usageError("%s", unread[0].Error)
	}
	for _, u := range unread {
		if !opt.json {
			fmt.Fprintf(errOut, "efg: left out: %s\n", u.Error)
		}
	}
	doc := jsondoc.NewFleet(runs, unread, opt.slower, opt.top)
	return opt.write(out, func() any { return doc }, func(w *terminal.Screen) { writeFleet(w, doc) })
}

// runFiles returns the run files that a path stands for: of a directory, those in it and, if it has
// stores, in these.
func runFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isRunName(path):
		file, err := findRun(path)
		if err != nil {
			return nil, usageError("%s: %w", path, err)
		}
		return []string{file}, nil
	case err != nil:
		return nil, usageError("%w", err)
	case !info.IsDir():
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, usageError("%w", err)
	}
	var files []string
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			if _, err := os.Stat(filepath.Join(name, ".index")); err == nil {
				inner, err := filepath.Glob(filepath.Join(escapeGlob(name), "[^.]*.efg"))
				if err != nil {
					return nil, err
				}
				files = append(files, inner...)
			}
		case filepath.Ext(name) == ".efg":
			files = append(files, name)
		}
	}
	return files, nil
}

// escapeGlob is the pattern of a name.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// openFleetCache opens the cache of what this program has read of runs.
func openFleetCache() *fleet.Cache { return fleet.OpenCache(version()) }

// readFleet reads runs, one of each launch.
func readFleet(files []string, show func(uint64)) (runs []*fleet.Run, unread []jsondoc.Unread) {
	type result struct {
		run *fleet.Run
		err error
	}
	results := make([]result, len(files))
	kept := openFleetCache()
	defer kept.Prune()
	var lock sync.Mutex
	var work sync.WaitGroup
	done := uint64(0)
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := range next {
				r, err := readFleetRun(files[i], kept)
				lock.Lock()
				results[i] = result{r, err}
				done++
				show(done)
				lock.Unlock()
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	work.Wait()
	seen := map[string]bool{}
	for i, r := range results {
		switch {
		case r.err != nil:
			unread = append(unread, jsondoc.Unread{File: files[i], Error: r.err.Error()})
		case !seen[r.run.ID]:
			seen[r.run.ID] = true
			runs = append(runs, r.run)
		}
	}
	return runs, unread
}

func readFleetRun(file string, kept *fleet.Cache) (*fleet.Run, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, usageError("%w", err)
	}
	r := kept.Get(info)
	if r == nil {
		run, err := openRun(file)
		if err != nil {
			return nil, err
		}
		defer run.Close()
		if r, err = fleet.Read(context.Background(), run); err != nil {
			return nil, err
		}
		kept.Put(info, r)
	}
	r.Name, r.User = strings.TrimSuffix(filepath.Base(file), ".efg"), fleet.Owner(info)
	return r, nil
}

// ownerOf is the name of the owner of a run file, or of that of a run in the store.
func ownerOf(file string) string {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) && isRunName(file) {
		if file, err = findRun(file); err == nil {
			info, err = os.Stat(file)
		}
	}
	if err != nil {
		return ""
	}
	return fleet.Owner(info)
}

func writeFleet(w *terminal.Screen, d *jsondoc.Fleet) {
	fmt.Fprintf(w, "%s of %s", plural(d.Runs, "run"), plural(len(d.Programs), "program"))
	if d.Untimed > 0 {
		fmt.Fprintf(w, "; no times of %d", d.Untimed)
	}
	fmt.Fprintln(w)
	writeUses(w, "program", d.Programs)
	writeUses(w, "user", d.Users)
	writeSlower(w, d.Slower)
	writeScaling(w, d.Scaling)
}

// coreTime is a unit for times of processors.
type coreTime struct {
	name string
	ns   float64
}

// coreTimeFor is the unit that suits times up to one.
func coreTimeFor(most uint64) coreTime {
	if most < uint64(6*time.Minute) {
		return coreTime{"core-seconds", 1e9}
	}
	return coreTime{"core-hours", 3.6e12}
}

// text is a time with three digits or more.
func (u *coreTime) text(ns uint64) string {
	v := float64(ns) / u.ns
	switch {
	case v >= 100:
		return grouped(uint64(math.Round(v)))
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

func writeUses(w *terminal.Screen, head string, list []jsondoc.FleetUse) {
	fmt.Fprintln(w)
	most := uint64(0)
	for i := range list {
		most = max(most, list[i].Elapsed)
	}
	unit := coreTimeFor(most)
	t := &terminal.Table{}
	t.Names(head)
	t.Right("runs", "ranks", unit.name, "in MPI", "waiting", "lost")
	t.Shares("of all")
	for i := range list {
		u := &list[i]
		waiting := "-"
		if u.Waiting != nil {
			waiting = unit.text(*u.Waiting)
		}
		if u.Timed == 0 {
			t.Row(u.Name, grouped(uint64(u.Runs)), grouped(uint64(u.Ranks)), "-", "-", "-", "-", "-")
			continue
		}
		t.Row(u.Name, grouped(uint64(u.Runs)), grouped(uint64(u.Ranks)), unit.text(u.Elapsed), unit.text(u.MPI), waiting, unit.text(u.Lost),
			units.Percent(u.Lost, u.Elapsed))
	}
	t.Write(w)
}

func writeSlower(w *terminal.Screen, list []jsondoc.FleetChange) {
	if len(list) == 0 {
		return
	}
	fmt.Fprint(w, "\nslower than the runs before:\n")
	for i := range list {
		c := &list[i]
		rebuilt := ""
		if c.Rebuilt {
			rebuilt = ", built anew"
		}
		fmt.Fprintf(w, "\n%s: %s, %s: %s instead of %s (%s), %.0f %% longer%s\n", c.Run.Run, commandText(append([]string{c.Program}, c.Arguments...)),
			plural(c.Ranks, "rank"), nanos(c.Run.Time), nanos(c.Before.Time), c.Before.Run, c.Percent, rebuilt)
		if c.Compute > 0 {
			fmt.Fprintf(w, "    %s more outside of MPI, for each rank\n", nanos(uint64(c.Compute)))
		}
		for _, s := range c.Sites {
			fmt.Fprintf(w, "    %s more in %s %s\n", nanos(s.After-s.Before), s.Op, s.Site)
		}
	}
}

func nanos(ns uint64) string { return lengthText(time.Duration(ns)) }

func writeScaling(w *terminal.Screen, list []jsondoc.FleetSeries) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := &terminal.Table{}
	t.Names("program")
	t.Right("ranks", "runs", "time", "outside MPI", "waiting", "speedup", "per rank")
	for i := range list {
		points := list[i].Points
		for k := range points {
			p := &points[k]
			waiting := "-"
			if p.Waiting != nil {
				waiting = fmt.Sprintf("%.1f%%", 100**p.Waiting)
			}
			speedup := float64(points[0].Time) / float64(max(1, p.Time))
			t.Row(list[i].Program, grouped(uint64(p.Ranks)), grouped(uint64(p.Runs)), nanos(p.Time), fmt.Sprintf("%.1f%%", 100*p.Outside), waiting,
				fmt.Sprintf("%.2f", speedup), fmt.Sprintf("%.2f", speedup*float64(points[0].Ranks)/float64(p.Ranks)))
		}
	}
	t.Write(w)
}
