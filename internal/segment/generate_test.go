package segment

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// program makes random event streams that resemble programs: loops over bodies of calls whose
// arguments are constant, count up, alternate or vary at random.
type program struct {
	r      *rand.Rand
	defs   efg.Definitions
	events []efg.Input
	sites  []callsite
}

type callsite struct {
	proc    *signature.Proc
	word    uint64
	changes []int // per word: how it varies
	state   []uint64
}

const (
	stays = iota
	countsUp
	alternates
	smallRandom
	anyRandom
	nChanges
)

func newProgram(seed uint64, sites int) *program {
	p := &program{r: rand.New(rand.NewPCG(seed, 99))}
	var procs []*signature.Proc
	for i := range signature.Procs() {
		if q := &signature.Procs()[i]; len(q.Words) >= signature.FirstWord {
			procs = append(procs, q)
		}
	}
	for range sites {
		c := callsite{proc: procs[p.r.IntN(len(procs))], word: p.r.Uint64() >> 2}
		for range c.proc.Words {
			kind := stays
			if p.r.IntN(4) == 0 {
				kind = p.r.IntN(nChanges)
			}
			c.changes = append(c.changes, kind)
			c.state = append(c.state, p.r.Uint64()>>(2+p.r.IntN(60)))
		}
		p.sites = append(p.sites, c)
	}
	return p
}

// run appends at least n events.
func (p *program) run(n int) {
	for len(p.events) < n {
		first := p.r.IntN(len(p.sites))
		body := p.sites[first:min(first+1+p.r.IntN(6), len(p.sites))]
		for range 1 + p.r.IntN(40) {
			for i := range body {
				for range 1 + p.r.IntN(1+p.r.IntN(3)) {
					p.call(&body[i])
				}
			}
		}
	}
}

func (p *program) call(c *callsite) {
	words := make([]uint64, len(c.proc.Words))
	class := uint16(0)
	if p.r.IntN(200) == 0 {
		class = uint16(p.r.IntN(50))
	}
	words[0] = uint64(signature.MakeHeader(c.proc.ID, signature.C, false, len(words), class))
	words[1] = c.word
	in := efg.Input{Words: words}
	for i := signature.ObjectWord; i < len(words); i++ {
		v := p.value(c, i)
		switch c.proc.Words[i].Form {
		case signature.IdentForm:
			words[i] = p.ident(v)
		case signature.VecForm:
			words[i] = p.vec(&in, i, v)
		case signature.SlotForm:
			words[i] = v % 5
		default:
			words[i] = v
		}
	}
	p.events = append(p.events, in)
}

func (p *program) value(c *callsite, i int) uint64 {
	s := &c.state[i]
	switch c.changes[i] {
	case countsUp:
		*s += 8
	case alternates:
		*s ^= 3
	case smallRandom:
		return *s + p.r.Uint64N(7)
	case anyRandom:
		return p.r.Uint64() >> p.r.IntN(64)
	}
	return *s
}

func (p *program) ident(v uint64) uint64 {
	switch {
	case v%3 == 0:
		return signature.Const(int(v % 100))
	case v%3 == 1: // an identity that is not defined
		return v >> 2
	}
	w := signature.Ident(signature.Hash(v, 77))
	p.defs.Add(efg.Def{Kind: efg.DefType, Word: w, Words: []uint64{v}, Data: binary.LittleEndian.AppendUint64(nil, v)[:v%9]})
	return w
}

func (p *program) vec(in *efg.Input, i int, v uint64) uint64 {
	if v%5 == 0 {
		return signature.Absent
	}
	elems := make([]uint64, v%7)
	for k := range elems {
		elems[k] = v + uint64(k*k)
	}
	in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: elems})
	return signature.Ident(signature.Hash(elems...))
}

// encode writes the events as testdata/feed.c reads them. It adds the
// definitions first: the Go builder is given them first, too.
func (p *program) encode() []byte {
	var w []uint64
	for _, d := range p.defs.List {
		w = append(w, 1, uint64(d.Kind), d.Word, uint64(len(d.Words)), uint64(len(d.Data)))
		w = append(w, d.Words...)
		padded := append(slices.Clone(d.Data), make([]byte, (8-len(d.Data)%8)%8)...)
		for i := 0; i < len(padded); i += 8 {
			w = append(w, binary.LittleEndian.Uint64(padded[i:]))
		}
	}
	for _, e := range p.events {
		w = append(w, 2, uint64(len(e.Words)))
		w = append(append(w, e.Words...), uint64(len(e.Vecs)))
		for _, v := range e.Vecs {
			w = append(append(w, uint64(v.Word), uint64(len(v.Elems))), v.Elems...)
		}
	}
	b := make([]byte, 0, 8*len(w))
	for _, x := range w {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}
