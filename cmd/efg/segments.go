package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/recording"
	"github.com/efg-tools/efg/internal/segment"
)

// errStored: the argument is neither a directory nor a running job, but may be a run.
var errStored = errors.New("stored")

// finder finds the segments of jobs, repeatedly.
type finder struct {
	follows *daemon.Follower // jobs of the daemon's spool, if it exists
	problem error            // with the spool
}

func (f *finder) close() {
	if f.follows != nil {
		f.follows.Close()
		f.follows = nil
	}
}

// jobs are those that the daemon records; none if its spool cannot be read.
func (f *finder) jobs() []*daemon.Job {
	if f.follows == nil {
		spool, err := daemon.OpenSpool(daemon.DefaultSpool(), false)
		if f.problem = err; err != nil {
			return nil
		}
		f.follows = daemon.Follow(spool)
	}
	jobs, err := f.follows.Jobs()
	if err != nil {
		f.close()
		return nil
	}
	return jobs
}

// segments finds the segments that the argument stands for; without one, those of the
// only job that is running.
func (f *finder) segments(target string) ([]string, error) {
	if target == "" {
		return f.onlyJob()
	}
	st, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) && isRunName(target) {
		return f.jobNamed(target)
	}
	if err != nil {
		return nil, usageError("%s: %w", target, reason(err))
	}
	if !st.IsDir() {
		return nil, usageError("%s: is not a directory of segments", target)
	}
	paths, err := live.Segments(target)
	if err != nil {
		return nil, usageError("%s: %w", target, reason(err))
	}
	return paths, nil
}

// jobNamed finds the segments of the job that the daemon is recording under a name or unique
// prefix; "last" is the newest. All are newer than stored runs.
func (f *finder) jobNamed(name string) ([]string, error) {
	var found []*daemon.Job
	for _, j := range f.jobs() {
		if j.Name() == name {
			return j.Paths(), nil
		}
		if name == "last" || strings.HasPrefix(j.Name(), name) {
			found = append(found, j)
		}
	}
	slices.SortFunc(found, func(a, b *daemon.Job) int { return strings.Compare(a.Name(), b.Name()) })
	switch {
	case len(found) == 0:
		return nil, errStored
	case len(found) == 1 || name == "last":
		return found[len(found)-1].Paths(), nil
	}
	return nil, usageError("%s: ambiguous: a prefix of several jobs, such as %s and %s", name, found[0].Name(), found[1].Name())
}

// candidate is a job that an argument may refer to.
type candidate struct {
	name    string
	command []string
	paths   []string
}

// onlyJob finds the only job running under efg run or with the daemon.
func (f *finder) onlyJob() ([]string, error) {
	found, err := underRun()
	if err != nil {
		return nil, err
	}
	for _, j := range f.jobs() {
		if j.Running() > 0 {
			found = append(found, candidate{j.Name(), j.Command(), j.Paths()})
		}
	}
	switch {
	case len(found) == 1:
		return found[0].paths, nil
	case len(found) > 1:
		var names []string
		for _, c := range found {
			names = append(names, fmt.Sprintf("%s (%s)", c.name, printable.Line(commandText(c.command))))
		}
		return nil, usageError("several jobs are running under efg; name one of %s", strings.Join(names, ", "))
	case f.problem != nil && !errors.Is(f.problem, fs.ErrNotExist):
		return nil, usageError("no job of yours is running under efg run, and the daemon's spool cannot be used: %w", f.problem)
	}
	return nil, usageError("no job of yours is running under efg here; efg where DIR shows the segments in a directory")
}

// underRun finds the jobs that are running under efg run.
func underRun() ([]candidate, error) {
	var found []candidate
	for _, base := range recording.Bases() {
		dirs, err := filepath.Glob(filepath.Join(base, "efg-*"))
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			paths, err := live.Segments(dir)
			if err != nil || dir == daemon.DefaultSpool() || !slices.ContainsFunc(paths, segment.Running) {
				continue
			}
			c := candidate{name: dir, paths: paths}
			if h, err := segment.ReadHeader(paths[0]); err == nil {
				c.command = h.Identity().Command
			}
			found = append(found, c)
		}
	}
	return found, nil
}
