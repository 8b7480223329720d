package runfile

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/internal/token"
)

// Where call paths are recorded, most definitions are paths. A path is coded as how far up it leaves the
// path before, and the call that it makes there, which is like what that function called elsewhere, and in
// other ranks. See FORMAT.md, "Call paths".

// kindPathDef stands, in place of a definition's kind, for a path that is coded this way.
const kindPathDef = 32

// Contexts of call paths, after ctxDef and those of other definitions.
const (
	ctxPathKind = ctxDefElemBelowAfter + 1 + iota
	ctxPathUp
	ctxPathParent
	ctxPathRoot
	ctxPathSite
	ctxPathModule
	ctxPathOffset
	ctxPathParentOf
	ctxPathSiteHow
	ctxPathDistance
	ctxPathFar
)

const (
	// maxOffset bounds the offsets in a module.
	maxOffset = 1 << 60
	// maxUp bounds how far above the last path another one is looked for: paths of a file may have any number of calls.
	maxUp = 1 << 10
)

// callsite is a call in a module, which stands for that definition in all lists.
type callsite struct{ module, offset uint64 }

// callPath is a path, by numbers that are the same in all lists of a block.
type callPath struct {
	id     uint64 // of its calls; 0: there is no path
	parent uint64 // the id of the path without its last call, 0: it has only one
	site   uint64 // number of the last call's callsite, from 1
}

// listedPath is a path of the current list.
type listedPath struct {
	callPath
	below int // number of the definition of its parent, -1: there is none
}

// pathOrder is the context of a path: the paths before it.
type pathOrder struct {
	sites  []callsite // of the block
	number map[callsite]uint64
	order  siteOrder
	called map[uint64]uint64 // by callsite: what the function that it calls called last

	all      []callPath        // the different ones of the block
	numberOf map[uint64]uint64 // by id: number in all
	lists    []*defList

	// Of the current list.
	*defList
	last    int               // number of the last one, -1: there is none
	before  [2]uint64         // ids of the last two
	modules map[uint64]uint64 // number of the last definition of each module
	module  uint64            // number of that of the last new callsite
	offsets map[uint64]uint64 // by module: offset of the last new callsite
}

func newPathOrder() pathOrder {
	return pathOrder{number: map[callsite]uint64{}, called: map[uint64]uint64{}, numberOf: map[uint64]uint64{},
		order: siteOrder{ofModule: map[uint64][]rankedSite{}}, defList: &defList{}}
}

// begin begins a list.
func (o *pathOrder) begin() {
	o.defList = &defList{number: map[uint64]int{}}
	o.lists = append(o.lists, o.defList)
	o.last, o.before = -1, [2]uint64{}
	o.modules, o.module, o.offsets = map[uint64]uint64{}, 0, map[uint64]uint64{}
}

// at is the path that the list's definition with this number is, if it is one.
func (o *pathOrder) at(number int) listedPath {
	if number < 0 || number >= len(o.paths) || o.paths[number].id == 0 {
		return listedPath{below: -1}
	}
	return o.paths[number]
}

// add takes the list's definition with this number, a path, for those that follow.
func (o *pathOrder) add(number int, p listedPath) {
	o.paths = append(o.paths, make([]listedPath, number+1-len(o.paths))...)
	o.paths[number] = p
	n, ok := o.numberOf[p.id]
	if !ok {
		n = uint64(len(o.all))
		o.numberOf[p.id] = n
		o.all = append(o.all, p.callPath)
	}
	o.defList.number[n] = number
	o.last, o.before = number, [2]uint64{p.id, o.before[0]}
	o.called[o.at(p.below).site] = p.site
}

// isPath reports whether a definition can be coded as a path.
func (x *defCoder) isPath(d *eventDef) bool {
	if efg.DefKind(d.kind) != efg.DefSite || d.flags != defDerived || !isCallsite(len(d.words)) {
		return false
	}
	module, offset := d.words[0].token, d.words[1].token
	if module&7 != token.Def || offset&7 != token.Number || uint64(block.Unzigzag(offset>>3)) >= maxOffset {
		return false
	}
	if n, ok := x.defs.path.modules[x.listed(module>>3)]; !ok || n != module>>3 {
		return false
	}
	if len(d.words) == siteWords {
		return true
	}
	parent := d.words[2].token
	return parent&7 == token.Const || parent&7 == token.Def && x.defs.path.at(int(parent>>3)).id != 0
}

// listed is what stands for a definition of the current list in all of them, 0 if there is no such.
func (x *defCoder) listed(number uint64) uint64 {
	if number >= uint64(len(x.defs.all)-x.defs.begun) {
		return 0
	}
	return x.defs.all[x.defs.begun+int(number)].hash()
}

// pathPlace is where a path makes its last call.
type pathPlace struct {
	below   int    // number of the definition of the path without that call, -1: there is none
	root    uint64 // the token of a constant in its place; 0: the path was cut there
	up      uint64 // how far above the last path that is, from 1; 0: elsewhere
	sibling uint64 // callsite of the call there on the last path, 0: none is known
}

