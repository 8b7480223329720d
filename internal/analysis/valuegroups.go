package analysis

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// ValueGroup is an event of a node, or those of its events that have equal values in the
// selected words. It is valid until the next one.
type ValueGroup struct {
	Times uint64
	c     *instance
}

// Word returns word i; of arrays only the constants in their place.
func (t *ValueGroup) Word(i int) uint64 {
	if i <= 0 || i >= len(t.c.words) {
		return 0
	}
	return t.c.words[i]
}

// Vec returns the content of array word i; false if there is a constant in its
// place.
func (t *ValueGroup) Vec(i int) ([]uint64, bool) { return t.c.vec(i) }

// ValueGroups calls f for the events of a node of Data.Streams[i], grouped by equal values in
// the words of mask (bit k is word k). Polls that are only counted are not events.
func (p *Process) ValueGroups(i, node int, mask uint64, f func(t *ValueGroup) error) error {
	s := p.streams[i]
	if s.visits[node] == 0 || s.Nodes[node].Counted > 0 {
		return nil
	}
	return s.instances(node, mask, func(c *instance) error { return f(&ValueGroup{c.times, c}) })
}

// Visits returns the number of events of each node of Data.Streams[i].
func (p *Process) Visits(i int) []uint64 { return p.streams[i].visits }

// ArrayAt returns the array of requests that EFG_SAME stands for in the events
// of a node, if it is the same in all of them.
func (p *Process) ArrayAt(i, node int) ([]uint64, bool) { return p.streams[i].reaching(node) }

// PeerOf returns the rank in the run of a peer on a communicator, NoRank if it is
// not known, of another world, or none.
func (p *Process) PeerOf(comm, peer uint64) int {
	return p.peer(p.comm(comm), peer)
}

// peer is the rank in the run of a peer.
func (p *Process) peer(c *comm, word uint64) int {
	switch {
	case c == nil || signature.IsConst(word):
		return NoRank
	case p.symbols != nil && c.word == signature.CommSelf && word == 0:
		return Self
	case p.symbols != nil && runfile.IsPeerSymbol(word):
		return p.symbols.rank(c, word)
	case word > maxRanks:
		return NoRank
	}
	return inRun(p.first, c.peers().at(int(word)))
}

// Started returns the operations that starting a persistent request performs; false if that
// depends on the order of events, or the request is unknown.
func (p *Process) Started(request uint64) ([]Operation, bool) {
	fields := CommField | BytesField | TagField
	c, err := p.operation(request)
	if err != nil || c.plan == nil || p.doubtful(request, fields) {
		return nil, false
	}
	return c.startedOperations(nil, fields), true
}

// TypeBytes returns the size in bytes of a datatype; false if it is unknown.
func (p *Process) TypeBytes(word uint64) (uint64, bool) { return p.typeSize(word) }

// SitePlaces returns the definitions of a process that tell where its callsites
// are.
func (p *Process) SitePlaces() []efg.Def { return places(p.Data.Defs) }

// CommonName returns a word that stands for a communicator in all its processes: its own,
// unless it or an ancestor joins processes that had no common communicator.
func (p *Process) CommonName(comm uint64) uint64 {
	name, changed := p.commonName(comm, 0)
	if !changed {
		return comm
	}
	return signature.Ident(signature.Hash(name, comm&signature.SequenceMask))
}

// CommKey names a communicator in all its processes, and no other one of the run.
type CommKey struct {
	Name  uint64 // CommonName
	World int    // the first rank of its processes' world, -1 if they are of several
	Rank  int    // of MPI_COMM_SELF, the rank of its process
}

// CommKey returns the key of a communicator of the process.
func (p *Process) CommKey(comm uint64) CommKey {
	key := CommKey{Name: p.CommonName(comm), World: p.first}
	if key.Name != comm {
		key.World = -1
	}
	if comm == signature.CommSelf {
		key.Rank = p.Data.Rank
	}
	return key
}

// maxParents bounds how many ancestors of a communicator are followed.
const maxParents = 1 << 10

func (p *Process) commonName(comm uint64, depth int) (name uint64, changed bool) {
	if signature.IsConst(comm) {
		return comm, false
	}
	family := signature.Family(comm)
	def := p.families[family]
	if def == nil || len(def.Words) < 4 || depth > maxParents {
		return family, false
	}
	// Each side of a communicator that joins worlds names it by itself.
	if way := signature.ConstantOf(def.Words[1]); way != nil && way.Joins {
		c := p.comm(comm)
		if c == nil {
			return family, false
		}
		sides := []uint64{newMembers(&c.local, 0).key, newMembers(&c.remote, 0).key}
		slices.Sort(sides)
		return signature.Hash(sides...), true
	}
	parent, changed := p.commonName(def.Words[0], depth+1)
	if !changed {
		return family, false
	}
	return signature.Hash(append([]uint64{parent}, def.Words[1:]...)...), true
}

// FirstRank returns the rank in the run of rank 0 of the process's world.
func (p *Process) FirstRank() int { return p.first }

// Vec returns the content of an array word, nil if it is not defined.
func (p *Process) Vec(word uint64) []uint64 { return p.vecs[word] }

// TypeDef is the definition of a datatype, nil if it is predefined or not known.
func (p *Process) TypeDef(word uint64) *efg.Def {
	if p.types == nil {
		p.types = map[uint64]*efg.Def{}
		for i := range p.Data.Defs {
			if d := &p.Data.Defs[i]; d.Kind == efg.DefType {
				p.types[d.Word] = d
			}
		}
	}
	return p.types[word]
}

// VolumeWords returns the varying words of a node that determine what its events move.
func (p *Process) VolumeWords(i, node int) uint64 {
	n := &p.streams[i].Nodes[node]
	return planOf(procOf(n)).mask & n.Mask
}

// VolumeByWords reports whether VolumeOf says what the events of a node move.
func (p *Process) VolumeByWords(i, node int) bool {
	return planOf(procOf(&p.streams[i].Nodes[node])).kind != starting
}

// VolumeOf returns what one event of a node moves, by its words; vec gives the content of
// arrays that vary. It is unknown for calls that start operations.
func (p *Process) VolumeOf(i, node int, words []uint64, vec func(word int) []uint64) (v Volume, known bool) {
	n := &p.streams[i].Nodes[node]
	proc := procOf(n)
	plan := planOf(proc)
	switch {
	case plan.kind == movesNothing || n.Counted > 0 || proc.Persistent || signature.Header(n.Words[0]).ErrorClass() != 0:
		return v, true
	case plan.kind == starting:
		return v, false
	}
	c := &instance{process: p, proc: proc, plan: plan, words: words, vecs: make([][]uint64, len(words)), mask: n.Mask, times: 1}
	for k := range words {
		if n.Mask>>k&1 != 0 && c.isVec(k) {
			c.vecs[k] = vec(k)
		}
	}
	var t transfer
	c.transfer(&t)
	return t.Volume, true
}
