package diff

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Condition is a condition under which two runs differ too much: "structure", or a Metric of
// the second that exceeds that of the first run by more than a limit.
type Condition struct {
	Text     string
	Metric   Metric // "": structure
	Relative bool   // Limit is a fraction: 0.05 is 5 %
	Limit    float64
}

// ConditionError is an error in a list of conditions. Its text shows the position.
type ConditionError struct {
	List string
	At   int // byte offset
	Text string
}

// Error has three lines: what is wrong, the list, and a caret.
func (e *ConditionError) Error() string {
	return fmt.Sprintf("%s\n  %s\n  %s^", e.Text, e.List, strings.Repeat(" ", len([]rune(e.List[:e.At]))))
}

// ErrUntimed is wrapped by the error about times of runs that have none.
var ErrUntimed = errors.New("time was not recorded")

// units of absolute limits.
var units = map[Metric]map[string]float64{
	TimeMetric:  {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9},
	BytesMetric: {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
	CallsMetric: {"": 1},
}

// ParseConditions reads a list as "time>5%,calls>0,structure". The error is a
// *ConditionError.
func ParseConditions(list string) ([]Condition, error) {
	var out []Condition
	for at := 0; ; {
		part, _, more := strings.Cut(list[at:], ",")
		c, err := parseCondition(list, at, at+len(part))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		if at += len(part) + 1; !more {
			return out, nil
		}
	}
}

// parseCondition reads list[from:to].
func parseCondition(list string, from, to int) (Condition, error) {
	wrong := func(at int, format string, args ...any) (Condition, error) {
		return Condition{}, &ConditionError{list, at, fmt.Sprintf(format, args...)}
	}
	skip := func() {
		for from < to && list[from] == ' ' {
			from++
		}
	}
	take := func(in func(c byte) bool) string {
		start := from
		for from < to && in(list[from]) {
			from++
		}
		return list[start:from]
	}
	c := Condition{Text: strings.TrimSpace(list[from:to])}
	skip()
	start := from
	name := take(func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' })
	c.Metric = Metric(name)
	switch {
	case name == "structure":
		c.Metric = ""
	case units[c.Metric] == nil:
		return wrong(start, "want structure, calls, bytes or time")
	default:
		skip()
		if from == to || list[from] != '>' {
			return wrong(from, "want > after %s", name)
		}
		from++
		skip()
		start = from
		text := take(func(c byte) bool { return c >= '0' && c <= '9' || c == '.' })
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(v, 0) {
			return wrong(start, "want a number")
		}
		skip()
		start = from
		unit := take(func(c byte) bool { return c != ' ' })
		scale, ok := units[c.Metric][unit]
		if c.Relative = unit == "%"; c.Relative {
			scale = 0.01
		} else if !ok {
			return wrong(start, "want %% or %s", c.Metric.unitNames())
		}
		c.Limit = v * scale
	}
	if skip(); from < to {
		return wrong(from, "want a comma or the end")
	}
	return c, nil
}

// unitNames lists the units of absolute limits, the smallest first.
func (m Metric) unitNames() string {
	if m == CallsMetric {
		return "nothing after a number of calls"
	}
	var names []string
	for u := range units[m] {
		if u != "us" {
			names = append(names, u)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		return int(math.Log10(units[m][x])) - int(math.Log10(units[m][y]))
	})
	return strings.Join(names, ", ")
}

// Amounts are what conditions compare: totals if both runs have the same number of ranks, else
// means per rank. Times exclude MPI_Init and MPI_Finalize.
func (r *Runs) Amounts(m Metric) (a, b float64) {
	var v [2]float64
	for k := range v {
		switch m {
		case TimeMetric:
			v[k] = float64(r.Running[k])
		case BytesMetric:
			v[k] = float64(r.Total[k].Bytes)
		case CallsMetric:
			v[k] = float64(r.Total[k].Calls)
		}
		if r.Ranks[0] != r.Ranks[1] {
			v[k] /= float64(max(r.Ranks[k], 1))
		}
	}
	return v[0], v[1]
}

// Holds reports whether a condition holds. The error wraps ErrUntimed.
func (c *Condition) Holds(r *Runs) (bool, error) {
	if c.Metric == "" {
		return len(r.Structure) > 0 || slices.ContainsFunc(r.Classes, func(p ClassPair) bool { return p.Match == NoMatch }), nil
	}
	if c.Metric == TimeMetric && (!r.Timed[0] || !r.Timed[1]) {
		return false, fmt.Errorf("%s: %w", c.Text, ErrUntimed)
	}
	a, b := r.Amounts(c.Metric)
	if c.Relative {
		return b > a*(1+c.Limit), nil
	}
	return b-a > c.Limit, nil
}
