package query

import (
	"strconv"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// once records where a clause is, and rejects a second one.
func (p *parser) once(clause string) error {
	if _, ok := p.clauses[clause]; ok {
		return p.errorAt(p.tok.at, "a second %s", clause)
	}
	p.clauses[clause] = p.tok.at
	return nil
}

func (p *parser) clause() error {
	switch {
	case p.is("FOR"):
		return p.processes(forProcesses)
	case p.is("AMONG"):
		return p.processes(amongProcesses)
	case p.is("BETWEEN"):
		return p.between()
	case p.is("IN"):
		return p.inComm()
	case p.is("WHERE"):
		if err := p.once("WHERE"); err != nil {
			return err
		}
		return p.whereClause()
	case p.is("GROUP"):
		return p.groupBy()
	case p.is("LIMIT"):
		return p.limit()
	}
	return p.errorAt(p.tok.at, "want FOR, AMONG, BETWEEN, IN COMM, WHERE, GROUP BY, LIMIT or the end, not %v", p.tok)
}

func (p *parser) between() error {
	at := p.tok.at
	if err := p.advance(); err != nil {
		return err
	}
	if p.is("TIME") {
		return p.timeWindow(at)
	}
	return p.relationTo(betweenProcesses, at)
}

// timeWindow reads TIME t1 AND [TIME] t2.
func (p *parser) timeWindow(at int) error {
	if p.q.window != nil {
		return p.errorAt(at, "BETWEEN TIME is given twice")
	}
	if err := p.advance(); err != nil {
		return err
	}
	from, err := p.value(&timeField)
	if err != nil {
		return err
	}
	if ok, err := p.accept("AND", "-"); err != nil {
		return err
	} else if !ok {
		return p.errorAt(p.tok.at, "want AND and the end of the window, not %v", p.tok)
	}
	if _, err := p.accept("TIME"); err != nil {
		return err
	}
	end := p.tok.at
	to, err := p.value(&timeField)
	if err == nil && to.number < from.number {
		err = p.errorAt(end, "the window ends before it begins")
	}
	p.q.window = &timeWindow{from.number, to.number, at}
	return err
}

func (p *parser) processes(r relation) error {
	at := p.tok.at
	if err := p.advance(); err != nil {
		return err
	}
	return p.relationTo(r, at)
}

func (p *parser) relationTo(r relation, at int) (err error) {
	if p.q.relation != anyProcess {
		return p.errorAt(at, "the processes are given twice")
	}
	p.q.relation = r
	if p.q.sets[0], err = p.processSet(); err != nil || r != betweenProcesses {
		return err
	}
	if and, err := p.accept("AND"); err != nil || !and {
		return err
	}
	p.q.sets[1], err = p.processSet()
	return err
}

// processSet reads ALL PROCESSES, PROCESS(1,3-6) or PROCESSES IN COMM(…).
func (p *parser) processSet() (*processSet, error) {
	all, err := p.accept("ALL")
	if err != nil {
		return nil, err
	}
	if ok, err := p.accept("PROCESS", "PROCESSES"); err != nil {
		return nil, err
	} else if !ok {
		return nil, p.errorAt(p.tok.at, "want PROCESS(…) or ALL PROCESSES, not %v", p.tok)
	}
	switch {
	case all:
		return &processSet{all: true}, nil
	case p.is("IN"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		comms, err := p.commList()
		return &processSet{comms: comms}, err
	case p.is("("):
		return p.rankList()
	}
	return nil, p.errorAt(p.tok.at, "want ( and ranks, or IN COMM(…), not %v", p.tok)
}

// rankList reads (1, 3-6).
func (p *parser) rankList() (*processSet, error) {
	s := &processSet{}
	for {
		if err := p.advance(); err != nil { // ( or ,
			return nil, err
		}
		at := p.tok.at
		low, err := p.rank()
		high := low
		if err == nil && p.is("-") {
			if err = p.advance(); err == nil {
				high, err = p.rank()
			}
		}
		if err != nil {
			return nil, err
		}
		if high < low {
			return nil, p.errorAt(at, "%d-%d: the first rank is above the last", low, high)
		}
		s.ranks = append(s.ranks, rankRange{low, high, at})
		if !p.is(",") {
			return s, p.expect(")")
		}
	}
}

func (p *parser) rank() (int, error) {
	if p.tok.kind != numberToken {
		return 0, p.errorAt(p.tok.at, "want a rank, not %v", p.tok)
	}
	n, err := strconv.ParseUint(p.tok.text, 10, 31)
	if err != nil {
		return 0, p.errorAt(p.tok.at, "%s is no rank", p.tok.text)
	}
	return int(n), p.advance()
}

func (p *parser) inComm() (err error) {
	if err := p.once("IN COMM"); err != nil {
		return err
	}
	if err := p.advance(); err != nil {
		return err
	}
	p.q.comms, err = p.commList()
	return err
}

// commList reads COMM(name, …).
func (p *parser) commList() ([]commName, error) {
	if !p.is("COMM", "COMMUNICATOR") {
		return nil, p.errorAt(p.tok.at, "want COMM(…), not %v", p.tok)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.is("(") {
		return nil, p.errorAt(p.tok.at, "want ( and a communicator, not %v", p.tok)
	}
	var list []commName
	for {
		t := p.name()
		c, ok := parseComm(t.text)
		if !ok {
			return nil, p.errorAt(t.at, "%q is no communicator: want MPI_COMM_WORLD, MPI_COMM_SELF or a name as JSON Lines have it, comm:1040ec07.1", t.text)
		}
		c.at, c.text = t.at, t.text
		list = append(list, c)
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.is(",") {
			return list, p.expect(")")
		}
	}
}

// commName selects communicators by a prefix of their words.
type commName struct {
	constant uint64 // word of a predefined one, else 0
	prefix   uint64 // hex digits
	digits   int
	number   uint64 // in the family
	any      bool   // all numbers
	at       int
	text     string
}

const familyDigits = 10

// parseComm reads MPI_COMM_WORLD, comm:1040ec07, comm:1040ec07.3 or comm:1040ec07.*.
func parseComm(s string) (c commName, ok bool) {
	for _, prefix := range []string{"", "MPI_", "MPI_COMM_"} {
		k := signature.ConstantByName(prefix + strings.ToUpper(s))
		if k != nil && k.Group == "comm" {
			return commName{constant: k.Word()}, true
		}
	}
	text, ok := strings.CutPrefix(strings.ToLower(s), "comm:")
	if !ok {
		return c, false
	}
	digits, number, numbered := strings.Cut(text, ".")
	if numbered && number == "*" {
		c.any = true
	} else if numbered {
		n, err := strconv.ParseUint(number, 10, signature.SequenceBits)
		if err != nil {
			return c, false
		}
		c.number = n
	}
	prefix, err := strconv.ParseUint(digits, 16, 64)
	c.prefix, c.digits = prefix, len(digits)
	return c, err == nil && len(digits) <= familyDigits
}

// match reports whether it selects the word of a communicator.
func (c *commName) match(word uint64) bool {
	if c.constant != 0 || !signature.IsPlain(word) {
		return c.constant == word
	}
	return c.matchFamily(word) && (c.any || word&signature.SequenceMask == c.number)
}

// matchFamily reports whether it selects the word of a family of communicators.
func (c *commName) matchFamily(word uint64) bool {
	return c.constant == 0 && word>>signature.SequenceBits>>(4*(familyDigits-c.digits)) == c.prefix
}

func (p *parser) groupBy() error {
	if err := p.once("GROUP BY"); err != nil {
		return err
	}
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("BY"); err != nil {
		return err
	}
	for {
		f, err := p.fieldName("to group by", func(f *field) bool { return f.group })
		if err != nil {
			return err
		}
		p.q.groups = append(p.q.groups, f)
		if more, err := p.accept(","); err != nil || !more {
			return err
		}
	}
}

func (p *parser) limit() error {
	if err := p.once("LIMIT"); err != nil {
		return err
	}
	if err := p.advance(); err != nil {
		return err
	}
	n, err := strconv.ParseUint(p.tok.text, 10, 63)
	if err != nil || n == 0 {
		return p.errorAt(p.tok.at, "want how many, not %v", p.tok)
	}
	p.q.limit = n
	return p.advance()
}
