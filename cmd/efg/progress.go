package main

import (
	"fmt"
	"io"
	"time"

	"github.com/efg-tools/efg/internal/printable"
)

// progress shows the progress of long work on a terminal, and nothing elsewhere.
type progress struct {
	out   io.Writer // nil without a terminal
	what  string
	total uint64 // 0 if unknown
	last  time.Time
	shown bool
}

// progressEvery is the interval between updates of the progress.
const progressEvery = 200 * time.Millisecond

func newProgress(out io.Writer, what string, total uint64) *progress {
	p := &progress{what: what, total: total, last: time.Now()}
	if printable.IsTerminal(out) {
		p.out = printable.Raw(out)
	}
	return p
}

// progressBeside is like newProgress, in ranks, for work that also writes to out: nothing is
// shown if that is the same terminal.
func progressBeside(out, errOut io.Writer, ranks uint64) *progress {
	if printable.IsTerminal(out) {
		errOut = io.Discard
	}
	return newProgress(errOut, "ranks", ranks)
}

// show shows how much is done.
func (p *progress) show(done uint64) {
	if p.out == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.shown = time.Now(), true
	if p.total == 0 {
		fmt.Fprintf(p.out, "\r%d %s", done, p.what)
		return
	}
	fmt.Fprintf(p.out, "\r\x1b[K%d of %d %s, %d%%", done, p.total, p.what, min(100, 100*done/p.total))
}

// part shows how much of a part of the work is done, with the name of what is counted.
func (p *progress) part(what string, done, total uint64) {
	p.what, p.total = what, total
	p.show(done)
}

// close removes what was shown.
func (p *progress) close() {
	if p.shown {
		fmt.Fprintf(p.out, "\r\x1b[K")
	}
}
