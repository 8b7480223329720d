package analysis

import "github.com/efg-tools/efg/signature"

// outside stands for a rank of the run that is unknown: a process of another world.
const outside = -1

// maxRanks bounds groups and matrices: a small file can claim any size.
const maxRanks = 1 << 22

// foreign is what recorders write for a member of another world.
const foreign = 0xffffffff

// group is a list of ranks in the world, in ranges.
type group struct {
	spans []span
	size  int
}

type span struct{ at, first, count, stride int }

func parseGroup(words []uint64) group {
	var g group
	for ; len(words) >= 3; words = words[3:] {
		n := int(words[1])
		if n <= 0 || n > maxRanks-g.size {
			return group{}
		}
		g.spans = append(g.spans, span{g.size, int(words[0]), n, int(words[2])})
		g.size += n
	}
	return g
}

// at returns member i as a rank in the world, or outside for one of another world.
func (g *group) at(i int) int {
	low, high := 0, len(g.spans)
	for low < high {
		if mid := (low + high) / 2; g.spans[mid].at+g.spans[mid].count <= i {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if i < 0 || low == len(g.spans) {
		return outside
	}
	s := &g.spans[low]
	if r := s.first + (i-s.at)*s.stride; r >= 0 && r < foreign {
		return r
	}
	return outside
}

// index is the position of a rank in the world, -1 if it is not a member.
func (g *group) index(rank int) int {
	for _, s := range g.spans {
		d := rank - s.first
		if d == 0 {
			return s.at
		}
		if s.stride != 0 && d%s.stride == 0 && d/s.stride > 0 && d/s.stride < s.count {
			return s.at + d/s.stride
		}
	}
	return -1
}

// comm is a communicator as this process sees it.
type comm struct {
	word          uint64 // of its family, or the constant
	local, remote group
	inter         bool
	rank          int      // of this process in local; -1 if unknown
	many          *Members // the peers; created when first needed
}

// peers is the group whose ranks messages on the communicator name.
func (c *comm) peers() *group {
	if c.inter {
		return &c.remote
	}
	return &c.local
}

// comm returns a communicator, nil if it is unknown.
func (p *Process) comm(word uint64) *comm {
	if !signature.IsConst(word) {
		word = signature.Family(word)
	}
	c, ok := p.comms[word]
	if !ok {
		c = p.findComm(word)
		p.comms[word] = c
	}
	return c
}

func (p *Process) findComm(word uint64) *comm {
	size := p.Data.Size
	switch {
	case word == signature.CommWorld && size > 0 && size <= maxRanks:
		all := group{spans: []span{{0, 0, size, 1}}, size: size}
		return &comm{word: word, local: all, rank: p.world}
	case word == signature.CommSelf:
		return &comm{word: word, local: group{spans: []span{{0, p.world, 1, 0}}, size: 1}}
	}
	def := p.families[word]
	if def == nil || len(def.Words) < 4 || def.Words[3] > uint64(len(def.Words)-4) {
		return nil
	}
	n := def.Words[3]
	c := &comm{word: word, local: parseGroup(def.Words[4 : 4+n]), remote: parseGroup(def.Words[4+n:])}
	c.inter = c.remote.size > 0
	if c.inter && c.local.index(p.world) < 0 {
		c.local, c.remote = c.remote, c.local
	}
	c.rank = c.local.index(p.world)
	return c
}

// window returns the communicator that a window was made with.
func (p *Process) window(word uint64) *comm {
	def := p.windows[signature.Family(word)]
	if def == nil || len(def.Words) == 0 {
		return nil
	}
	return p.comm(def.Words[0])
}

// file returns the communicator that a file was opened with.
func (p *Process) file(word uint64) *comm {
	def := p.files[signature.Family(word)]
	if def == nil || len(def.Words) == 0 {
		return nil
	}
	return p.comm(def.Words[0])
}
