package text

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// pending writes the call that a thread was in.
func (d *dumper) pending(c *efg.Pending) {
	fmt.Fprintf(d.w, "  entered since %d %s", c.Since, headerText(c.Words[0]))
	for k := 1; k < len(c.Words); k++ {
		fmt.Fprintf(d.w, " %s=%s", wordName(c.Words[0], k), d.words.text(c.Words[k]))
	}
	d.linef("")
}

// enteredLine reads the call that the thread was in.
func (p *parser) enteredLine() error {
	if err := p.in(p.stream != nil && p.marks == nil, "thread without marks"); err != nil {
		return err
	}
	if p.stream.Pending != nil {
		return p.errorf("the thread is in a call already")
	}
	c := &efg.Pending{}
	p.stream.Pending, p.node = c, nil
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
