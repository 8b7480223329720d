package query

import (
	"strings"

	"github.com/efg-tools/efg/internal/analysis"
)

// Query is a parsed query.
type Query struct {
	// Progress, if not nil, is called with the number of processes done.
	Progress analysis.Progress

	text       string
	unit       *unit
	aggregates []aggregate // nil for a selection
	fanIn      bool
	fanOut     bool
	topology   bool

	relation relation
	sets     [2]*processSet // the second of BETWEEN … AND …
	comms    []commName     // nil: all
	window   *timeWindow
	where    condition // nil: none
	groups   []*field
	limit    uint64 // 0: none

	fields    []fieldUse // all fields that conditions name
	timeTotal *aggregate // the first that sums times
}

// relation says how the sets of processes are combined.
type relation uint8

const (
	anyProcess relation = iota
	forProcesses
	amongProcesses
	betweenProcesses
)

// timeWindow is a window in nanoseconds since the run began.
type timeWindow struct {
	from, to int64
	at       int
}

// fieldUse is an occurrence of a field in the query.
type fieldUse struct {
	*field
	at int
}

// aggregate is a column of totals.
type aggregate struct {
	function string // COUNT, SUM, MIN, MAX, AVG
	field    *field // nil for COUNT
	at       int
}

func (a *aggregate) name() string {
	if a.field == nil {
		return "count"
	}
	return strings.ToLower(a.function + "_" + a.field.name)
}

// parser is a recursive-descent parser with one token of lookahead.
type parser struct {
	lexer
	tok     token
	depth   int
	clauses map[string]int // position of each clause
	q       *Query
}

// Parse reads a query. The error is an *Error.
func Parse(text string) (*Query, error) {
	p := &parser{lexer: lexer{text: text}, clauses: map[string]int{}, q: &Query{text: text}}
	if err := p.query(); err != nil {
		return nil, err
	}
	return p.q, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

// is reports whether the token is one of some words or symbols.
func (p *parser) is(words ...string) bool {
	for _, w := range words {
		if (p.tok.kind == wordToken || p.tok.kind == signToken) && strings.EqualFold(p.tok.text, w) {
			return true
		}
	}
	return false
}

// accept skips one of some words or symbols if it is next.
func (p *parser) accept(words ...string) (bool, error) {
	if !p.is(words...) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(what string) error {
	ok, err := p.accept(what)
	if err == nil && !ok {
		err = p.errorAt(p.tok.at, "want %s, not %v", what, p.tok)
	}
	return err
}

func (p *parser) query() (err error) {
	err = p.advance()
	if err == nil {
		err = p.expect("SELECT")
	}
	if err == nil {
		err = p.what()
	}
	for err == nil && p.tok.kind != endToken {
		err = p.clause()
	}
	if err == nil {
		err = p.check()
	}
	return err
}

func (p *parser) what() error {
	switch {
	case p.is("M_FAN_IN", "M_FAN_OUT", "FAN_IN", "FAN_OUT"):
		return p.fans()
	case p.is("TOPOLOGY", "VIRTUAL_TOPOLOGY"):
		p.q.topology, p.q.unit = true, unitNamed("MESSAGES")
		return p.advance()
	case p.is("COUNT", "SUM", "MIN", "MAX", "AVG"):
		return p.totals()
	}
	return p.units()
}

func (p *parser) fans() error {
	p.q.unit = unitNamed("OPERATIONS")
	for {
		if p.is("M_FAN_IN", "FAN_IN") {
			p.q.fanIn = true
		} else if p.is("M_FAN_OUT", "FAN_OUT") {
			p.q.fanOut = true
		} else {
			return p.errorAt(p.tok.at, "want M_FAN_IN or M_FAN_OUT, not %v", p.tok)
		}
		if err := p.advance(); err != nil {
			return err
		}
		if more, err := p.accept(","); err != nil || !more {
			return err
		}
	}
}

// units reads [ALL] unit.
func (p *parser) units() error {
	if _, err := p.accept("ALL"); err != nil {
		return err
	}
	u := (*unit)(nil)
	if p.tok.kind == wordToken {
		u = unitNamed(p.tok.text)
	}
	if u == nil {
		return p.errorAt(p.tok.at, "want what to select, as OPERATIONS, SENDS, BROADCAST, MESSAGES or MPI_Isend, not %v", p.tok)
	}
	p.q.unit = u
	if err := p.advance(); err != nil {
		return err
	}
	_, err := p.accept("OPERATION", "OPERATIONS") // ALL SEND OPERATIONS
	return err
}

// totals reads COUNT(…), SUM(…), … [OF unit].
func (p *parser) totals() error {
	for {
		if !p.is("COUNT", "SUM", "MIN", "MAX", "AVG") {
			return p.errorAt(p.tok.at, "want COUNT, SUM, MIN, MAX or AVG, not %v", p.tok)
		}
		a := aggregate{function: strings.ToUpper(p.tok.text), at: p.tok.at}
		err := p.advance()
		if err == nil && a.function == "COUNT" {
			err = p.countArgument()
		} else if err == nil {
			err = p.fieldArgument(&a)
		}
		if err != nil {
			return err
		}
		p.q.aggregates = append(p.q.aggregates, a)
		if more, err := p.accept(","); err != nil {
			return err
		} else if !more {
			break
		}
	}
	at := p.tok.at
	of, err := p.accept("OF")
	switch {
	case err != nil:
		return err
	case of && p.q.unit != nil:
		return p.errorAt(at, "COUNT is given already")
	case of:
		return p.units()
	case p.q.unit == nil:
		p.q.unit = unitNamed("OPERATIONS")
	}
	return nil
}

// countArgument reads nothing, (*) or (unit).
func (p *parser) countArgument() error {
	open, err := p.accept("(")
	if err != nil || !open {
		return err
	}
	if p.is("*") {
		err = p.advance()
	} else if p.q.unit != nil {
		return p.errorAt(p.tok.at, "an earlier COUNT is given already: want *")
	} else {
		err = p.units()
	}
	if err == nil {
		err = p.expect(")")
	}
	return err
}

func (p *parser) fieldArgument(a *aggregate) error {
	if err := p.expect("("); err != nil {
		return err
	}
	f, err := p.fieldName("to sum up", func(f *field) bool { return f.total })
	if err != nil {
		return err
	}
	a.field = f
	return p.expect(")")
}

// fieldName reads the name of a field that is suitable for a use.
func (p *parser) fieldName(use string, of func(*field) bool) (*field, error) {
	if p.is(attributeName) && of(&attributeUse) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.attributeField()
	}
	if p.tok.kind == wordToken {
		if f := fieldNamed(p.tok.text); f != nil && of(f) {
			return f, p.advance()
		}
	}
	return nil, p.errorAt(p.tok.at, "want a field %s (%s), not %v", use, fieldList(of), p.tok)
}

// check rejects combinations that are not supported.
func (p *parser) check() error {
	q := p.q
	switch {
	case q.groups != nil && q.aggregates == nil:
		return p.errorAt(p.clauses["GROUP BY"], "GROUP BY is for totals: SELECT COUNT(…) …")
	case q.limit > 0 && q.isTotal():
		return p.errorAt(p.clauses["LIMIT"], "LIMIT applies to selections only")
	}
	for i := range q.aggregates {
		a := &q.aggregates[i]
		if a.field != nil && a.field.name == "TIME" {
			if q.unit.messages {
				return p.errorAt(a.at, "a message has no time of its own")
			}
			q.timeTotal = a
		}
	}
	return nil
}

func (q *Query) isTotal() bool {
	return q.aggregates != nil || q.fanIn || q.fanOut || q.topology
}
