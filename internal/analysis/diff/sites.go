package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// siteNames gives the callsites of a run keys that are equal for equal places in
// the source, in other runs too, and their texts.
type siteNames struct {
	list  []runfile.Site
	mu    sync.Mutex
	words map[uint64]uint64 // keys by word
	texts map[uint64]string // "function file:line" by key
	order map[uint64]int    // of the words, in the order of their addresses in the code
	paths map[uint64]*runfile.Site
}

func newSiteNames(run *runfile.Run) (*siteNames, error) {
	list, err := run.Sites()
	if err != nil {
		return nil, err
	}
	n := &siteNames{list: list, words: map[uint64]uint64{}, texts: map[uint64]string{}, order: map[uint64]int{}, paths: map[uint64]*runfile.Site{}}
	for i := range list {
		if s := &list[i]; s.Word != s.Callsite() {
			n.paths[s.Word] = s
		}
	}
	sorted := slices.DeleteFunc(slices.Clone(list), func(s runfile.Site) bool { return n.paths[s.Word] != nil })
	slices.SortStableFunc(sorted, func(x, y runfile.Site) int {
		_, a := x.Module()
		_, b := y.Module()
		return cmp.Compare(a, b)
	})
	count := map[string]int{} // calls at one source line, in the order of the code
	for i := range sorted {
		s := &sorted[i]
		text := strings.TrimSpace(s.Func + " " + s.Place)
		n.put(s.Word, siteKey(text, count[text]), text)
		n.order[s.Word] = i
		count[text]++
	}
	return n, nil
}

func siteKey(text string, nth int) uint64 {
	return signature.HashString(fmt.Sprint(text, "#", nth))
}

func (n *siteNames) put(word, key uint64, text string) {
	n.words[word], n.texts[key] = key, text
}

// keys returns the keys of a process's callsites by word. Callsites without a source location
// are named by module and offset.
func (n *siteNames) keys(p *analysis.Process) map[uint64]uint64 {
	streams := p.Data.Streams
	keys := map[uint64]uint64{}
	var own *reconstruct.Names
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range streams {
		for k := range streams[i].Nodes {
			word := p.Callsite(streams[i].Nodes[k].Words[1])
			key, ok := n.words[word]
			switch {
			case ok:
			case n.paths[word] != nil:
				key = n.path(n.paths[word], mostCalls)
			default:
				if own == nil {
					own = reconstruct.NewNames(p.Data.Defs, nil)
				}
				text := own.Place(word)
				if key = siteKey(text, 0); text == "unknown" {
					key = signature.Hash(word)
				}
				n.put(word, key, text)
			}
			keys[word] = key
		}
	}
	return keys
}

// mostCalls bounds the calls of a path: those of a file may form a ring.
const mostCalls = 1 << 10

// path is the key of a call path: it follows from those of its calls, so that paths correspond if their
// calls do.
func (n *siteNames) path(s *runfile.Site, most int) uint64 {
	if key, ok := n.words[s.Word]; ok {
		return key
	}
	last := n.words[s.Callsite()]
	key, text := last, n.texts[last]
	switch parent := n.paths[s.Parent]; {
	case s.Parent == signature.Absent:
		key = signature.Hash(key, 1)
	case s.Parent == signature.Unknown:
		key, text = signature.Hash(key, 0), text+reconstruct.PathArrow+reconstruct.PathUnknown
	default:
		rest, known := n.words[s.Parent] // where it is cut
		if parent != nil && most > 0 {
			rest, known = n.path(parent, most-1), true
		}
		key, text = signature.Hash(key, rest), text+reconstruct.PathArrow+n.texts[rest]
		if parent == nil && known {
			text += reconstruct.PathArrow + reconstruct.PathCut
		}
	}
	n.put(s.Word, key, text)
	return key
}

func (n *siteNames) text(key uint64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.texts[key]
}

// place is a callsite's text, split into its parts.
type place struct {
	text, file string // function and file
	line       int
	word       uint64
}

// follow gives callsites the keys of the callsites of another run that they correspond to
// although lines have moved: if a function has equally many callsites in both runs, they
// correspond in order.
func (n *siteNames) follow(other *siteNames) {
	own, others := n.places(), other.places()
	for file, list := range own {
		theirs := others[file]
		if len(theirs) != len(list) || slices.EqualFunc(list, theirs, func(a, b place) bool { return a.text == b.text }) {
			continue
		}
		for i := range list {
			key := other.words[theirs[i].word]
			n.put(list[i].word, key, theirs[i].text)
		}
	}
}

// places are the callsites with lines, by function and file, in the order of the
// lines.
func (n *siteNames) places() map[string][]place {
	list := map[string][]place{}
	for word, key := range n.words {
		p := place{text: n.texts[key], word: word}
		at := strings.LastIndexByte(p.text, ':')
		if at < 0 {
			continue
		}
		if _, err := fmt.Sscan(p.text[at+1:], &p.line); err != nil {
			continue
		}
		p.file = p.text[:at]
		list[p.file] = append(list[p.file], p)
	}
	for _, l := range list {
		slices.SortFunc(l, func(x, y place) int {
			return cmp.Or(cmp.Compare(x.line, y.line), cmp.Compare(n.order[x.word], n.order[y.word]))
		})
	}
	return list
}
