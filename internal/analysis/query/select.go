package query

import (
	"strconv"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Match is a selected event or, if the query selects messages, the call that
// sends some. It is valid until the next one.
type Match struct {
	*reconstruct.Event
	messages []*analysis.Operation // nil if the event is selected
	reader   *reader
}

// IsMessages reports whether messages are selected.
func (m *Match) IsMessages() bool { return m.messages != nil }

// Select calls f for what the query selects: by rank, thread and event. IsTotal
// and IsTopology must not hold. issues is reconstruct.Options.Issues.
func (q *Query) Select(run *runfile.Run, issues bool, f func(*Match) error) error {
	e, err := q.bind(run)
	if err != nil {
		return err
	}
	s := &selection{engine: e, f: f, left: q.limit, issues: issues}
	for n, i := range e.processes() {
		if q.Progress != nil {
			q.Progress(uint64(n))
		}
		if s.over {
			return nil
		}
		if err := s.process(i); err != nil {
			return err
		}
	}
	return nil
}

type selection struct {
	*engine
	f      func(*Match) error
	issues bool
	left   uint64 // left of the limit
	over   bool
}

func (s *selection) process(i int) error {
	events, err := s.rebuilder.Process(i)
	if err != nil {
		return err
	}
	p, err := analysis.NewProcess(events.Data(), s.first[i])
	if err != nil {
		return err
	}
	r := s.reader(p, events.Names())
	for k := range p.Data.Streams {
		err := r.eachEvent(events, k, reconstruct.Options{Issues: s.issues}, func(e *reconstruct.Event, c *analysis.Call) (bool, error) {
			err := s.event(r, e, c)
			return !s.over, err
		})
		if err != nil || s.over {
			return err
		}
	}
	return nil
}

func (s *selection) event(r *reader, e *reconstruct.Event, c *analysis.Call) error {
	matched := r.match(c)
	if len(matched) == 0 {
		return nil
	}
	m := &Match{Event: e, reader: r}
	n := uint64(1)
	if s.unit.messages {
		for _, k := range matched {
			m.messages = append(m.messages, &c.Operations[k])
		}
		if n = uint64(len(m.messages)); s.limit > 0 && n > s.left {
			n = s.left
			m.messages = m.messages[:n]
		}
	}
	if s.limit > 0 {
		s.left -= n
		s.over = s.left == 0
	}
	return s.f(m)
}

// AppendMessages appends the selected messages as JSON Lines; docs/query.md
// describes them.
func (m *Match) AppendMessages(b []byte) []byte {
	for _, o := range m.messages {
		b = append(b, `{"rank":`...)
		b = strconv.AppendInt(b, int64(m.Rank()), 10)
		b = append(b, `,"thread":`...)
		b = strconv.AppendUint(b, uint64(m.Thread()), 10)
		b = append(b, `,"seq":`...)
		b = strconv.AppendUint(b, m.Seq, 10)
		b = append(b, `,"op":"`...)
		b = append(append(b, m.Op()...), `","sender":`...)
		b = strconv.AppendInt(b, int64(m.Rank()), 10)
		b = appendNumber(b, "receiver", uint64(o.Peer), o.Peer >= 0)
		b = appendNumber(b, "tag", o.Tag, !signature.IsConst(o.Tag))
		b = appendNumber(b, "count", o.Count, !signature.IsConst(o.Count))
		b = appendText(b, "datatype", m.reader.names.Handle(signature.Type, o.Datatype))
		b = appendNumber(b, "bytes", o.Sent, o.Known)
		b = appendText(b, "comm", m.reader.names.Handle(signature.Comm, o.Comm))
		b = appendText(b, "site", m.Site())
		if start, end, ok := m.Times(); ok {
			b = appendNumber(appendNumber(b, "t0", uint64(start), true), "t1", uint64(end), true)
		}
		b = append(b, "}\n"...)
	}
	return b
}

func appendNumber(b []byte, name string, v uint64, known bool) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	if !known {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(v), 10)
}

func appendText(b []byte, name, text string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return appendJSON(b, text)
}

// AppendMessagesText appends the selected messages as human-readable lines.
func (m *Match) AppendMessagesText(b []byte) []byte {
	text := func(v uint64, known bool) string {
		if !known {
			return "?"
		}
		return strconv.FormatInt(int64(v), 10)
	}
	for _, o := range m.messages {
		b = append(b, pad(strconv.Itoa(m.Rank()), 4)...)
		b = append(b, pad(strconv.FormatUint(m.Seq, 10), 9)...)
		b = append(b, "  -> "...)
		b = append(b, text(uint64(o.Peer), o.Peer >= 0)...)
		b = append(append(b, "  "...), text(o.Sent, o.Known)...)
		b = append(append(b, " bytes, tag "...), text(o.Tag, !signature.IsConst(o.Tag))...)
		b = append(append(b, ", "...), m.reader.names.Handle(signature.Comm, o.Comm)...)
		b = append(append(b, ", "...), m.Op()...)
		b = append(append(append(b, "  "...), m.Site()...), '\n')
	}
	return b
}

func pad(s string, width int) string {
	for len(s) < width {
		s = " " + s
	}
	return s
}

// IsMessages reports whether the query selects messages.
func (q *Query) IsMessages() bool { return q.unit.messages && !q.isTotal() }
