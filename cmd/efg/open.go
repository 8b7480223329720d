package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/daemon"
	"github.com/efg-tools/efg/efg"
)

// openRun opens a run file, or the run in the store with that name. What is not one,
// or is not there, is an error of the command line.
func openRun(path string) (*efg.Run, error) {
	r, err := efg.OpenRun(path)
	if errors.Is(err, fs.ErrNotExist) && isRunName(path) {
		file, notFound := findRun(path)
		switch {
		case notFound == nil:
			r, err = efg.OpenRun(file)
		case !errors.Is(notFound, daemon.ErrNoRun):
			return nil, usageError("%s: %w", path, notFound)
		}
	}
	var pathError *os.PathError
	switch {
	case errors.As(err, &pathError):
		return nil, usageError("%s: %w", path, pathError.Err)
	case errors.Is(err, efg.ErrNotEFG) || errors.Is(err, efg.ErrNewerVersion):
		return nil, &exitError{2, err}
	}
	return r, err
}

// ranks is a set of ranks, in ranges.
type ranks [][2]int

// parseRanks reads "0-3,7". The empty string stands for all ranks.
func parseRanks(s string) (ranks, error) { return parseRankFlag("--rank", s) }

// parseRankFlag is parseRanks for the value of a flag.
func parseRankFlag(flag, s string) (ranks, error) {
	if s == "" {
		return nil, nil
	}
	var r ranks
	for _, part := range strings.Split(s, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, err1 := strconv.ParseUint(low, 10, 31)
		b, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || a > b {
			return nil, usageError("%s %s: want ranks and ranges of ranks, as in 0-3,7", flag, s)
		}
		r = append(r, [2]int{int(a), int(b)})
	}
	return r, nil
}

// find returns the numbers of the processes with these ranks. A rank that the
// run does not have is an error.
func (r ranks) find(run *efg.Run) ([]int, error) {
	var found []int
	if r == nil {
		for i := range run.Procs {
			found = append(found, i)
		}
		return found, nil
	}
	at := make(map[int]int, len(run.Procs))
	for i, p := range run.Procs {
		at[p.Rank] = i
	}
	for _, part := range r {
		for rank := part[0]; rank <= part[1]; rank++ {
			i, ok := at[rank]
			if !ok {
				return nil, usageError("no rank %d: the run has %s", rank, rankText(run))
			}
			found = append(found, i)
		}
	}
	return found, nil
}

// rankText tells which ranks a run has: "ranks 0-3".
func rankText(run *efg.Run) string {
	var text []string
	for i := 0; i < len(run.Procs); {
		first := run.Procs[i].Rank
		if first < 0 {
			break
		}
		j := i + 1
		for j < len(run.Procs) && run.Procs[j].Rank == first+j-i {
			j++
		}
		if j == i+1 {
			text = append(text, strconv.Itoa(first))
		} else {
			text = append(text, fmt.Sprintf("%d-%d", first, first+j-i-1))
		}
		i = j
	}
	if len(text) == 0 {
		return "no ranks"
	}
	return "ranks " + strings.Join(text, ",")
}

// threadsOf returns the numbers of a process's streams: all, or that of a
// thread.
func threadsOf(p *efg.ProcInfo, thread int) ([]int, error) {
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
