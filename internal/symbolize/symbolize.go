// Package symbolize finds the source lines of callsites. It reads the ELF files of a run when
// the run file is written, because they may not exist later.
package symbolize

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// Place is a position in the source.
type Place struct {
	File string // base name
	Path string // of the file, as the debug information has it
	Line int
	// Func is the function that holds the position, followed by " in " and the
	// functions it was inlined into, one after another.
	Func string
}

// Sites resolves every callsite that the processes define. A site without line
// information is written module+0xoffset.
func Sites(procs []*efg.Process) []runfile.Site {
	modules := map[module][]site{}
	seen := map[uint64]bool{}
	for _, p := range procs {
		mods := modulesOf(p.Defs)
		for _, d := range p.Defs {
			if d.Kind != efg.DefSite || len(d.Words) < 2 || seen[d.Word] {
				continue
			}
			seen[d.Word] = true
			m := mods[d.Words[0]]
			modules[m] = append(modules[m], site{d.Word, d.Words[1]})
		}
	}
	var out []runfile.Site
	for m, sites := range modules {
		out = append(out, m.sites(sites)...)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Word < out[j].Word })
	return out
}

type site struct{ word, offset uint64 }

// module is a file that was loaded into a process.
type module struct{ path, buildID string }

// modulesOf returns the modules that a process defines by their words.
func modulesOf(defs []efg.Def) map[uint64]module {
	mods := map[uint64]module{}
	for _, d := range defs {
		if d.Kind == efg.DefModule {
			path, id, _ := strings.Cut(string(d.Data), "\x00")
			mods[d.Word] = module{path, strings.TrimRight(id, "\x00")}
		}
	}
	return mods
}

func (m module) sites(sites []site) []runfile.Site {
	offsets := make([]uint64, len(sites))
	for i, s := range sites {
		offsets[i] = s.offset
	}
	places, err := Resolve(m.path, m.buildID, offsets)
	if err != nil {
		places = make([]Place, len(sites))
	}
	out := make([]runfile.Site, len(sites))
	for i, s := range sites {
		out[i] = runfile.Site{Word: s.word, Place: m.text(places[i], s.offset), Func: places[i].Func}
	}
	return out
}

func (m module) text(p Place, offset uint64) string {
	if p.File != "" {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	name := filepath.Base(m.path)
	if m.path == "" {
		name = "unknown"
	}
	return fmt.Sprintf("%s+%#x", name, offset)
}
