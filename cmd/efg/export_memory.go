package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/paraver"
	"github.com/efg-tools/efg/internal/export/table"
)

// What exports that match messages need grows with the number of processes, all of which are read side by side.

// always: the format matches messages, or orders times by them, whatever is written.
func always(*exportOptions) bool { return true }

// unlessRaw: times that are ordered by messages are all that the format needs these for.
func unlessRaw(opt *exportOptions) bool { return opt.clock != "raw" }

// paraverMatches reports whether messages are written, or times ordered by them.
func paraverMatches(opt *exportOptions) bool {
	return unlessRaw(opt) || len(opt.what) == 0 || slices.Contains(opt.what, paraver.Messages)
}

// tablesMatch reports whether one of the tables has messages, or sums of them; defaults are the tables that are
// written if none is named.
func tablesMatch(defaults ...string) func(opt *exportOptions) bool {
	return func(opt *exportOptions) bool {
		tables := opt.what
		if len(tables) == 0 {
			tables = defaults
		}
		return slices.ContainsFunc(tables, table.NeedsMatching)
	}
}

// checkMemory rejects an export for which processes that have to be read side by side do not fit into the memory
// that is allowed. If only the selected ones do, the others are left out.
func (f *exportFormat) checkMemory(opt *exportOptions, job *export.Job) error {
	allowed, err := parseBytes("--memory", opt.memory)
	if err != nil {
		return err
	}
	own := f.matches != nil && f.matches(opt)
	corrected := f.times && opt.clock != "raw" && clocks.Needed(job.Run)
	if !own && !corrected || !match.Traced(job.Run) {
		return nil
	}
	all := make([]int, len(job.Run.Procs))
	for i := range all {
		all[i] = i
	}
	whole := match.Memory(job.Run, all)
	if whole <= uint64(allowed) {
		return nil
	}
	if part := match.Memory(job.Run, job.Procs); len(job.Procs) == len(all) || part > uint64(allowed) {
		return opt.tooLarge(f, job, part, uint64(allowed), own)
	}
	job.Alone = true
	job.Note(fmt.Sprintf("messages are matched and clocks aligned among the selected ranks only: all %d together need about %s of memory, --memory allows %s", len(all), byteText(whole), byteText(uint64(allowed))))
	return nil
}

// tooLarge says why an export is rejected, and what works instead.
func (opt *exportOptions) tooLarge(f *exportFormat, job *export.Job, needed, allowed uint64, own bool) error {
	advice := []string{"--memory allows more"}
	if n := match.Fit(job.Run, job.Procs, allowed); n > 0 && opt.appendTo == "" {
		advice = append(advice, fmt.Sprintf("%s is a part for which that is enough", firstRanks(job, n)))
	}
	switch {
	case !own:
		advice = append(advice, "--clock raw writes the times as they were recorded, and needs none")
	case slices.Contains(f.what, "events") && opt.appendTo == "":
		advice = append(advice, "--what events --clock raw needs none")
	}
	advice = append(advice, "--format mtf writes all in little memory")
	why := "messages are matched among"
	if !own {
		why = "the clocks of machines are aligned by the messages of"
	}
	return usageError("--format %s: about %s of memory are needed, as %s %d ranks side by side, and %s are allowed: %s", f.name, byteText(needed), why, len(job.Procs), byteText(allowed), strings.Join(advice, "; "))
}

// firstRanks are the options that select the first processes of a selection.
func firstRanks(job *export.Job, n int) string {
	var ranges []string
	for k := 0; k < n; {
		first := job.Run.Procs[job.Procs[k]].Rank
		last := first
		for k++; k < n && job.Run.Procs[job.Procs[k]].Rank == last+1; k++ {
			last++
		}
		text := strconv.Itoa(first)
		if last > first {
			text += "-" + strconv.Itoa(last)
		}
		const most = 4 // fewer ranks are a part, too
		if ranges = append(ranges, text); len(ranges) == most {
			break
		}
	}
	return "--rank " + strings.Join(ranges, ",")
}
