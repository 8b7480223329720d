package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/rankset"
)

// openRun opens a run file, or the run in the store with that name. A file that is missing or
// not a run file is a usage error.
func openRun(path string) (*runfile.Run, error) {
	r, err := runfile.OpenRun(path)
	if errors.Is(err, fs.ErrNotExist) && isRunName(path) {
		file, notFound := findRun(path)
		switch {
		case notFound == nil:
			r, err = runfile.OpenRun(file)
		case !errors.Is(notFound, daemon.ErrNoRun):
			return nil, usageError("%s: %w", path, notFound)
		}
	}
	var pathError *os.PathError
	switch {
	case errors.As(err, &pathError):
		return nil, usageError("%s: %w", path, pathError.Err)
	case errors.Is(err, runfile.ErrNotEFG) || errors.Is(err, runfile.ErrNewerVersion):
		return nil, &exitError{2, err}
	}
	return r, err
}

// openShown opens a run for display, with line breaks in texts escaped. With data it is for
// programs, and texts are unchanged.
func openShown(path string, data bool) (*runfile.Run, error) {
	r, err := openRun(path)
	if err != nil || data {
		return r, err
	}
	r.Sites() // an error occurs again where they are requested
	printable.Fields(&r.Meta)
	var last *runfile.ProcShared
	for i := range r.Procs {
		p := r.Procs[i].ProcShared
		if p == last {
			continue
		}
		last = p
		p.Host, p.MPI = printable.Line(p.Host), printable.Line(p.MPI)
		printable.Fields(p.Command)
	}
	return r, nil
}

// ranks is a set of ranks given by a flag.
type ranks rankset.Set

// parseRanks reads "0-3,7". The empty string stands for all ranks.
func parseRanks(s string) (ranks, error) { return parseRankFlag("--rank", s) }

// parseRankFlag is parseRanks for the value of a flag.
func parseRankFlag(flag, s string) (ranks, error) {
	set, err := rankset.Parse(s)
	if err != nil {
		return nil, usageError("%s %s: %w", flag, s, err)
	}
	return ranks(set), nil
}

// find returns the numbers of the processes with these ranks. A rank that the
// run does not have is an error.
func (r ranks) find(run *runfile.Run) ([]int, error) {
	found, err := rankset.Set(r).Find(run)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return found, nil
}

// threadsOf returns the numbers of a process's streams: all, or that of a
// thread.
func threadsOf(p *runfile.ProcInfo, thread int) ([]int, error) {
	var found []int
	for j, s := range p.Streams {
		if thread < 0 || int(s.Thread) == thread {
			found = append(found, j)
		}
	}
	if thread >= 0 && len(found) == 0 {
		return nil, usageError("no thread %d: rank %d has %d recorded threads", thread, p.Rank, len(p.Streams))
	}
	return found, nil
}
