package text

import (
	"strings"

	"github.com/efg-tools/efg/efg"
)

// intervals writes the times of a node's events.
func (d *dumper) intervals(t *efg.Times) {
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
		text := PairText(gap, dur)
		if len(line)+len(text) > lineWidth {
			flush()
		}
		line += " " + text
	}
	flush()
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
	bound, err := p.named("bound", 64)
	if err != nil {
		return err
	}
	if _, err := efg.NewTimeQuantizer(uint32(parts), bound); err != nil {
		return p.errorf("%w", err)
	}
	begin, err := p.named("begin", 64)
	p.stream.Trace = &efg.Trace{Error: uint32(parts), Bound: bound, Begin: begin}
	if err == nil && p.more() {
		p.stream.Trace.Untimed, err = p.named("untimed", 64)
	}
	return err
}

// intervalsLine takes times of the node's events: GAP/DURATION of each.
func (p *parser) intervalsLine() error {
	if err := p.in(p.node != nil && p.node.Times != nil, "node of a thread with a trace"); err != nil {
		return err
	}
	for p.more() {
		text, err := p.word("times")
		if err != nil {
			return err
		}
		gap, dur, err := ParsePair(text)
		if err != nil {
			return p.errorf("%w", err)
		}
		p.node.Times.Gap.Append(gap)
		p.node.Times.Dur.Append(dur)
	}
	return nil
}

// anchorLine takes an anchor of the process's clock.
func (p *parser) anchorLine() error {
	if err := p.in(p.proc != nil && p.stream == nil, "process"); err != nil {
		return err
	}
	var fields []string
	for p.more() {
		text, err := p.word("a number")
		if err != nil {
			return err
		}
		fields = append(fields, text)
	}
	a, err := ParseAnchor(strings.Join(fields, " "))
	if err != nil {
		return p.errorf("%w", err)
	}
	p.proc.Anchors = append(p.proc.Anchors, a)
	return nil
}
