package text

import "github.com/efg-tools/efg/efg"

// values writes what each counter counted at a node's events, each counter by its number in the process.
func (d *dumper) values(t *efg.Times) {
	for i := range t.Values {
		line, it := "", t.Values[i].Iter()
		flush := func() {
			if line != "" {
				d.linef("   values %d%s", i, line)
			}
			line = ""
		}
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			text := notCounted
			if v.Counted {
				text = PairText(v.Before, v.Call)
			}
			if len(line)+len(text) > lineWidth {
				flush()
			}
			line += " " + text
		}
		flush()
	}
}

// notCounted stands for the value of an event that a counter did not count.
const notCounted = "-"

// valuesLine takes what a counter counted at the node's events: BEFORE/CALL of each.
func (p *parser) valuesLine() error {
	if err := p.in(p.node != nil && p.node.Times != nil, "node of a thread with a trace"); err != nil {
		return err
	}
	number, err := p.number("number", 32)
	if err != nil {
		return err
	}
	if number >= uint64(len(p.proc.Counters)) {
		return p.errorf("counter %d of %d", number, len(p.proc.Counters))
	}
	p.stream.Trace.Counters = len(p.proc.Counters)
	if p.node.Times.Values == nil {
		p.node.Times.Values = make([]efg.CounterValues, len(p.proc.Counters))
	}
	to := &p.node.Times.Values[number]
	for p.more() {
		text, err := p.word("values")
		if err != nil {
			return err
		}
		v := efg.CounterValue{Counted: text != notCounted}
		if v.Counted {
			if v.Before, v.Call, err = ParsePair(text); err != nil {
				return p.errorf("%q: want BEFORE/CALL, or %s", text, notCounted)
			}
		}
		to.Append(v)
	}
	return nil
}
