package runfile

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/internal/token"
)

// In files with featurePathGraphs a node's call path is coded by its number among the different paths of
// the block, so that nodes of ranks that list the same paths in another order are equal. Each stream knows
// the list of its process: a new path is probably the next one there. See FORMAT.md, "Call paths of graphs".

// pathToken marks, in the number of a token of a definition, that it is that of a path in the block.
const pathToken = 1 << 40

// defList is what streams need of a list of definitions.
type defList struct {
	paths  []listedPath   // by number of the definition, without id if that is no path
	number map[uint64]int // by number of a path in the block: that of its definition
	leaves []int          // paths that the next path of the list is not below
	others []int          // definitions that are no callsites
}

// end is called when the list is complete.
func (l *defList) end(defs []eventDef) {
	last := -1
	for i := range defs {
		switch {
		case i < len(l.paths) && l.paths[i].id != 0:
			if last >= 0 && l.paths[i].below != last {
				l.leaves = append(l.leaves, last)
			}
			last = i
		case efg.DefKind(defs[i].kind) != efg.DefSite:
			l.others = append(l.others, i)
		}
	}
	if last >= 0 {
		l.leaves = append(l.leaves, last)
	}
}

// after returns the first number of an ascending list that is greater than n.
func after(list []int, n int) (int, bool) {
	i, _ := slices.BinarySearch(list, n+1)
	if i == len(list) {
		return 0, false
	}
	return list[i], true
}

// pathOf is the path in the block that a token stands for, nil if it stands for none.
func (e *eventCoder) pathOf(t uint64) *callPath {
	if n := t >> 3 &^ pathToken; t&7 == token.Def && t>>3&pathToken != 0 && n < uint64(len(e.defs.path.all)) {
		return &e.defs.path.all[n]
	}
	return nil
}

// tokenOf is the token of a path in the block.
func (e *eventCoder) tokenOf(p *callPath) uint64 {
	return token.Of(token.Def, pathToken|e.defs.path.numberOf[p.id])
}

// listOf codes which list of the block is that of a stream's process: how far before the last one, from 1.
func (e *eventCoder) listOf(number int) {
	lists := e.defs.path.lists
	e.list = &defList{}
	back := uint64(0)
	if number >= 0 {
		back = uint64(len(lists) - number)
	}
	if back = e.c.Number(mix.Hash(ctxMembers, 4), back); back > uint64(len(lists)) {
		e.failf("definitions of list %d before the last", back)
	} else if back > 0 {
		e.list = lists[len(lists)-int(back)]
	}
}

// inBlock replaces the tokens of call paths by those in the block.
func (e *eventCoder) inBlock(g *eventGraph) {
	for _, n := range g.nodes {
		n.inBlock(e)
	}
	for i := range g.counted {
		g.counted[i].node.inBlock(e)
	}
}

func (n *eventNode) inBlock(e *eventCoder) {
	w := n.callsite()
	if w == nil || w.token&7 != token.Def || w.token>>3 >= uint64(len(e.list.paths)) {
		return
	}
	if p := &e.list.paths[w.token>>3]; p.id != 0 {
		w.token = e.tokenOf(&p.callPath)
		w.alt = w.token
	}
}

// callsite is the node's word 1, nil if that is demoted.
func (n *eventNode) callsite() *eventWord {
	if len(n.words) == 0 || n.words[0].index != 1 {
		return nil
	}
	return &n.words[0]
}

// named checks that the list of the stream's process has the node's call path.
func (e *eventCoder) named(n *eventNode) {
	w := n.callsite()
	if !e.byPath || w == nil || w.token&7 != token.Def || w.token>>3&pathToken == 0 {
		return
	}
	if _, ok := e.list.number[w.token>>3&^pathToken]; !ok {
		e.failf("node with a call path that is not among its definitions")
	}
}

// inList is a word as the list has it.
func (l *defList) inList(w eventWord) eventWord {
	if l == nil || w.index != 1 || w.token&7 != token.Def || w.token>>3&pathToken == 0 {
		return w
	}
	w.token = token.Of(token.Def, uint64(l.number[w.token>>3&^pathToken]))
	w.alt = w.token
	return w
}

// placeOf is the hash of a node's procedure and of the last call of its path.
func (e *eventCoder) placeOf(n *eventNode) uint64 {
	w := n.callsite()
	if w == nil {
		return mix.Hash(n.header)
	}
	return mix.Hash(n.header, e.lastCall(w.token))
}

// lastCall stands for the last call of a token's path; it is the token if that is of none.
func (e *eventCoder) lastCall(t uint64) uint64 {
	if p := e.pathOf(t); p != nil {
		return p.site
	}
	return t
}

// nextPath is the token of the path that is probably the next new one of the stream, 0 if there is none.
func (e *eventCoder) nextPath() uint64 {
	if n, ok := after(e.list.leaves, e.newestPath); ok {
		return e.tokenOf(&e.list.paths[n].callPath)
	}
	return 0
}

// nextDefs are the numbers of the two definitions that probably come next.
func (e *eventCoder) nextDefs() (first, second uint64) {
	first, second = e.newest+1, e.newest+2
	if !e.byPath {
		return first, second
	}
	if n, ok := after(e.list.others, int(e.newest)); ok {
		first, second = uint64(n), uint64(n)+1
		if n, ok = after(e.list.others, n); ok {
			second = uint64(n)
		}
	}
	return first, second
}

// seenPath takes the token of a new node's callsite for those that follow.
func (e *eventCoder) seenPath(t uint64) {
	if n, ok := e.list.number[t>>3&^pathToken]; ok {
		e.newestPath = max(e.newestPath, n)
	}
}
