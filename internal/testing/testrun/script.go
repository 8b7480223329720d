package testrun

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/signature"
)

// Script is a run that a test writes by hand, with the times of each call.
type Script struct {
	tb    testing.TB
	ranks []*ScriptRank
	sites map[uint64]runfile.Site
	ended int64 // ns of the run's clock; 0: not said
}

// ScriptRank is a rank of a Script.
type ScriptRank struct {
	s         *Script
	number    int
	defs      *efg.Definitions
	build     *efg.Builder
	intervals []uint64
	last      int64
	end       efg.End
	pending   *efg.Pending
	host      string
	clock     func(ns int64) int64
}

// Args are the words of a call, by the names of signature.Word: a number, the name of a constant,
// a word, or the elements of an array; of annotations a text. "line" is where the call is, "error" its error class. Results that are
// not given are absent.
type Args map[string]any

// NewScript begins a run.
func NewScript(tb testing.TB, ranks int) *Script {
	s := &Script{tb: tb, sites: map[uint64]runfile.Site{}}
	for i := range ranks {
		r := &ScriptRank{s: s, number: i, defs: &efg.Definitions{}, end: efg.EndFinalized, host: "node0", clock: func(ns int64) int64 { return ns }}
		r.build = efg.NewBuilder(0, efg.DefaultDemote, r.defs)
		s.ranks = append(s.ranks, r)
	}
	return s
}

// Rank returns a rank.
func (s *Script) Rank(i int) *ScriptRank { return s.ranks[i] }

// Each calls f for all ranks.
func (s *Script) Each(f func(r *ScriptRank, rank int)) {
	for i, r := range s.ranks {
		f(r, i)
	}
}

// Call adds a call that is entered and left at some µs. It returns the request or message that
// the call makes.
func (r *ScriptRank) Call(from, to int64, proc string, args Args) uint64 {
	r.s.tb.Helper()
	if from < r.last || to < from {
		r.s.tb.Fatalf("rank %d: %s from %d to %d after %d", r.number, proc, from, to, r.last)
	}
	in := r.input(proc, args)
	last, at, end := r.clock(r.last*1000), r.clock(from*1000), r.clock(to*1000)
	if at < last || end < at {
		r.s.tb.Fatalf("rank %d: its clock runs backwards: %d, %d, %d", r.number, last, at, end)
	}
	r.intervals = append(r.intervals, uint64(at-last), uint64(end-at))
	r.last = to
	p := signature.ProcByName(proc)
	for i := range p.Words {
		if p.Words[i].Form != signature.SlotForm || args["error"] != nil {
			continue
		}
		id, err := r.build.AddNew(in)
		if err != nil {
			r.s.tb.Fatal(err)
		}
		return id
	}
	if err := r.build.Add(in); err != nil {
		r.s.tb.Fatal(err)
	}
	return 0
}

// On makes a rank run on a host whose clock says clock(ns) when ns have passed. It comes before the
// first call.
func (r *ScriptRank) On(host string, clock func(ns int64) int64) { r.host, r.clock = host, clock }

// Free ends the life of a request or message: its name may be used again.
func (r *ScriptRank) Free(id uint64) { r.build.Free(id) }

// Stop ends the recording in a call that never returns, entered at some µs.
func (r *ScriptRank) Stop(from int64, proc string, args Args) {
	r.pending = efg.NewPending(r.input(proc, args).Words, uint64(from)*1000)
	r.end = efg.EndOpen
}

// Kill ends the recording early.
func (r *ScriptRank) Kill() { r.end = efg.EndOpen }

// Define adds a definition.
func (r *ScriptRank) Define(kind efg.DefKind, words ...uint64) uint64 {
	d := efg.Def{Kind: kind, Words: words}
	d.Word = d.Identity()
	if kind == efg.DefComm || kind == efg.DefWin || kind == efg.DefFile {
		d.Word = d.Word & (1<<38 - 1) << signature.SequenceBits
	}
	r.defs.Add(d)
	return d.Word
}

