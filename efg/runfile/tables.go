package runfile

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/internal/token"
)

// The small tables of most files, strings, meta and sites, are columns before those of the index,
// in one block with them: a block of its own takes more than some tables do.

// Columns before those of the index.
const (
	tableStrings = iota
	tableMeta
	tableSites
	tableColumns = tableSites + siteFunc + 1
)

// fewTexts is the number of strings and sites from which these have blocks of their own.
const fewTexts = 1 << 11

// Bytes that strings in the index end with, and that comes before these two in a string.
const (
	lineEnd    = '\n'
	lineEscape = 0x1b
)

// putLines adds the strings, each with an end.
func putLines(cols *block.Columns, strs []string) {
	var b []byte
	for _, s := range strs {
		for i := range len(s) {
			if s[i] == lineEnd || s[i] == lineEscape {
				b = append(b, lineEscape)
			}
			b = append(b, s[i])
		}
		b = append(b, lineEnd)
	}
	cols.PutBytes(tableStrings, b)
}

func takeLines(b *block.Block) (strs []string) {
	text := b.Bytes(tableStrings, uint64(b.Left(tableStrings)))
	var line []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == lineEnd:
			strs, line = append(strs, string(line)), nil
			continue
		case c == lineEscape && i+1 < len(text):
			i++
		}
		line = append(line, text[i])
	}
	if line != nil {
		b.Failf("the last string does not end")
	}
	return strs
}

// tablesOf makes the columns before those of the index; sites are in their order.
func (rw *runWriter) tablesOf(meta []byte, sites []Site) error {
	known, err := callsites(rw.decoded.groups, func(n uint64) (string, error) { return rw.strs[n], nil })
	if err != nil {
		return err
	}
	var cols block.Columns
	rw.putSites(&cols, sites, known)
	putLines(&cols, rw.strs)
	cols.PutBytes(tableMeta, meta)
	for len(cols) < tableColumns {
		cols = append(cols, nil)
	}
	rw.tables = cols
	return nil
}

// Values of the column of modules, in the index.
const (
	moduleNone  = iota // only the word of the callsite is known
	moduleNext         // it is the next one of those in event blocks
	moduleFirst        // number of a string
)

// putSites adds sites, which are in their order. known are the callsites in event blocks.
func (rw *runWriter) putSites(cols *block.Columns, sites []Site, known []siteRef) {
	refs := make([]siteRef, 0, len(sites))
	for _, s := range sites {
		if s.ref.module != "" {
			refs = append(refs, s.ref)
		}
	}
	next := slices.Equal(refs, known)
	last := uint64(0)
	for _, s := range sites {
		switch {
		case s.ref.module == "":
			cols.Put(tableSites+siteModule, moduleNone)
			cols.Put(tableSites+siteWord, s.Word)
		case next:
			cols.Put(tableSites+siteModule, moduleNext)
		default:
			cols.Put(tableSites+siteModule, rw.str(s.ref.module)+moduleFirst)
			cols.Put(tableSites+siteOffset, block.Zigzag(int64(s.ref.offset-last)))
			last = s.ref.offset
		}
		place := uint64(0)
		if s.Place != s.ref.place() {
			place = rw.str(s.Place) + 1
		}
		cols.Put(tableSites+sitePlace, place)
		cols.Put(tableSites+siteFunc, rw.str(s.Func))
	}
}

// place is that of a callsite in a module without line information.
func (r siteRef) place() string {
	file, _, _ := strings.Cut(r.module, "\x00")
	return fmt.Sprintf("%s+%#x", path.Base(file), r.offset)
}

// sitesOfIndex reads the sites in the columns before the index.
func (r *Run) sitesOfIndex() (sites []Site, err error) {
	_, b := r.tables.Split(tableSites)
	var known []siteRef
	if b.Left(siteModule) > 0 && slices.Contains(b.Columns()[siteModule], moduleNext) {
		if known, err = r.callsites(); err != nil {
			return nil, err
		}
	}
	last := uint64(0)
	for b.Err == nil && b.Left(siteModule) > 0 {
		var s Site
		switch m := b.Get(siteModule); {
		case m == moduleNone:
			s.Word = b.Get(siteWord)
		case m >= moduleFirst:
			last += uint64(block.Unzigzag(b.Get(siteOffset)))
			s = MakeSite(r.text(b, m-moduleFirst), last)
		case len(known) == 0:
			b.Failf("more sites than callsites")
		default:
			s = MakeSite(known[0].module, known[0].offset)
			known = known[1:]
		}
		if s.Place = s.ref.place(); b.Peek(sitePlace) > 0 {
			s.Place = r.text(b, b.Peek(sitePlace)-1)
		}
		b.Get(sitePlace)
		s.Func = r.text(b, b.Get(siteFunc))
		sites = append(sites, s)
	}
	return sites, b.Close()
}

// callsites returns the callsites in event blocks.
func (r *Run) callsites() ([]siteRef, error) {
	var groups []*readGroup
	for n := range r.groups {
		if r.blocks[r.groups[n].block].Kind != blockEvents {
			continue
		}
		p, err := r.group(n)
		if err != nil {
			return nil, err
		}
		groups = append(groups, p)
	}
	return callsites(groups, r.str)
}

// callsites returns the callsites that these groups define, by module and offset.
func callsites(groups []*readGroup, text func(uint64) (string, error)) ([]siteRef, error) {
	seen := map[siteRef]bool{}
	for _, p := range groups {
		if p.kind != recordDefs {
			continue
		}
		for m := range p.members {
			list, err := p.definitions(m)
			if err != nil {
				return nil, err
			}
			for i := range list {
				module, offset, ok := callsiteOf(list, &list[i])
				if !ok {
					continue
				}
				s, err := text(module)
				if err != nil {
					return nil, err
				}
				seen[siteRef{s, offset}] = true
			}
		}
	}
	refs := slices.Collect(maps.Keys(seen))
	slices.SortFunc(refs, func(a, b siteRef) int { return compareSites(Site{ref: a}, Site{ref: b}) })
	return refs, nil
}

// callsiteOf returns the module's string and the offset of a definition, if it is of a callsite.
func callsiteOf(list []eventDef, d *eventDef) (module, offset uint64, ok bool) {
	if efg.DefKind(d.kind) != efg.DefSite || !isCallsite(len(d.words)) || d.words[0].token&7 != token.Def || d.words[1].token&7 != token.Number {
		return 0, 0, false
	}
	n := d.words[0].token >> 3
	if n >= uint64(len(list)) || efg.DefKind(list[n].kind) != efg.DefModule || list[n].flags&defData == 0 {
		return 0, 0, false
	}
	return list[n].text, uint64(block.Unzigzag(d.words[1].token >> 3)), true
}
