package reconstruct

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// recorder makes streams from events given as text, one call a line:
//
//	MPI_Irecv count=4 datatype=MPI_INT source=MPI_ANY_SOURCE request=0
//
// Words that are not named are 0, results that are not named absent. Values are numbers,
// constants, ids "@node.slot" or "@thread:node.slot", identities "#hex", strings in quotes, and
// lists "[a,b]". A leading "!NAME" is the error class.
type recorder struct {
	t     testing.TB
	defs  efg.Definitions
	build map[uint32]*efg.Builder
}

func newRecorder(t testing.TB) *recorder {
	return &recorder{t: t, build: map[uint32]*efg.Builder{}}
}

func (r *recorder) builder(thread uint32) *efg.Builder {
	if r.build[thread] == nil {
		r.build[thread] = efg.NewBuilder(thread, efg.DefaultDemote, &r.defs)
	}
	return r.build[thread]
}

// call records one call of a thread.
func (r *recorder) call(thread uint32, line string) {
	r.t.Helper()
	if err := r.builder(thread).Add(r.input(line)); err != nil {
		r.t.Fatal(err)
	}
}

// calls records a line for each call.
func (r *recorder) calls(lines string) {
	r.t.Helper()
	for l := range strings.Lines(lines) {
		if l = strings.TrimSpace(l); l != "" {
			r.call(0, l)
		}
	}
}

func (r *recorder) input(line string) efg.Input {
	r.t.Helper()
	fields := strings.Fields(line)
	class := 0
	if name, ok := strings.CutPrefix(fields[0], "!"); ok {
		class = signature.ConstantByName(name).ID
		fields = fields[1:]
	}
	p := signature.ProcByName(fields[0])
	if p == nil {
		r.t.Fatalf("no procedure %s", fields[0])
	}
	in := efg.Input{Words: make([]uint64, len(p.Words))}
	in.Words[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(p.Words), uint16(class)))
	for i := signature.FirstWord; i < len(p.Words); i++ {
		if p.Words[i].Out {
			in.Words[i] = signature.Absent
		}
	}
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		i := r.word(p, name)
		if p.Words[i].Form == signature.VecForm && value[0] == '[' {
			v := r.list(value)
			in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: v})
			in.Words[i] = signature.Ident(signature.Hash(v...))
			continue
		}
		in.Words[i] = r.value(value)
	}
	return in
}

// word finds a word by its displayed name; a name with ">" belongs to the result.
func (r *recorder) word(p *signature.Proc, name string) int {
	name, out := strings.CutSuffix(name, ">")
	if name == "site" {
		return 1
	}
	found := -1
	for i, w := range p.Words {
		if i >= signature.ObjectWord && w.Name == name && (found < 0 || out) {
			found = i
		}
	}
	if found < 0 {
		r.t.Fatalf("%s has no word %s", p.Name, name)
	}
	return found
}

func (r *recorder) list(s string) []uint64 {
	v := []uint64{}
	if s = strings.Trim(s, "[]"); s != "" {
		for _, x := range strings.Split(s, ",") {
			v = append(v, r.value(x))
		}
	}
	return v
}

func (r *recorder) value(s string) uint64 {
	if c := signature.ConstantByName(s); c != nil {
		return c.Word()
	}
	switch s[0] {
	case '@':
		var id signature.ID
		if _, err := fmt.Sscanf(s, "@%d:%d.%d", &id.Thread, &id.Node, &id.Slot); err != nil {
			id.Thread = 0
			if _, err := fmt.Sscanf(s, "@%d.%d", &id.Node, &id.Slot); err != nil {
				r.t.Fatalf("%s: %v", s, err)
			}
		}
		return id.Word()
	case '#':
		v, err := strconv.ParseUint(s[1:], 16, 62)
		if err != nil {
			r.t.Fatal(err)
		}
		return v
	case '"':
		s = strings.Trim(s, `"`)
		w := signature.Ident(signature.HashString(s))
		r.defs.Add(efg.Def{Kind: efg.DefString, Word: w, Data: []byte(s)})
		return w
	}
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		r.t.Fatal(err)
	}
	return uint64(v)
}

// lastNode is the node of thread 0's last event.
func (r *recorder) lastNode() int {
	r.t.Helper()
	node := -1
	for e, err := range r.process().Events(0, Options{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		node = e.Node()
	}
	return node
}

// process returns the recorded process.
func (r *recorder) process() *Process {
	r.t.Helper()
	p := &efg.Process{Rank: 2, Size: 4, Defs: r.defs.List}
	for thread := range uint32(len(r.build)) {
		s, err := r.build[thread].Stream()
		if err != nil {
			r.t.Fatal(err)
		}
		p.Streams = append(p.Streams, *s)
	}
	p.Defs = r.defs.List
	for i := range p.Streams {
		if err := p.Streams[i].Verify(p.Defs); err != nil {
			r.t.Fatal(err)
		}
		if _, err := efg.CheckStream(&p.Streams[i]); err != nil {
			r.t.Fatal(err)
		}
	}
	return NewProcess(p, NewNames(p.Defs, []runfile.Site{{Word: 0x77, Place: "jacobi.c:88", Func: "main"}}))
}
