package groundtruth

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Comparison compares a reconstruction with the logs of the same run.
type Comparison struct {
	Queries bool // the run was recorded with --queries
	sem     *semantics
	totals  bool // the run was recorded with --polls totals

	Events      int // compared so far
	Entered     int // calls that did not return, compared so far
	Differences []string
}

// maxDifferences bounds the reported differences: the first few usually cause the others.
const maxDifferences = 12

// NewComparison prepares a comparison; root is the module's root directory.
func NewComparison(root string, queries bool) (*Comparison, error) {
	sem, err := loadSemantics(root + "/testdata/logger/semantics.tbl")
	return &Comparison{Queries: queries, sem: sem}, err
}

func (c *Comparison) differ(format string, args ...any) {
	if len(c.Differences) < maxDifferences {
		c.Differences = append(c.Differences, fmt.Sprintf(format, args...))
	}
}

// Compare reads the reconstruction of a whole run.
func (c *Comparison) Compare(logs []*Process, reconstruction io.Reader) error {
	left := slices.Clone(logs)
	err := ReadEvents(reconstruction, func(rank int, threads [][]Event) error {
		i := c.processOf(left, rank)
		if i < 0 {
			c.differ("rank %d: in the reconstruction, not in the log", rank)
			return nil
		}
		c.process(left[i], threads)
		left = slices.Delete(left, i, i+1)
		return nil
	})
	for _, p := range left {
		if len(p.Threads) > 0 {
			c.differ("rank %d: in the log, not in the reconstruction", p.Rank)
		}
	}
	return err
}

// processOf finds the log of a rank.
func (c *Comparison) processOf(logs []*Process, rank int) int {
	return slices.IndexFunc(logs, func(p *Process) bool { return p.Rank == rank && len(p.Threads) > 0 })
}

// process compares the threads of one process. The two sides may number them
// differently when several started at once.
func (c *Comparison) process(p *Process, threads [][]Event) {
	free := make([]int, 0, len(p.Threads))
	for t := range p.Threads {
		free = append(free, t)
	}
	h := newHandles(p)
	for t, events := range threads {
		events, entered := apart(events)
		best, bestErr := -1, ""
		for k, candidate := range free {
			trial := &stream{c: c, p: p, h: h, events: events, entered: entered, where: fmt.Sprintf("rank %d thread %d", p.Rank, t)}
			err := trial.compare(c.recorded(p.Threads[candidate]))
			if err == "" {
				h.uses = append(h.uses, trial.uses...)
				best, bestErr = k, ""
				break
			}
			if best < 0 || candidate == t {
				best, bestErr = k, err
			}
		}
		if best < 0 {
			c.differ("rank %d: thread %d is not in the log", p.Rank, t)
			continue
		}
		if bestErr != "" {
			c.differ("%s", bestErr)
		}
		free = slices.Delete(free, best, best+1)
		c.Events += len(events)
		if entered != nil {
			c.Entered++
		}
	}
	for _, t := range free {
		if n := len(c.recorded(p.Threads[t])); n > 1 || n == 1 && c.recorded(p.Threads[t])[0].Done {
			c.differ("rank %d: a thread with %d calls is not in the reconstruction", p.Rank, n)
		}
	}
	if len(c.Differences) == 0 {
		h.check(c)
	}
}

// recorded removes the calls that efg is not meant to record.
func (c *Comparison) recorded(calls []Call) []Call {
	if c.Queries && !c.totals {
		return calls
	}
	var kept []Call
	for _, call := range calls {
		if (c.Queries || !c.sem.query[call.Op]) && !(c.totals && call.foundNothing()) {
			kept = append(kept, call)
		}
	}
	return kept
}

// stream compares one thread.
type stream struct {
	c      *Comparison
	p      *Process
	h      *handles
	where  string
	events []Event
	// entered is the call that the thread was in, nil if there was none.
	entered *Event
	uses    []use
}

// apart separates the call that a thread was in from its events.
func apart(events []Event) ([]Event, *Event) {
	if n := len(events); n > 0 && events[n-1].Entered != nil {
		e := events[n-1].Entered
		e.line = events[n-1].line
		return events[:n-1], e
	}
	return events, nil
}