// path codes the definition of a path.
func (x *defCoder) path(given *eventDef) {
	o := &x.defs.path
	at := pathPlace{below: -1}
	if x.c.Encoding() && len(given.words) == pathWords {
		if t := given.words[2].token; t&7 == token.Def {
			at.below = int(t >> 3)
		} else {
			at.root = t
		}
	}
	if x.pathPlace(&at); x.err != nil {
		return
	}
	site := x.pathSite(&at, given)
	if x.err != nil {
		return
	}
	parent := o.at(at.below).id
	p := listedPath{callPath{mix.Hash(parent, at.root, site), parent, site}, at.below}
	o.add(len(x.defs.all)-x.defs.begun, p)
	c := &o.sites[site-1]
	words := []uint64{token.Of(token.Def, o.modules[c.module]), token.Of(token.Number, block.Zigzag(int64(c.offset)))}
	if at.below >= 0 {
		words = append(words, token.Of(token.Def, uint64(at.below)))
	} else if at.root != 0 {
		words = append(words, at.root)
	}
	x.d.kind, x.d.flags, x.d.path = uint64(efg.DefSite), defDerived, p.callPath
	for _, t := range words {
		x.d.words = append(x.d.words, eventWord{token: t, alt: t})
	}
}

// pathPlace codes where a path makes its last call.
func (x *defCoder) pathPlace(at *pathPlace) {
	o := &x.defs.path
	last := o.at(o.last)
	above := o.at(last.below)
	guesses := []mix.Guess{
		{Context: mix.Hash(ctxDef, ctxPathUp, 1, last.site)},
		{Context: mix.Hash(ctxDef, ctxPathUp, 2, last.site, above.site)},
		{Context: mix.Hash(ctxDef, ctxPathUp, 3, last.site, above.site, o.at(above.below).site)},
		{Context: mix.Hash(ctxDef, ctxPathUp, 4, o.before[0])},
		{Context: mix.Hash(ctxDef, ctxPathUp, 5, o.before[0], o.before[1])},
		{None: true},
	}
	if like := x.likePath(); like != nil {
		up := o.upTo(func(number int) bool { return o.at(number).id == like.parent })
		guesses[5] = mix.Guess{None: up == 0, Value: up, Sure: x.defs.sure()}
	}
	up := uint64(0)
	if x.c.Encoding() {
		up = o.upTo(func(number int) bool { return number == at.below })
	}
	at.up = x.c.Value(kindPathUp, guesses, mix.Hash(ctxDef, ctxPathUp), 0, up)
	if at.up == 0 {
		x.parent(at)
	} else {
		x.climb(at)
	}
	if at.below >= 0 || x.err != nil {
		return
	}
	root := mix.Hash(ctxDef, ctxPathRoot)
	if at.root = x.c.Value(kindPathRoot, []mix.Guess{{Context: root}}, root, 0, at.root); at.root != 0 && at.root&7 != token.Const {
		x.failf("path below token %d", at.root)
	}
}

// parent codes the parent of a path that is not below the last one.
func (x *defCoder) parent(at *pathPlace) {
	if o := &x.defs.path; x.byPath {
		last := o.at(o.last)
		guesses := []mix.Guess{
			{Context: mix.Hash(ctxDef, ctxPathParentOf, 1, last.id)},
			{Context: mix.Hash(ctxDef, ctxPathParentOf, 2, last.site)},
			{Context: mix.Hash(ctxDef, ctxPathParentOf, 3, last.site, o.at(last.below).site)},
			{None: true},
		}
		if like := x.likePath(); like != nil {
			guesses[3] = mix.Guess{Value: like.parent, Sure: x.defs.sure()}
		}
		id := x.c.ValueOr(kindPathParent, guesses, o.at(at.below).id, func(uint64) uint64 {
			x.listedParent(at)
			return o.at(at.below).id
		})
		n, ok := o.defList.number[o.numberOf[id]]
		if !ok || o.at(n).id != id {
			x.failf("path below one that is not in the list")
			n = -1
		}
		at.below = n
		return
	}
	x.listedParent(at)
}

// listedParent codes a path's parent by its number in the list.
func (x *defCoder) listedParent(at *pathPlace) {
	at.below = int(min(x.c.Number(mix.Hash(ctxDef, ctxPathParent), uint64(at.below)), maxBlockValues))
	if x.defs.path.at(at.below).id == 0 {
		x.failf("path below definition %d", at.below)
	}
}

// climb goes up from the last path.
func (x *defCoder) climb(at *pathPlace) {
	o := &x.defs.path
	at.below = o.last
	for range min(at.up, maxUp+1) - 1 {
		if at.below < 0 || at.up > maxUp {
			x.failf("%d calls up a path", at.up)
			return
		}
		at.sibling = o.at(at.below).site
		at.below = o.at(at.below).below
	}
}

// upTo is how far above the last path another one is: 1 if it is that, and one more than that has calls if it
// is none; 0 if it is not above.
func (o *pathOrder) upTo(is func(number int) bool) uint64 {
	at := o.last
	for up := uint64(1); up <= maxUp; up++ {
		if is(at) {
			return up
		}
		if at < 0 {
			break
		}
		at = o.at(at).below
	}
	return 0
}

