package runfile

import (
	"cmp"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// Columns of the strings block: each string continues where the previous one differs.
const (
	stringsShared = iota // bytes in common with the previous string
	stringsLength        // bytes after that
	stringsBytes
)

func stringColumns(strs []string) block.Columns {
	var bytes []byte
	var cols block.Columns
	last, total, stored := "", 0, 0
	for _, s := range strs {
		k := 0
		for k < len(s) && k < len(last) && s[k] == last[k] {
			k++
		}
		if total += len(s); total > freeStrings+maxStrings*(stored+len(s)-k) {
			k = 0
		}
		stored += len(s) - k
		cols.Put(stringsShared, uint64(k))
		cols.Put(stringsLength, uint64(len(s)-k))
		bytes = append(bytes, s[k:]...)
		last = s
	}
	cols.PutBytes(stringsBytes, bytes)
	return cols
}

// maxStrings bounds the expansion of a block's strings, per byte: prefixes can be shared
// repeatedly.
const (
	maxStrings  = 1 << 12
	freeStrings = 1 << 20
)

func takeStrings(b *block.Block) []string {
	var strs []string
	last, left := "", freeStrings+maxStrings*b.Left(stringsBytes)
	for b.Err == nil && b.Left(stringsShared) > 0 {
		k := b.Below(stringsShared, uint64(len(last))+1, "common prefix")
		s := last[:k] + string(b.Bytes(stringsBytes, b.Get(stringsLength)))
		if left -= len(s); left < 0 {
			b.Failf("strings of more than %d times their bytes", maxStrings)
		}
		strs = append(strs, s)
		last = s
	}
	return strs
}

// siteRef is the position of a callsite: a module, as in its definition, and an offset. The
// site's word is a hash of both.
type siteRef struct {
	module string
	offset uint64
}

// siteOf finds the callsite with this word among the definitions.
func siteOf(x *defIndex, word uint64) (siteRef, bool) {
	n, ok := x.byWord[word]
	if !ok || x.list[n].Kind != efg.DefSite || !isCallsite(len(x.list[n].Words)) {
		return siteRef{}, false
	}
	w := x.list[n].Words
	ref, ok := siteAt(x, w)
	return ref, ok && (len(w) == pathWords || ref.word() == word)
}

// siteAt is the callsite that a definition with these words describes.
func siteAt(x *defIndex, words []uint64) (siteRef, bool) {
	m, ok := x.byWord[words[0]]
	if !ok || x.list[m].Kind != efg.DefModule {
		return siteRef{}, false
	}
	return siteRef{string(x.list[m].Data), words[1]}, true
}

// Words of the definitions of a callsite and of a call path.
const (
	siteWords = 2
	pathWords = 3
)

func isCallsite(words int) bool { return words == siteWords || words == pathWords }

// word is the identity of the callsite.
func (r siteRef) word() uint64 {
	module := (&efg.Def{Kind: efg.DefModule, Data: []byte(r.module)}).Identity()
	return (&efg.Def{Kind: efg.DefSite, Words: []uint64{module, r.offset}}).Identity()
}

// Columns of the sites block.
const (
	siteModule = iota // number of a string + 1; 0 if the word is in siteWord
	siteOffset        // difference from the previous offset
	siteWord
	sitePlace // number of a string
	siteFunc
)

// compareSites orders sites by module and offset; of equal ones with several places, those with
// a function come first.
func compareSites(a, b Site) int {
	return cmp.Or(cmp.Compare(a.ref.module, b.ref.module), cmp.Compare(a.ref.offset, b.ref.offset), cmp.Compare(a.Word, b.Word),
		cmp.Compare(block.Bit(a.Func == ""), block.Bit(b.Func == "")), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Func, b.Func))
}

// siteColumns stores sites, which are in their order.
func (rw *runWriter) siteColumns(list []Site) block.Columns {
	var cols block.Columns
	last := uint64(0)
	for _, s := range list {
		if s.ref.module != "" {
			cols.Put(siteModule, rw.str(s.ref.module)+1)
			cols.Put(siteOffset, block.Zigzag(int64(s.ref.offset-last)))
			last = s.ref.offset
		} else {
			cols.Put(siteModule, 0)
			cols.Put(siteWord, s.Word)
		}
		cols.Put(sitePlace, rw.str(s.Place))
		cols.Put(siteFunc, rw.str(s.Func))
	}
	return cols
}

func (r *Run) readSites(b *block.Block) []Site {
	var sites []Site
	last := uint64(0)
	for b.Err == nil && b.Left(siteModule) > 0 {
		var s Site
		if m := b.Get(siteModule); m > 0 {
			last += uint64(block.Unzigzag(b.Get(siteOffset)))
			s.ref = siteRef{r.text(b, m-1), last}
			s.Word = s.ref.word()
		} else {
			s.Word = b.Get(siteWord)
		}
		s.Place = r.text(b, b.Get(sitePlace))
		s.Func = r.text(b, b.Get(siteFunc))
		sites = append(sites, s)
	}
	return sites
}

// text returns a string that a block refers to.
func (r *Run) text(b *block.Block, n uint64) string {
	s, err := r.str(n)
	if err != nil {
		b.Failf("%v", err)
	}
	return s
}
