package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/units"
)

// defaultError is the error of --time trace in units of efg.ErrorUnit, defaultBudget the number of
// bytes that the times of each call may take in a process with --time auto.
const (
	defaultError  = 500
	defaultBudget = 32 << 20
)

// A budget below minBudget is enough for a few dozen calls only; a segment has no more space than
// maxBudget.
const (
	minBudget = 256
	maxBudget = 64 << 30
)

// timeForHook turns the value of --time into what the hook is told, EFG_TIME: "off", "stats", or
// "trace=", the error in parts of efg.ErrorUnit, 0 for none, and perhaps a comma and the budget.
func timeForHook(s string) (string, error) {
	mode, value, given := strings.Cut(s, "=")
	switch {
	case s == "off" || s == "stats":
		return s, nil
	case s == "auto":
		return hookTrace(defaultError, defaultBudget), nil
	case mode == "auto":
		budget, err := timeBudget(s, value)
		return hookTrace(defaultError, budget), err
	case mode != "trace":
		return "", usageError("--time %s: want off, stats, auto[=BUDGET] or trace[=ERROR]", s)
	case !given:
		return hookTrace(defaultError, 0), nil
	}
	value, limit, limited := strings.Cut(value, ",")
	parts, err := timeError(s, value)
	budget := int64(0)
	if err == nil && limited {
		budget, err = timeBudget(s, limit)
	}
	return hookTrace(parts, budget), err
}

// hookTrace is EFG_TIME for the times of each call; a budget of 0 is none.
func hookTrace(parts int, budget int64) string {
	text := "trace=" + strconv.Itoa(parts)
	if budget > 0 {
		text += "," + strconv.FormatInt(budget, 10)
	}
	return text
}

// timeError reads an error in percent, or "exact".
func timeError(option, value string) (parts int, err error) {
	if value == "exact" {
		return 0, nil
	}
	x, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
	rounded := math.Round(x / 100 * efg.ErrorUnit)
	if err != nil || !(rounded >= efg.MinError && rounded <= efg.MaxError) {
		return 0, usageError("--time %s: want an error of 0.1 to 25 percent, or exact", option)
	}
	return int(rounded), nil
}

// timeBudget reads how many bytes the times of each call may take in a process.
func timeBudget(option, value string) (int64, error) {
	n, err := parseBytes("--time", value)
	if err != nil || n < minBudget || n > maxBudget {
		return 0, usageError("--time %s: want a budget of 256B to 64GiB for each process, as in auto=32MiB", option)
	}
	return n, nil
}

// timeForMeta converts the hook's setting into the description in the run file.
func timeForMeta(hookTime string) string {
	text, traced := strings.CutPrefix(hookTime, "trace=")
	if !traced {
		return hookTime
	}
	text, limit, _ := strings.Cut(text, ",")
	parts, _ := strconv.ParseUint(text, 10, 32)
	budget, _ := strconv.ParseUint(limit, 10, 64)
	return runfile.TraceTime(uint32(parts), budget)
}

// endNote says that an analysis of the times of each call ends where those of the first process do.
func endNote(end int64) string {
	return fmt.Sprintf("this is of the run's first %s, where the times of each call end in some ranks; efg info says which", units.Nanoseconds(float64(end)))
}

// earlyNote warns, where calls are selected by their own times, that some have none.
func earlyNote(w io.Writer, run *runfile.Run) {
	early, streams := 0, 0
	for i := range run.Procs {
		for j := range run.Procs[i].Streams {
			streams++
			if run.Procs[i].Streams[j].Untimed > 0 {
				early++
			}
		}
	}
	if early > 0 {
		fmt.Fprintf(w, "note: in %d of %d streams, only the first calls have times of their own; efg info says how many\n", early, streams)
	}
}

// timeText says what times a run has, by what its metadata say.
func timeText(time string) string {
	text, traced := strings.CutPrefix(time, "trace=")
	if !traced {
		return time
	}
	text, budget, limited := strings.Cut(text, ",")
	if text = "trace, within " + text + " %"; strings.HasPrefix(time, "trace=exact") {
		text = "trace, exact"
	}
	if limited {
		text += ", up to " + budget + " in each process"
	}
	return text
}
