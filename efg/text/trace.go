package text

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
)

// codes writes the times of a node's events.
func (d *dumper) codes(t *efg.Times) {
	gaps, durs, line := t.Gap.Iter(), t.Dur.Iter(), ""
	flush := func() {
		if line != "" {
			d.linef("   gap/dur%s", line)
		}
		line = ""
	}
	for {
		gap, ok := gaps.Next()
		dur, _ := durs.Next()
		if !ok {
			break
		}
		text := codeText(gap) + "/" + codeText(dur)
		if len(line)+len(text) > lineWidth {
			flush()
		}
		line += " " + text
	}
	flush()
}

// codeText is BIN, BIN+FINE or BIN-FINE.
func codeText(c efg.TimeCode) string {
	if c.Fine == 0 {
		return strconv.FormatUint(uint64(c.Bin), 10)
	}
	return fmt.Sprintf("%d%+d", c.Bin, c.Fine)
}

// traceLine says that the times of each of the stream's events follow.
func (p *parser) traceLine() error {
	if err := p.in(p.stream != nil && p.stream.Nodes == nil && p.stream.Trace == nil, "thread without nodes"); err != nil {
		return err
	}
	parts, err := p.named("error", 32)
	if err != nil {
		return err
	}
	q, err := efg.NewTimeQuantizer(uint32(parts))
	if err != nil {
		return p.errorf("%w", err)
	}
	begin, err := p.named("begin", 64)
	p.stream.Trace, p.bins = &efg.Trace{Error: uint32(parts), Begin: begin}, uint32(q.Bins())
	return err
}

// codesLine reads times of the node's events: GAP/DURATION of each.
func (p *parser) codesLine() error {
	if err := p.in(p.node != nil && p.node.Times != nil, "node of a thread with a trace"); err != nil {
		return err
	}
	for p.more() {
		text, err := p.word("times")
		if err != nil {
			return err
		}
		gap, dur, ok := strings.Cut(text, "/")
		if !ok {
			return p.errorf("%q: want GAP/DURATION", text)
		}
		for i, code := range []string{gap, dur} {
			c, err := parseCode(code, p.bins)
			if err != nil {
				return p.errorf("%w", err)
			}
			[]*efg.TimeSeq{&p.node.Times.Gap, &p.node.Times.Dur}[i].Append(c)
		}
	}
	return nil
}

func parseCode(s string, bins uint32) (c efg.TimeCode, err error) {
	bin, fine := s, ""
	if i := strings.IndexAny(s, "+-"); i >= 0 {
		bin, fine = s[:i], s[i:]
	}
	v, err := strconv.ParseUint(bin, 10, 32)
	if err != nil || v >= uint64(bins) {
		return c, fmt.Errorf("%q: want BIN, BIN+FINE or BIN-FINE, bins from 0 to %d", s, bins-1)
	}
	c.Bin = uint32(v)
	if fine != "" {
		if c.Fine, err = strconv.ParseInt(fine, 10, 64); err != nil {
			return c, fmt.Errorf("%q is no number of units", fine)
		}
	}
	return c, nil
}