// compare returns the first difference, "" if there is none.
func (s *stream) compare(calls []Call) string {
	j := 0
	var open *Call // the last call, if it did not return and is not an event
	for i := range calls {
		call := &calls[i]
		open = nil
		if j >= len(s.events) {
			if call.Done || call.Abandoned || i+1 < len(calls) {
				return fmt.Sprintf("%s: event %d is missing: %s", s.where, j, call.Line)
			}
			open = call
			continue
		}
		e := &s.events[j]
		if e.Op != call.name() {
			if !call.Done && !call.Abandoned {
				continue
			}
			return fmt.Sprintf("%s: event %d is %s, should be %s\n  log: %s\n  efg: %s",
				s.where, j, e.Op, call.Op, call.Line, e.line)
		}
		if err := s.event(call, e); err != "" {
			return fmt.Sprintf("%s: event %d: %s\n  log: %s\n  efg: %s", s.where, j, err, call.Line, e.line)
		}
		j++
	}
	if j < len(s.events) {
		return fmt.Sprintf("%s: %d events too many, the first: %s", s.where, len(s.events)-j, s.events[j].line)
	}
	if err := s.inCall(open); err != "" {
		return fmt.Sprintf("%s: in call: %s\n  efg: %s", s.where, err, s.entered.line)
	}
	return ""
}

// inCall compares the call that the thread was in with the one that was entered but did not
// return according to the log.
func (s *stream) inCall(call *Call) string {
	e := s.entered
	switch {
	case e == nil: // only the logger may have seen it
		return ""
	case call == nil:
		return "the log has no call that did not return"
	case e.Op != call.name():
		return "the log has " + call.Line
	}
	for _, f := range call.In {
		v, ok := e.value(f.Name, e.Args)
		if !ok || strings.HasPrefix(f.Name, "_") {
			continue // arrays of requests are not known yet
		}
		if err := s.argument(call, f, v, ok, useHandle); err != "" {
			return fmt.Sprintf("argument %s: %s\n  log: %s", f.Name, err, call.Line)
		}
	}
	return ""
}

// deepest stands for greater depths, too.
const deepest = 7

func (s *stream) event(call *Call, e *Event) string {
	if e.Depth != min(call.Depth, deepest) {
		return fmt.Sprintf("depth %d, should be %d", e.Depth, call.Depth)
	}
	known := map[string]bool{}
	for _, f := range call.In {
		if strings.HasPrefix(f.Name, "_") {
			continue
		}
		known[f.Name] = true
		v, ok := e.value(f.Name, e.Args)
		if err := s.argument(call, f, v, ok, useHandle); err != "" {
			return fmt.Sprintf("argument %s: %s", f.Name, err)
		}
	}
	if call.Done || call.Abandoned {
		if err := s.outcome(call, e, known); err != "" {
			return err
		}
	}
	for _, n := range names(e.Args) {
		if !known[n] && !s.ignored(n) && call.Done && call.Err == 0 {
			return fmt.Sprintf("argument %s is not in the log", n)
		}
	}
	return ""
}

// ignored are arguments that only one side has.
func (s *stream) ignored(name string) bool { return s.c.sem.ignore[name] || s.c.sem.buffer[name] }

func (s *stream) outcome(call *Call, e *Event, known map[string]bool) string {
	if err := s.errorClass(call, e); err != "" {
		return err
	}
	for _, f := range call.Out {
		switch {
		case f.Name == "status" || f.Name == "array_of_statuses":
			continue
		case get(call.In, f.Name) != "" && isHandle(f.Raw):
			continue // a request or object that the call may have set to null
		}
		known[f.Name] = true
		v, ok := e.value(f.Name, e.Out, e.Args)
		if err := s.argument(call, f, v, ok, newHandle); err != "" {
			return fmt.Sprintf("result %s: %s", f.Name, err)
		}
	}
	return s.statuses(call, e)
}

// notReturned is in place of the error class of a call that was left with longjmp.
const notReturned = "NOT_RETURNED"

func isHandle(raw string) bool {
	raw = strings.TrimPrefix(raw, "[")
	return raw != "" && raw[0] >= 'a' && raw[0] <= 'z'
}

func (s *stream) errorClass(call *Call, e *Event) string {
	v, ok := e.Out["error"]
	if call.Abandoned {
		if v != notReturned {
			return fmt.Sprintf("error %v, but it did not return", v)
		}
		return ""
	}
	if call.Err == 0 {
		if ok {
			return fmt.Sprintf("error %v, but it succeeded", v)
		}
		return ""
	}
	name, _ := v.(string)
	if n, ok := s.p.Constants[name]; ok && n == int64(call.Err) {
		return ""
	}
	if strings.HasPrefix(name, "MPI_ERR_LASTCODE+") {
		return ""
	}
	return fmt.Sprintf("error %v, should be class %d", v, call.Err)
}

