// Package unfinished describes the calls that had not returned when the recording of a run ended:
// how long ranks had been in them, for which ranks these would have had to wait, and what those
// were doing.
package unfinished

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/waitfor"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Place is a procedure and its callsite as "function file:line".
type Place struct{ Op, Site string }

// RankTime is how long a rank had been in a call, ns; 0 if that is unknown.
type RankTime struct {
	Rank int
	Time int64
}

// Row are the calls of one procedure at one callsite.
type Row struct {
	Place
	Time  int64      // sum of those of Ranks, ns
	Ranks []RankTime // the longest time first
	// Awaited are what the calls needed: that ranks which had not made a matching call do so. It is
	// empty if they needed nothing of another rank, or if that cannot be determined.
	Awaited []Awaited
	// Any: for some of the calls, any one of several ranks would have been sufficient.
	Any bool
	// Blocked: some of the calls could never have returned, because what they needed of other ranks
	// could not happen any more.
	Blocked bool
}

// Awaited are ranks of which others needed something.
type Awaited struct {
	Doing Doing
	Place // the call that they were in, or their last one; Op is "" if they made none
	Ranks []int
}

// Text says what the ranks were doing.
func (a *Awaited) Text() string {
	at := strings.TrimSpace(a.Op + " " + a.Site)
	switch {
	case a.Doing == Absent:
		return "not in the file"
	case a.Doing == InCall:
		return "in " + at
	case at == "":
		return a.Doing.String() + " without a call"
	}
	return a.Doing.String() + " after " + at
}

// Doing is what a rank was doing when the recording ended.
type Doing int

// What ranks were doing.
const (
	InCall    Doing = iota // in the call
	Computing              // outside MPI, after the call
	Ended                  // nothing more: it had called MPI_Finalize, or exited
	Absent                 // it is not in the file
)

var doingNames = [...]string{"in call", "computing", "ended", "absent"}

func (d Doing) String() string { return doingNames[d] }

// New finds the calls of some processes of a run; what they need is looked for in all. The row with
// the longest time comes first.
func New(run *runfile.Run, procs []int) ([]Row, error) {
	if !anyInCall(run, procs) {
		return nil, nil
	}
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	b := &builder{run: run, at: map[int]int{}, rows: map[Place]*row{}, names: make([]*reconstruct.Names, len(run.Procs)), last: map[int]last{}}
	first := analysis.FirstRanks(run.Procs)
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			return nil, err
		}
		r := waitfor.Recorded(p, first[i])
		b.at[r.Number] = i
		b.ranks = append(b.ranks, r)
		b.names[i] = reconstruct.NamesOf(p, sites)
	}
	b.verdict = waitfor.JudgeEnd(b.ranks)
	for _, i := range procs {
		b.process(i)
	}
	return b.finish(), nil
}

func anyInCall(run *runfile.Run, procs []int) bool {
	return slices.ContainsFunc(procs, func(i int) bool {
		return slices.ContainsFunc(run.Procs[i].Streams, func(s runfile.StreamInfo) bool { return s.InCall })
	})
}

type builder struct {
	run     *runfile.Run
	ranks   []*waitfor.Rank // by process
	names   []*reconstruct.Names
	at      map[int]int // processes, by rank
	verdict *waitfor.Verdict
	rows    map[Place]*row
	last    map[int]last // by process
}

// row is a Row whose awaited ranks are a set.
type row struct {
	Row
	awaited map[int]bool
}

// last is the call that a process was in, or its last one.
type last struct {
	doing Doing
	place Place
}

// process adds the calls that the threads of a process were in.
func (b *builder) process(i int) {
	r := b.ranks[i]
	for t := range r.Process.Streams {
		c := r.Process.Streams[t].Pending
		if c == nil {
			continue
		}
		at := b.place(i, c.Words)
		x := b.rows[at]
		if x == nil {
			x = &row{Row: Row{Place: at}, awaited: map[int]bool{}}
			b.rows[at] = x
		}
		long := int64(0)
		if began := c.At(r.Process); began != 0 {
			long = max(r.Process.LatestEnd(b.run.Meta.Ended)-began, 0)
		}
		x.Time += long
		x.Ranks = append(x.Ranks, RankTime{r.Process.Rank, long})
		awaited, anyOf := b.verdict.Awaits(i, t)
		x.Any = x.Any || anyOf
		x.Blocked = x.Blocked || b.verdict.Stuck[i]
		for _, rank := range awaited {
			if rank != r.Number || !anyOf {
				x.awaited[rank] = true
			}
		}
	}
}

// place is that of a call with these words.
func (b *builder) place(process int, words []uint64) (at Place) {
	if q := signature.ProcByID(signature.Header(words[0]).Proc()); q != nil {
		at.Op = q.Name
	}
	at.Site = b.names[process].Callsite(words[1])
	return at
}

// doing is what a rank was doing.
func (b *builder) doing(rank int) last {
	i, ok := b.at[rank]
	if !ok {
		return last{doing: Absent}
	}
	x, ok := b.last[i]
	if !ok {
		x = b.lastOf(i)
		b.last[i] = x
	}
	return x
}

// lastOf determines what a process was doing: in a call, if any of its threads was in one; else
// after the last call of its first thread.
func (b *builder) lastOf(i int) last {
	r := b.ranks[i]
	for t := range r.Process.Streams {
		if c := r.Process.Streams[t].Pending; c != nil {
			return last{InCall, b.place(i, c.Words)}
		}
	}
	x := last{doing: Computing}
	if r.Ended {
		x.doing = Ended
	}
	if len(r.Process.Streams) > 0 {
		if n := lastNode(&r.Process.Streams[0], r.Process.Defs); n != nil {
			x.place = b.place(i, n.Words)
		}
	}
	return x
}

// lastNode is the node of the last event of a stream; nil if there is none.
func lastNode(s *efg.Stream, defs []efg.Def) *efg.Node {
	node := -1
	for w := s.WalkFrom(defs, s.Events-min(s.Events, 1)); w.Next(); {
		node = w.Node()
	}
	if node < 0 {
		return nil
	}
	return &s.Nodes[node]
}

func (b *builder) finish() []Row {
	var list []Row
	for _, x := range b.rows {
		slices.SortFunc(x.Ranks, func(x, y RankTime) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Rank, y.Rank)) })
		for _, rank := range slices.Sorted(maps.Keys(x.awaited)) {
			x.wait(rank, b.doing(rank))
		}
		slices.SortStableFunc(x.Awaited, func(x, y Awaited) int { return cmp.Compare(len(y.Ranks), len(x.Ranks)) })
		list = append(list, x.Row)
	}
	slices.SortFunc(list, func(x, y Row) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(len(y.Ranks), len(x.Ranks)), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site))
	})
	return list
}

// wait adds a rank that the calls needed something of.
func (x *row) wait(rank int, l last) {
	for i := range x.Awaited {
		if a := &x.Awaited[i]; a.Doing == l.doing && a.Place == l.place {
			a.Ranks = append(a.Ranks, rank)
			return
		}
	}
	x.Awaited = append(x.Awaited, Awaited{l.doing, l.place, []int{rank}})
}
