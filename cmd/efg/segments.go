package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/segment"
)

// errStored: the argument is no folder and no job that is there, but may be a run.
var errStored = errors.New("stored")

// finder finds the segments of jobs, again and again.
type finder struct {
	follows *daemon.Follower // of the daemon's spool, once it is there
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
		if err != nil {
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
		return nil, usageError("%s: is no folder of segments", target)
	}
	paths, err := live.Segments(target)
	if err != nil {
		return nil, usageError("%s: %w", target, reason(err))
	}
	return paths, nil
}

// jobNamed finds the segments of the job that the daemon is recording under a name, or
// whose name alone begins so; "last" is the newest. All are newer than stored runs.
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
	return nil, usageError("%s: several jobs begin like this, as %s and %s", name, found[0].Name(), found[1].Name())
}

// onlyJob finds the job that is running under efg run, or with the daemon.
func (f *finder) onlyJob() ([]string, error) {
	var names []string
	var found [][]string
	add := func(name string, paths []string) {
		names, found = append(names, name), append(found, paths)
	}
	for _, base := range slices.Compact([]string{"/dev/shm", filepath.Clean(os.TempDir())}) {
		dirs, err := filepath.Glob(filepath.Join(base, "efg-*"))
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			if paths, err := live.Segments(dir); err == nil && dir != daemon.DefaultSpool() && slices.ContainsFunc(paths, segment.Running) {
				add(dir, paths)
			}
		}
	}
	for _, j := range f.jobs() {
		if j.Running() > 0 {
			add(j.Name(), j.Paths())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, usageError("no job of yours is running under efg here; efg where DIR looks at the segments in a folder")
	}
	return nil, usageError("several jobs are running under efg; name one of %s", strings.Join(names, ", "))
}
