package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// Words of the calls that send and receive, and of those that complete.
const (
	wordComm    = 2
	wordCount   = 4
	wordPeer    = 6
	wordTag     = 7
	wordRequest = 8
	wordStatus  = 8 // of MPI_Recv: source, tag, bytes

	waitCount  = 3
	waitArray  = 4
	waitIndex  = 5 // of MPI_Waitany; then its status
	waitStatus = 5 // of MPI_Waitall
)

// Streams of random numbers of a rank, one for each purpose.
const (
	streamProgram = iota
	streamTimes
	streamProcess
)

// streamSeed is the second seed of a stream of random numbers.
func streamSeed(number int, stream uint64) uint64 { return uint64(number)<<8 | stream }

// text is a program's code: its calls.
type text struct {
	name   string
	module efg.Def
	calls  []*callsite
}

// callsite is a call in the code.
type callsite struct {
	number          int
	words           []uint64 // words that are the same each time
	def             efg.Def
	place, function string
}

func newText(name string) *text {
	id := fmt.Sprintf("%016x%016x", signature.HashString(name), signature.HashString("build "+name))
	return &text{name: name, module: efg.Def{
		Kind: efg.DefModule, Word: signature.Ident(signature.HashString(id)),
		Data: []byte("/opt/sim/bin/" + name + "\x00" + id),
	}}
}

// call adds a call. args holds the arguments that are the same each time, as names of constants
// or numbers, by name; results are absent unless given.
func (t *text) call(proc string, line int, function string, args map[string]any) *callsite {
	p := signature.ProcByName(proc)
	c := &callsite{number: len(t.calls), words: make([]uint64, len(p.Words)),
		place: fmt.Sprintf("%s.c:%d", t.name, line), function: function}
	site := []uint64{t.module.Word, 0x1100 + 32*uint64(len(t.calls))}
	c.def = efg.Def{Kind: efg.DefSite, Word: signature.Ident(signature.Hash(site...)), Words: site}
	c.words[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(p.Words), 0))
	c.words[1] = c.def.Word
	for i := wordComm; i < len(p.Words); i++ {
		w := &p.Words[i]
		if w.Out {
			c.words[i] = signature.Absent
		}
		switch v := args[w.Name].(type) {
		case string:
			c.words[i] = signature.ConstantByName(v).Word()
		case int:
			c.words[i] = uint64(v)
		}
	}
	t.calls = append(t.calls, c)
	return c
}

// places are the callsites' places in the source.
func (t *text) places() []runfile.Site {
	var l []runfile.Site
	for _, c := range t.calls {
		l = append(l, runfile.Site{Word: c.def.Word, Place: c.place, Func: c.function})
	}
	return l
}

// rank is a process that is being simulated.
type rank struct {
	*Config
	text   *text
	number int
	defs   efg.Definitions
	build  *efg.Builder
	known  []bool // by callsite: it was called
	event  efg.Input
	words  [signature.MaxWords]uint64
	seen   func(*rank)
	err    error
}

func newRank(c *Config, t *text, number int, seen func(*rank)) *rank {
	r := &rank{Config: c, text: t, number: number, known: make([]bool, len(t.calls)), seen: seen}
	r.build = efg.NewBuilder(0, efg.DefaultDemote, &r.defs)
	return r
}

func (r *rank) stream() (*efg.Stream, error) {
	if r.err != nil {
		return nil, r.err
	}
	s, err := r.build.Stream()
	if err == nil {
		s.End = efg.EndFinalized
	}
	return s, err
}

// random returns one of the rank's streams of random numbers.
func (r *rank) random(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(r.Seed, streamSeed(r.number, stream)))
}

// draw is a random number that depends on its purpose and on the seed.
func (c *Config) draw(what ...uint64) uint64 {
	h := c.Seed
	for _, w := range what {
		h = efg.Roll(h, w)
	}
	return signature.Hash(h)
}

// at begins a call. It returns the event's words.
func (r *rank) at(c *callsite) []uint64 {
	if !r.known[c.number] {
		r.known[c.number] = true
		r.defs.Add(r.text.module)
		r.defs.Add(c.def)
	}
	r.event.Words = r.words[:copy(r.words[:], c.words)]
	r.event.Vecs = r.event.Vecs[:0]
	return r.event.Words
}

// vec sets a word that stands for an array.
func (r *rank) vec(word int, elems []uint64) {
	r.event.Words[word] = signature.Ident(signature.Hash(elems...))
	r.event.Vecs = append(r.event.Vecs, efg.VecContent{Word: word, Elems: elems})
}

// record ends a call.
func (r *rank) record() {
	if err := r.build.Add(r.event); err != nil && r.err == nil {
		r.err = err
	}
	if r.seen != nil {
		r.seen(r)
	}
}

// call records a call without further arguments.
func (r *rank) call(c *callsite) {
	r.at(c)
	r.record()
}

// recordNew ends a call that creates a request, and returns the request.
func (r *rank) recordNew() uint64 {
	id, err := r.build.AddNew(r.event)
	if err != nil && r.err == nil {
		r.err = err
	}
	if r.seen != nil {
		r.seen(r)
	}
	return id
}

// post records a nonblocking send or receive, and returns the request.
func (r *rank) post(c *callsite, comm, count, peer, tag uint64) uint64 {
	w := r.at(c)
	w[wordComm], w[wordCount], w[wordPeer], w[wordTag] = comm, count, peer, tag
	return r.recordNew()
}

// send records a blocking send.
func (r *rank) send(c *callsite, count, peer, tag uint64) {
	w := r.at(c)
	w[wordComm], w[wordCount], w[wordPeer], w[wordTag] = signature.CommWorld, count, peer, tag
	r.record()
}

// receive records a receive with its status. It is posted for count elements.
func (r *rank) receive(c *callsite, count, peer, tag uint64, status [3]uint64) {
	w := r.at(c)
	w[wordComm], w[wordCount], w[wordPeer], w[wordTag] = signature.CommWorld, count, peer, tag
	copy(w[wordStatus:], status[:])
	r.record()
}

// waitall records the completion of all requests. statuses are those that differ from what was
// posted.
func (r *rank) waitall(c *callsite, requests, statuses []uint64) {
	w := r.at(c)
	w[waitCount] = uint64(len(requests))
	r.vec(waitArray, requests)
	w[waitStatus] = signature.AsPosted
	if len(statuses) > 0 {
		r.vec(waitStatus, statuses)
	}
	r.record()
	for _, q := range requests {
		r.build.Free(q)
	}
}

// defineComm defines a communicator of all ranks, made of MPI_COMM_WORLD, as
// hook/shim/back_comm.c does, and returns its word.
func (r *rank) defineComm(kind string) uint64 {
	words := []uint64{signature.CommWorld, signature.ConstantByName(kind).Word(), uint64(r.Ranks), 3, 0, uint64(r.Ranks), 1}
	family := signature.Hash(append(words, 0)...) & (1<<38 - 1) << 24
	r.defs.Add(efg.Def{Kind: efg.DefComm, Word: family, Words: words})
	return family
}

// appendWords appends words as the feeder of real segments reads them.
func appendWords(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
