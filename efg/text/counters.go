package text

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
)

// counters writes what was counted at a node, each counter by its number in the process.
func (d *dumper) counters(list []efg.NodeCounter) {
	for i := range list {
		if c := &list[i]; c.Count > 0 {
			d.linef("   counted %d times %d call %s before %s", i, c.Count, tallyText(&c.Call), tallyText(&c.Before))
		}
	}
}

func tallyText(t *efg.Tally) string { return sumsText(t.Sum, t.Min, t.Max, t.Bins[:]) }

// sumsText writes sum, minimum, maximum and the bins that are not empty.
func sumsText(sum, least, most uint64, bins []uint32) string {
	var list []string
	for i, c := range bins {
		if c != 0 {
			list = append(list, fmt.Sprintf("%d:%d", i, c))
		}
	}
	if list == nil {
		list = []string{"-"}
	}
	return fmt.Sprintf("%d %d %d %s", sum, least, most, strings.Join(list, ","))
}

// counterLine takes a counter of the process: its name and unit, and its state.
func (p *parser) counterLine() error {
	if err := p.in(p.proc != nil && p.stream == nil, "process that has no thread yet"); err != nil {
		return err
	}
	text, err := p.quotedString("a counter's name")
	if err != nil {
		return err
	}
	c := efg.ParseCounter(text)
	state, err := p.named("state", 8)
	if err != nil {
		return err
	}
	if c.State = efg.CounterState(state); c.State >= efg.CounterStates || len(p.proc.Counters) == efg.MaxCounters {
		return p.errorf("a state below %d, of at most %d counters", efg.CounterStates, efg.MaxCounters)
	}
	p.proc.Counters = append(p.proc.Counters, c)
	return nil
}

// countedLine takes what a counter counted at the node.
func (p *parser) countedLine() error {
	if err := p.in(p.node != nil, "node"); err != nil {
		return err
	}
	number, err := p.number("number", 32)
	if err != nil {
		return err
	}
	if number >= uint64(len(p.proc.Counters)) {
		return p.errorf("counter %d of %d", number, len(p.proc.Counters))
	}
	if p.node.Counters == nil {
		p.node.Counters = make([]efg.NodeCounter, len(p.proc.Counters))
	}
	c := &p.node.Counters[number]
	if c.Count, err = p.named("times", 64); err != nil {
		return err
	}
	if err := p.tally("call", &c.Call); err != nil {
		return err
	}
	return p.tally("before", &c.Before)
}

func (p *parser) tally(name string, t *efg.Tally) error {
	return p.sums(name, &t.Sum, &t.Min, &t.Max, t.Bins[:])
}

// sums reads what sumsText wrote, after a name.
func (p *parser) sums(name string, sum, least, most *uint64, bins []uint32) (err error) {
	if *sum, err = p.named(name, 64); err != nil {
		return err
	}
	if *least, err = p.number("minimum", 64); err != nil {
		return err
	}
	if *most, err = p.number("maximum", 64); err != nil {
		return err
	}
	text, err := p.word("bins")
	if err != nil || text == "-" {
		return err
	}
	for _, b := range strings.Split(text, ",") {
		number, events, _ := strings.Cut(b, ":")
		i, err1 := strconv.ParseUint(number, 10, 8)
		c, err2 := strconv.ParseUint(events, 10, 32)
		if err1 != nil || err2 != nil || i >= uint64(len(bins)) {
			return p.errorf("%q: want BIN:EVENTS, bins from 0 to %d", b, len(bins)-1)
		}
		bins[i] = uint32(c)
	}
	return nil
}