// likePath is the path that the definition may resemble, nil if there is none.
func (x *defCoder) likePath() *callPath {
	if x.like == nil || x.like.path.id == 0 {
		return nil
	}
	return &x.like.path
}

// pathSite codes a path's last call, and returns the number of its callsite.
func (x *defCoder) pathSite(at *pathPlace, given *eventDef) uint64 {
	o := &x.defs.path
	var site callsite
	known := uint64(0)
	if x.c.Encoding() {
		site = callsite{x.listed(given.words[0].token >> 3), uint64(block.Unzigzag(given.words[1].token >> 3))}
		known = o.number[site]
	}
	parent := o.at(at.below)
	above := o.at(parent.below)
	guesses := []mix.Guess{
		{Context: mix.Hash(ctxDef, ctxPathSite, 1, parent.id, at.sibling)},
		{Context: mix.Hash(ctxDef, ctxPathSite, 2, parent.site, at.sibling)},
		{Context: mix.Hash(ctxDef, ctxPathSite, 3, parent.site)},
		{Context: mix.Hash(ctxDef, ctxPathSite, 4, at.sibling)},
		{Context: mix.Hash(ctxDef, ctxPathSite, 5, parent.site, above.site, at.sibling)},
		{Context: mix.Hash(ctxDef, ctxPathSite, 6, o.before[0], at.up)},
		{Context: mix.Hash(ctxDef, ctxPathSite, 7, o.at(o.last).site, at.up)},
		{None: true},
	}
	if like := x.likePath(); like != nil {
		guesses[7] = mix.Guess{Value: like.site, Sure: x.defs.sure()}
	}
	if x.byPath {
		known = x.siteNear(at, guesses, known)
	} else {
		known = x.c.Value(kindPathSite, guesses, mix.Hash(ctxDef, ctxPathSite), 0, known)
	}
	switch {
	case known == 0:
		return x.newCallsite(at, site)
	case known > uint64(len(o.sites)):
		x.failf("callsite %d of %d", known, len(o.sites))
	default:
		if _, ok := o.modules[o.sites[known-1].module]; !ok {
			x.failf("callsite %d in an undefined module", known)
		}
	}
	return known
}

// siteNear codes the number of a callsite, or 0 of a new one: if it is not guessed, by how many others are between it
// and one in the same function.
func (x *defCoder) siteNear(at *pathPlace, guesses []mix.Guess, site uint64) uint64 {
	o := &x.defs.path
	near, how := at.sibling, uint64(0)
	if near == 0 {
		near, how = o.called[o.at(at.below).site], 1
	}
	if near == 0 {
		how = 2
	}
	guesses = append(guesses, mix.Guess{Context: mix.Hash(ctxDef, ctxPathSiteHow, how)})
	return x.c.ValueOr(kindPathSite, guesses, site, func(site uint64) uint64 {
		if near != 0 {
			context := mix.Hash(ctxDef, ctxPathDistance, how)
			d := block.Unzigzag(x.c.Value(kindPathDistance, nil, context, 0, block.Zigzag(o.between(near, site))))
			if d != 0 {
				if site = o.beyond(near, d); site == 0 {
					x.failf("callsite %d after one of %d", d, len(o.sites))
				}
				return site
			}
		}
		return x.c.Value(kindPathFar, nil, mix.Hash(ctxDef, ctxPathFar, how), 0, site)
	})
}

// newCallsite codes a callsite that is new in the block, and returns its number.
func (x *defCoder) newCallsite(at *pathPlace, site callsite) uint64 {
	o := &x.defs.path
	context := mix.Hash(ctxDef, ctxPathModule)
	o.module = x.c.Value(kindPathModule, []mix.Guess{{Value: o.module, Sure: 1}, {Context: context}}, context, o.module, o.modules[site.module])
	site.module = x.listed(o.module)
	if n, ok := o.modules[site.module]; !ok || n != o.module {
		x.failf("callsite in module %d", o.module)
		return 0
	}
	near, how := x.nearby(at, site.module)
	site.offset = x.c.Value(kindPathOffset, []mix.Guess{{None: true}}, mix.Hash(ctxDef, ctxPathOffset, how), near, site.offset)
	if site.offset >= maxOffset {
		x.failf("callsite at %#x of a module", site.offset)
		return 0
	}
	o.offsets[site.module] = site.offset
	o.sites = append(o.sites, site)
	o.number[site] = uint64(len(o.sites))
	o.order.add(site, uint64(len(o.sites)))
	return uint64(len(o.sites))
}

// nearby is the offset of a call that may be in the same function of a module as a new one, and how likely that is.
func (x *defCoder) nearby(at *pathPlace, module uint64) (offset, how uint64) {
	o := &x.defs.path
	for i, number := range [...]uint64{at.sibling, o.called[o.at(at.below).site]} {
		if number > 0 && o.sites[number-1].module == module {
			return o.sites[number-1].offset, uint64(i) + 1
		}
	}
	return o.offsets[module], 0
}
