package efficiency

import "github.com/efg-tools/efg/internal/analysis/match"

// divider adds up useful time by windows and processes.
type divider struct {
	trace      *match.Trace
	begin, end int64
	useful     [][]int64 // by window and process
	last       []int64   // by thread
	began      []bool
	main       []bool // the first thread of its process
}

func newDivider(t *match.Trace, begin, end int64, n int) *divider {
	d := &divider{
		trace: t, begin: begin, end: end, useful: make([][]int64, n),
		last: make([]int64, len(t.Threads)), began: make([]bool, len(t.Threads)), main: make([]bool, len(t.Threads)),
	}
	for i := range d.useful {
		d.useful[i] = make([]int64, len(t.Processes))
	}
	for _, p := range t.Processes {
		for i, th := range p.Threads {
			d.main[th.Index] = i == 0
		}
	}
	return d
}

// start is when a window begins.
func (d *divider) start(i int) int64 {
	return d.begin + int64(float64(d.end-d.begin)*float64(i)/float64(len(d.useful)))
}

// Enter implements match.Visitor.
func (d *divider) Enter(c *match.Call) {
	i := c.Thread.Index
	if !d.main[i] || c.Proc.Annotates() {
		return
	}
	if d.began[i] {
		d.add(c.Thread.Process.Number, d.last[i], c.Enter)
	}
	d.began[i] = true
}

// Exit implements match.Visitor.
func (d *divider) Exit(c *match.Call) {
	if !c.Proc.Annotates() {
		d.last[c.Thread.Index] = c.Exit
	}
}

// add divides useful time among the windows.
func (d *divider) add(process int, from, to int64) {
	i := int(float64(from-d.begin) / float64(d.end-d.begin) * float64(len(d.useful)))
	for i = max(min(i-1, len(d.useful)-1), 0); i < len(d.useful) && from < to; i++ {
		end := d.start(i + 1)
		if i == len(d.useful)-1 {
			end = to
		}
		if part := min(to, end) - from; part > 0 {
			d.useful[i][process] += part
			from += part
		}
	}
}

// computeOn adds what threads computed that make their next call after the end of the walk.
func (d *divider) computeOn() {
	for _, t := range d.trace.Threads {
		if d.main[t.Index] && d.began[t.Index] && t.GoesOn {
			d.add(t.Process.Number, d.last[t.Index], d.end)
		}
	}
}

func (d *divider) windows() []Window {
	list := make([]Window, len(d.useful))
	for i := range list {
		w := &list[i]
		*w = Window{Begin: d.start(i), Time: d.start(i+1) - d.start(i), MostRank: -1}
		for k, useful := range d.useful[i] {
			w.Useful += useful
			if w.MostRank < 0 || useful > w.Most {
				w.Most, w.MostRank = useful, d.trace.Processes[k].Rank
			}
		}
	}
	return list
}
