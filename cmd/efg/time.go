package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// defaultError is the error of --time trace in units of efg.ErrorUnit.
const defaultError = 500

// exactTrace is the value of --time that keeps every tick.
const exactTrace = "trace=exact"

// timeForHook turns the value of --time into what the hook is told, EFG_TIME:
// "off", "stats", or "trace=" and the error in parts of efg.ErrorUnit, 0 for none.
func timeForHook(s string) (string, error) {
	mode, percent, given := strings.Cut(s, "=")
	switch {
	case s == "off" || s == "stats":
		return s, nil
	case mode != "trace":
		return "", usageError("--time %s: want off, stats, trace[=ERROR] or trace=exact", s)
	case s == exactTrace:
		return "trace=0", nil
	case !given:
		return "trace=" + strconv.Itoa(defaultError), nil
	}
	x, err := strconv.ParseFloat(strings.TrimSuffix(percent, "%"), 64)
	parts := math.Round(x / 100 * efg.ErrorUnit)
	if err != nil || !(parts >= efg.MinError && parts <= efg.MaxError) {
		return "", usageError("--time %s: want an error of 0.1 to 25 percent", s)
	}
	return "trace=" + strconv.Itoa(int(parts)), nil
}

// timeForMeta converts the hook's setting into the description in the run file.
func timeForMeta(hookTime string) string {
	if text, ok := strings.CutPrefix(hookTime, "trace="); ok {
		if parts, err := strconv.ParseUint(text, 10, 32); err == nil {
			return runfile.TraceTime(uint32(parts))
		}
	}
	return hookTime
}
