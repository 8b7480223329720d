package simulate

import (
	"bufio"
	"strconv"
)

// mostThreads is how many processors of a rank there can be: one for each thread.
const mostThreads = 256

// schedule writes the operations of a rank in GOAL. Each has a label, which later ones require. The first
// error of the output is kept for Flush.
type schedule struct {
	out  *bufio.Writer
	line []byte
	last uint64 // number of the last label
}

// step is what the next operation of a thread requires: that an operation is done or, if started is set,
// that it has begun. 0: nothing.
type step struct {
	label   uint64
	started bool
}

func newSchedule(out *bufio.Writer, rank int) *schedule {
	s := &schedule{out: out}
	s.out.WriteString("\nrank " + strconv.Itoa(rank) + " {\n")
	return s
}

// end ends the rank. Simulators expect an operation at least.
func (s *schedule) end() error {
	if s.last == 0 {
		s.calc(&thread{}, 0)
	}
	_, err := s.out.WriteString("}\n")
	return err
}

// label begins the line of an operation.
func (s *schedule) label() {
	s.last++
	s.line = append(strconv.AppendUint(append(s.line[:0], 'l'), s.last, 10), ": "...)
}

// operation ends the line of an operation, which requires what a thread's next one does.
func (s *schedule) operation(t *thread, messages bool) uint64 {
	if t.number > 0 {
		s.line = strconv.AppendInt(append(s.line, " cpu "...), int64(t.number), 10)
		if messages {
			s.line = append(s.line, " nic 0"...)
		}
	}
	s.out.Write(append(s.line, '\n'))
	return s.last
}

// require writes what an operation requires.
func (s *schedule) require(label uint64, of step) {
	if of.label == 0 {
		return
	}
	b := strconv.AppendUint(append(s.line[:0], 'l'), label, 10)
	if b = append(b, " requires l"...); of.started {
		b = append(b[:len(b)-len("requires l")], "irequires l"...)
	}
	s.line = append(strconv.AppendUint(b, of.label, 10), '\n')
	s.out.Write(s.line)
}

func (s *schedule) calc(t *thread, ns int64) uint64 {
	s.label()
	s.line = strconv.AppendInt(append(s.line, "calc "...), ns, 10)
	return s.operation(t, false)
}

func (s *schedule) message(t *thread, m *message) uint64 {
	s.label()
	verb, side := "recv ", "b from "
	if m.sends {
		verb, side = "send ", "b to "
	}
	b := strconv.AppendUint(append(s.line, verb...), m.bytes, 10)
	b = strconv.AppendInt(append(b, side...), int64(m.peer), 10)
	s.line = strconv.AppendInt(append(b, " tag "...), m.tag, 10)
	return s.operation(t, true)
}

// computation writes the computation before an operation.
func (s *schedule) computation(t *thread) {
	if t.computed == 0 {
		return
	}
	n := s.calc(t, t.computed)
	s.require(n, t.last)
	t.computed, t.last = 0, step{label: n}
}

// round writes messages that require all of these steps.
func (s *schedule) round(t *thread, list []message, after []step) []step {
	var labels []step
	for i := range list {
		n := s.message(t, &list[i])
		for _, of := range after {
			s.require(n, of)
		}
		labels = append(labels, step{label: n})
	}
	return labels
}

// joined writes an operation that requires others, if there are several.
func (s *schedule) joined(t *thread, of []step) step {
	if len(of) == 1 {
		return of[0]
	}
	n := s.calc(t, 0)
	for _, x := range of {
		s.require(n, x)
	}
	return step{label: n}
}

func (s *schedule) transfer(t *thread, list []message) {
	s.computation(t)
	t.last = s.joined(t, s.round(t, list, []step{t.last}))
}

func (s *schedule) issue(t *thread, list []message, r *request) {
	s.computation(t)
	for i := range list {
		n := s.message(t, &list[i])
		s.require(n, t.last)
		r.marks = append(r.marks, n)
		t.last = step{n, true}
	}
}

func (s *schedule) join(t *thread, c *collective, r *request) {
	s.computation(t)
	after := []step{t.last}
	for _, list := range c.rounds {
		after = s.round(t, list, after)
	}
	done := s.joined(t, after)
	if r == nil {
		t.last = done
	} else {
		r.marks = append(r.marks, done.label)
	}
}

func (s *schedule) wait(t *thread, list []*request) {
	s.computation(t)
	n := s.calc(t, 0)
	s.require(n, t.last)
	for _, r := range list {
		for _, label := range r.marks {
			if label != t.last.label || t.last.started {
				s.require(n, step{label: label})
			}
		}
	}
	t.last = step{label: n}
}
