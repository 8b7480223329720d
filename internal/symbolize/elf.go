package symbolize

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sort"
)

// BuildIDError reports that a file is not the one that was loaded.
type BuildIDError struct{ Path, Want, Have string }

func (e *BuildIDError) Error() string {
	return fmt.Sprintf("%s: build-id %q, the run used %q", e.Path, e.Have, e.Want)
}

// debugRoot is where distributions keep debug information by build-id.
const debugRoot = "/usr/lib/debug/.build-id"

// Resolve finds the places of offsets (addresses as in the ELF file) in the
// module at path, which must have the given build-id if that is not empty. What
// it cannot find is left zero; without debug information Func may still be
// known from the symbol table, or be "module+0x1180", where the function begins.
func Resolve(path, buildID string, offsets []uint64) ([]Place, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if have := readBuildID(f); buildID != "" && have != buildID {
		return nil, &BuildIDError{path, buildID, have}
	}
	places := make([]Place, len(offsets))
	queries := newQueries(offsets, places)
	if d := debugInfo(f, buildID); d != nil {
		newDwarfSearch(d, queries).run()
	}
	nameFromSymbols(f, queries)
	nameFromUnwindTable(f, filepath.Base(path), queries)
	return places, nil
}

// query is an address to look up. Queries are sorted by address.
type query struct {
	addr  uint64
	place *Place
}

func newQueries(offsets []uint64, places []Place) []query {
	q := make([]query, len(offsets))
	for i, o := range offsets {
		q[i] = query{o, &places[i]}
	}
	sort.Slice(q, func(i, j int) bool { return q[i].addr < q[j].addr })
	return q
}

// within returns the queries with addresses in [low, high).
func within(q []query, low, high uint64) []query {
	if low >= high {
		return nil
	}
	i := sort.Search(len(q), func(i int) bool { return q[i].addr >= low })
	j := sort.Search(len(q), func(i int) bool { return q[i].addr >= high })
	return q[i:j]
}

// debugInfo returns the DWARF data of a file, or of its separate debug file.
func debugInfo(f *elf.File, buildID string) *dwarf.Data {
	if f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil {
		if d, err := f.DWARF(); err == nil {
			return d
		}
	}
	if len(buildID) < 3 {
		return nil
	}
	sep, err := elf.Open(filepath.Join(debugRoot, buildID[:2], buildID[2:]+".debug"))
	if err != nil {
		return nil
	}
	defer sep.Close()
	d, err := sep.DWARF()
	if err != nil {
		return nil
	}
	return d
}

// readBuildID returns the build-id in hex, "" if there is none.
func readBuildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	b, err := s.Data()
	if err != nil || len(b) < 16 {
		return ""
	}
	nameSize, descSize := f.ByteOrder.Uint32(b), f.ByteOrder.Uint32(b[4:])
	start := 12 + (uint64(nameSize)+3)&^3
	if start+uint64(descSize) > uint64(len(b)) {
		return ""
	}
	return hex.EncodeToString(b[start : start+uint64(descSize)])
}

// nameFromSymbols fills in functions that debug information did not name.
func nameFromSymbols(f *elf.File, queries []query) {
	missing := false
	for _, q := range queries {
		missing = missing || q.place.Func == ""
	}
	if !missing {
		return
	}
	static, _ := f.Symbols() // absent in stripped files
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(static, dynamic...) {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF {
			continue
		}
		for _, q := range within(queries, s.Value, s.Value+s.Size) {
			if q.place.Func == "" {
				q.place.Func = functionName(s.Name)
			}
		}
	}
}