// argument compares one value.
func (s *stream) argument(call *Call, f Field, v any, ok bool, role role) string {
	if strings.HasPrefix(f.Raw, "?") || s.c.sem.ignore[f.Name] {
		return ""
	}
	if s.c.sem.buffer[f.Name] {
		return bufferArgument(f.Raw, v)
	}
	if f.Raw == "~" {
		if _, list := v.([]any); list {
			return fmt.Sprintf("is %v, should be no array", v)
		}
		return ""
	}
	if !ok {
		if f.Raw == "[]" || halfOfIntercomm(call) && f.Name != "root" && f.Name != "comm" {
			return ""
		}
		return fmt.Sprintf("is missing, should be %s", f.Raw)
	}
	if strings.HasPrefix(f.Raw, "[") {
		return s.array(call, f, v, role)
	}
	if n, err := strconv.ParseInt(f.Raw, 10, 64); err == nil && f.Name == "errorclass" && s.ownClass(n, v) {
		return ""
	}
	return s.scalar(call, f.Raw, v, role)
}

// userClass is the offset that efg adds to error classes created by the program. Their numbers
// differ between MPI libraries.
const userClass = 1 << 15

func (s *stream) ownClass(raw int64, v any) bool {
	got, ok := number(v)
	return ok && got > userClass && raw > s.p.Constants["MPI_ERR_LASTCODE"]-1
}

// halfOfIntercomm reports whether the caller of a rooted collective on an intercommunicator
// only sends, only receives, or does neither.
func halfOfIntercomm(call *Call) bool {
	root, err := strconv.Atoi(get(call.In, "root"))
	return err == nil && root < 0
}

func (s *stream) array(call *Call, f Field, v any, role role) string {
	list, ok := v.([]any)
	want := elements(f.Raw)
	if !ok {
		if len(want) == 0 {
			return ""
		}
		return fmt.Sprintf("is %v, should be %s", v, f.Raw)
	}
	if len(list) != len(want) {
		return fmt.Sprintf("has %d elements, should have %d", len(list), len(want))
	}
	for i := range list {
		if err := s.scalar(call, want[i], list[i], role); err != "" {
			return fmt.Sprintf("element %d %s", i, err)
		}
	}
	return ""
}

func (s *stream) scalar(call *Call, raw string, v any, role role) string {
	if call.Op == attributeDouble && !strings.HasPrefix(raw, `"`) {
		return doubleArgument(raw, v)
	}
	if strings.HasPrefix(raw, `"`) {
		return stringArgument(raw, v)
	}
	if h, ok := parseHandle(raw); ok {
		return s.handle(call, h, v, role)
	}
	want, err := strconv.ParseInt(raw, 10, 64)
	if err != nil {
		return fmt.Sprintf("log not understood: %q", raw)
	}
	got, ok := s.integer(v)
	if !ok || got != want {
		return fmt.Sprintf("is %v, should be %d", v, want)
	}
	return ""
}

// integer is a number, or the value of constants joined with "|".
func (s *stream) integer(v any) (int64, bool) {
	if n, ok := number(v); ok {
		return n, true
	}
	text, ok := v.(string)
	if !ok {
		return 0, false
	}
	var sum int64
	for _, name := range strings.Split(text, "|") {
		n, ok := s.p.Constants[name]
		if !ok {
			return 0, false
		}
		sum |= n
	}
	return sum, true
}

// doubleArgument compares a number with the bits that the logger wrote. JSON has no infinities and
// no NaN: they are strings.
func doubleArgument(raw string, v any) string {
	bits, err := strconv.ParseInt(raw, 10, 64)
	got, gotErr := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil || gotErr != nil || math.Float64bits(got) != uint64(bits) {
		return fmt.Sprintf("is %v, should be %v", v, math.Float64frombits(uint64(bits)))
	}
	return ""
}

func bufferArgument(raw string, v any) string {
	name, _ := v.(string)
	switch {
	case raw == "in_place" && name != "MPI_IN_PLACE", raw != "in_place" && name == "MPI_IN_PLACE",
		raw == "bottom" && name != "MPI_BOTTOM", raw == "" && (name == "MPI_BOTTOM" || name == "NULL"):
		return fmt.Sprintf("is %v, should be %q", v, raw)
	}
	return ""
}

// stringArgument decodes the logger's percent-encoding.
func stringArgument(raw string, v any) string {
	raw = strings.Trim(raw, `"`)
	var b []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '%' && i+2 < len(raw) {
			n, err := strconv.ParseUint(raw[i+1:i+3], 16, 8)
			if err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, raw[i])
	}
	if got, ok := v.(string); !ok || got != string(b) {
		return fmt.Sprintf("is %v, should be %q", v, b)
	}
	return ""
}
