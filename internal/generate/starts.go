package generate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// start is a call that started a world.
type start struct {
	world, process int // the caller: its world, and its number in the run
	node           *node
	most           int64 // the most processes that it may have started
	from, to       int64 // when the call was made and returned, as the time when worlds began; only if it matters
	started        int   // number of the world
}

// command is the word of the programs that calls of a node start; 0: it starts none, or another rank says which.
func (n *node) command() int {
	for i := signature.ObjectWord; i < len(n.values); i++ {
		if q := n.param(i); q != nil && q.Command() {
			if w, ok := n.values[i].constant(); ok && special(w) {
				return 0
			}
			return i
		}
	}
	return 0
}

// connect finds the call that started each world but the first.
func connect(run *runfile.Run, worlds []*world) ([]start, error) {
	var all []start
	first, callers := 0, 0
	for k, w := range worlds {
		for i, p := range w.procs {
			list, err := p.starts(len(worlds))
			if err != nil {
				return nil, err
			}
			if len(list) > 0 {
				callers++
			}
			for j := range list {
				list[j].world, list[j].process = k, first+i
			}
			all = append(all, list...)
		}
		first += len(w.procs)
	}
	if len(all) != len(worlds)-1 {
		return nil, fmt.Errorf("the run has %d worlds, and %d calls that started one: the others were started apart", len(worlds), len(all))
	}
	if callers < 2 {
		return all, inOrder(worlds, all)
	}
	if err := timeStarts(run, all); err != nil {
		return nil, err
	}
	return all, byTime(worlds, all)
}

// inOrder assigns the worlds to the calls of one process, which waits for each world that it starts.
func inOrder(worlds []*world, all []start) error {
	for i := range all {
		if s, size := &all[i], len(worlds[i+1].procs); s.world > i || s.most < int64(size) {
			return fmt.Errorf("world %d has %d processes, and the call that should have started it starts %d", i+1, size, s.most)
		}
		all[i].started = i + 1
	}
	return nil
}

// byTime assigns the worlds to the calls during which they began. If several are possible, it takes the one that
// returned first, and notes all: their worlds must make the same calls.
func byTime(worlds []*world, all []start) error {
	for k, w := range worlds[1:] {
		var best *start
		for i := range all {
			s := &all[i]
			if s.world > k || s.from > w.began || w.began > s.to || s.most < int64(len(w.procs)) {
				continue
			}
			w.possible = append(w.possible, s)
			if s.started == 0 && (best == nil || s.to < best.to) {
				best = s
			}
		}
		if best == nil {
			return fmt.Errorf("world %d: it is unknown which call started it", k+1)
		}
		best.started = k + 1
	}
	return nil
}

// ambiguous returns an error if it is unknown which of several calls started a world, and that matters.
func ambiguous(worlds []*world) error {
	for k, w := range worlds {
		for _, s := range w.possible {
			if worlds[s.started].program != w.program {
				return fmt.Errorf("worlds %d and %d: they began at the same time, and it is unknown which call started which", k, s.started)
			}
		}
	}
	return nil
}

// starts are the calls of a process that started worlds, in order.
// At most limit are expected.
func (p *process) starts(limit int) ([]start, error) {
	type cursors struct{ command, most *valueCursor }
	of := map[int]cursors{}
	for _, n := range p.list() {
		if word := n.command(); word != 0 && n.header.ErrorClass() == 0 {
			if _, ok := n.values[word].constant(); ok && n.visits > uint64(limit) {
				return nil, fmt.Errorf("rank %d: %d calls of %s, more than worlds", p.rank, n.visits, n.proc.Name)
			}
			of[n.number] = cursors{&valueCursor{value: &n.values[word]}, &valueCursor{value: n.mostStarted()}}
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	var list []start
	called, err := p.onlyThread(func(node int) bool { _, ok := of[node]; return ok })
	if err != nil {
		return nil, fmt.Errorf("rank %d: %w", p.rank, err)
	}
	execute(called, func(node int) {
		c := of[node]
		command, _ := c.command.next()
		w, _ := c.most.next()
		if !special(command) { // otherwise another rank says what is started
			list = append(list, start{node: p.nodes[node], most: c.most.value.sum(w)})
		}
	})
	return list, nil
}

// mostStarted has the most processes that calls start.
func (n *node) mostStarted() *value {
	for _, name := range []string{"maxprocs", "array_of_maxprocs"} {
		if q := n.proc.Param(name); q >= 0 {
			in, _ := n.words(q)
			return &n.values[in]
		}
	}
	return &value{}
}

// sum is a word of a value, or the sum of the array that it stands for.
func (v *value) sum(w uint64) int64 {
	if v.vecs == nil || special(w) || w >= uint64(len(v.vecs)) {
		return int64(w)
	}
	n := int64(0)
	for _, x := range v.vecs[w] {
		n += int64(x)
	}
	return n
}

// only is a body without calls that f does not accept.
func only(body []stmt, f func(node int) bool) []stmt {
	var out []stmt
	for _, s := range body {
		if s.body != nil {
			if s.body = only(s.body, f); len(s.body) > 0 {
				out = append(out, s)
			}
		} else if f(s.node) {
			out = append(out, s)
		}
	}
	return out
}

// timeStarts finds when calls were made.
func timeStarts(run *runfile.Run, all []start) error {
	named, err := reconstruct.NewRun(run)
	if err != nil {
		return err
	}
	for i := 0; i < len(all); {
		process := all[i].process
		p, err := named.Process(process)
		if err != nil {
			return err
		}
		for e, err := range p.Events(0, reconstruct.Options{}) {
			if err != nil {
				return err
			}
			if i == len(all) || all[i].process != process || e.Node() != all[i].node.number {
				continue
			}
			from, to, ok := e.Times()
			if !ok {
				return fmt.Errorf("several processes start others: without times it is unknown which call started which world (record with --time trace)")
			}
			all[i].from, all[i].to = run.Meta.Started+from, run.Meta.Started+to
			i++
		}
		if i < len(all) && all[i].process == process {
			return fmt.Errorf("rank %d: fewer calls that start worlds than before", process)
		}
	}
	return nil
}

// namePrograms replaces the names of programs that the calls of a world's processes start by the numbers of those that
// are generated, 0 where the call failed.
func (w *world) namePrograms(worlds []*world, all []start) {
	started := map[*node][]uint64{}
	for i := range all {
		s := &all[i]
		started[s.node] = append(started[s.node], uint64(worlds[s.started].program))
	}
	for _, p := range w.procs {
		for _, n := range p.list() {
			if word := n.command(); word != 0 {
				n.startsPrograms(&n.values[word], started[n])
			}
		}
	}
}

// startsPrograms sets the numbers of the programs that calls start: one for all that a call names.
func (n *node) startsPrograms(v *value, numbers []uint64) {
	if len(numbers) == 0 {
		*v, _ = v.mapped(func(w uint64) (uint64, error) {
			if special(w) {
				return w, nil
			}
			return 0, nil
		})
		return
	}
	t := vecTable{index: map[uint64]int{}}
	if v.vecs != nil {
		t.vecs = [][]uint64{}
	}
	c := &valueCursor{value: v}
	for range n.visits {
		w, _ := c.next()
		switch {
		case special(w) || len(numbers) == 0:
		case v.vecs != nil:
			w, numbers = t.number(slices.Repeat(numbers[:1], len(v.vecs[w]))), numbers[1:]
		default:
			w, numbers = numbers[0], numbers[1:]
		}
		t.series = t.series.add(w)
	}
	*v = value{series: t.series.fold(), vecs: t.vecs}
}
