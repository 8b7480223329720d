package text

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// pending writes the call that a thread was in, and those inside it.
func (d *dumper) pending(outermost *efg.Pending) {
	line := "entered"
	for _, c := range outermost.Calls() {
		fmt.Fprintf(d.w, "  %s since %d %s", line, c.Since, headerText(c.Words[0]))
		for k := 1; k < len(c.Words); k++ {
			fmt.Fprintf(d.w, " %s=%s", wordName(c.Words[0], k), d.words.text(c.Words[k]))
		}
		d.linef("")
		line = "inside"
	}
}

// enteredLine reads the call that the thread was in.
func (p *parser) enteredLine() error {
	if err := p.in(p.stream != nil && p.marks == nil, "thread without marks"); err != nil {
		return err
	}
	if p.stream.Pending != nil {
		return p.errorf("the thread is in a call already")
	}
	p.stream.Pending, p.node = &efg.Pending{}, nil
	return p.callInProgress(p.stream.Pending)
}

// insideLine reads a call that the thread was in inside the one before.
func (p *parser) insideLine() error {
	if err := p.in(p.stream != nil && p.stream.Pending != nil && p.marks == nil, "call in progress"); err != nil {
		return err
	}
	calls := p.stream.Pending.Calls()
	if len(calls) == efg.MaxPending {
		return p.errorf("more than %d calls in progress", efg.MaxPending)
	}
	c := &efg.Pending{}
	calls[len(calls)-1].Inner = c
	return p.callInProgress(c)
}

func (p *parser) callInProgress(c *efg.Pending) error {
	var err error
	if c.Since, err = p.named("since", 64); err != nil {
		return err
	}
	header, err := p.header()
	if err != nil {
		return err
	}
	var mask uint64
	if c.Words, mask, err = p.wordList(header); err == nil && mask != 0 {
		err = p.errorf("a call in progress has no word that is open")
	}
	return err
}