func (r *ScriptRank) input(proc string, args Args) efg.Input {
	p := signature.ProcByName(proc)
	if p == nil {
		r.s.tb.Fatalf("no procedure %s", proc)
	}
	in := efg.Input{Words: make([]uint64, len(p.Words))}
	class, _ := args["error"].(int)
	in.Words[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(p.Words), uint16(class)))
	in.Words[1] = r.site(proc, args)
	used := 0
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		w := &p.Words[i]
		if w.Out {
			in.Words[i] = signature.Absent
		}
		v, ok := args[strings.TrimSuffix(w.Name, ".high")]
		if !ok {
			continue
		}
		used++
		switch v := v.(type) {
		case float64:
			in.Words[i], in.Words[i+1] = signature.SplitWide(math.Float64bits(v))
		case int64:
			in.Words[i], in.Words[i+1] = signature.SplitWide(uint64(v))
		case string:
			if p.Annotates() {
				in.Words[i] = r.text(v)
			} else {
				in.Words[i] = signature.ConstWord(v)
			}
		case int:
			in.Words[i] = uint64(v)
		case uint64:
			in.Words[i] = v
		case []uint64:
			in.Words[i] = signature.Ident(signature.Hash(v...))
			in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: v})
		}
	}
	for _, name := range []string{"line", "error"} {
		if args[name] != nil {
			used++
		}
	}
	if used < len(args) {
		r.s.tb.Fatalf("%s has not all words of %v", proc, args)
	}
	return in
}

// text defines a text.
func (r *ScriptRank) text(s string) uint64 {
	d := efg.Def{Kind: efg.DefString, Data: []byte(s)}
	d.Word = d.Identity()
	r.defs.Add(d)
	return d.Word
}

// site defines the callsite of a call.
func (r *ScriptRank) site(proc string, args Args) uint64 {
	line, ok := args["line"].(int)
	if !ok {
		line = signature.ProcByName(proc).ID
	}
	module := efg.Def{Kind: efg.DefModule, Data: []byte("/bin/script\x00ab")}
	module.Word = module.Identity()
	d := efg.Def{Kind: efg.DefSite, Words: []uint64{module.Word, uint64(line)}}
	d.Word = d.Identity()
	r.defs.Add(module)
	r.defs.Add(d)
	r.s.sites[d.Word] = runfile.Site{Word: d.Word, Place: fmt.Sprintf("script.c:%d", line), Func: "main"}
	return d.Word
}

// giveStats gives the nodes of a process's only stream the statistics of their times, as recorders do.
func giveStats(p *efg.Process, intervals []uint64) error {
	s := &p.Streams[0]
	for i := range s.Nodes {
		s.Nodes[i].Stats = &efg.Stats{}
	}
	w := s.Walk(p.Defs)
	for w.Next() {
		s.Nodes[w.Node()].Stats.Add(intervals[0], intervals[1])
		intervals = intervals[2:]
	}
	return w.Err()
}

// scriptError is the error of each interval: none. The clock of a rank begins scriptBegins ns after
// the run, and later or earlier by what that clock says then.
const (
	scriptError  = 0
	scriptBegins = 1_000_000_000
)

// Ends says when the run was over, in µs.
func (s *Script) Ends(at int64) { s.ended = scriptBegins + 1000*at }

// Run makes the run.
func (s *Script) Run() *runfile.Run {
	s.tb.Helper()
	return Decode(s.tb, s.File())
}

// File makes the run file.
func (s *Script) File() []byte {
	s.tb.Helper()
	var procs []*efg.Process
	meta := runfile.Meta{Time: runfile.TraceTime(scriptError, 0), Ended: s.ended}
	for _, r := range s.ranks {
		stream, err := r.build.Stream()
		if err != nil {
			s.tb.Fatal(err)
		}
		stream.End, stream.Pending = r.end, r.pending
		p := &efg.Process{Rank: r.number, Size: len(s.ranks), Host: r.host, Start: scriptBegins + r.clock(0), Streams: []efg.Stream{*stream}, Defs: r.defs.List}
		if err := giveStats(p, r.intervals); err != nil {
			s.tb.Fatal(err)
		}
		err = sim.GiveTimesWithin(p, scriptError, func() uint64 { return uint64(scriptBegins + r.clock(0)) }, func() uint64 {
			next := r.intervals[0]
			r.intervals = r.intervals[1:]
			return next
		})
		if err != nil {
			s.tb.Fatal(err)
		}
		procs = append(procs, p)
	}
	for _, site := range s.sites {
		meta.Sites = append(meta.Sites, site)
	}
	return Encode(s.tb, procs, meta)
}
