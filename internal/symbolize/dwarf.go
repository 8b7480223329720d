package symbolize

import (
	"debug/dwarf"
	"path"
	"sort"
)

// dwarfSearch looks for the queries' addresses in one pass over the units.
// Only units that hold one are read in full.
type dwarfSearch struct {
	d       *dwarf.Data
	queries []query
	funcs   map[dwarf.Offset]string // names of entries, resolved through references
}

func newDwarfSearch(d *dwarf.Data, queries []query) *dwarfSearch {
	return &dwarfSearch{d: d, queries: queries, funcs: map[dwarf.Offset]string{}}
}

func (s *dwarfSearch) run() {
	r := s.d.Reader()
	for {
		unit, err := r.Next()
		if err != nil || unit == nil {
			return
		}
		if unit.Tag == dwarf.TagCompileUnit && s.holds(unit) {
			s.lines(unit)
			s.functions(unit)
		}
		r.SkipChildren()
	}
}

// holds reports whether an entry's address ranges contain a query. A unit without ranges may.
func (s *dwarfSearch) holds(e *dwarf.Entry) bool {
	ranges, err := s.d.Ranges(e)
	if err != nil || len(ranges) == 0 {
		return err == nil && e.Tag == dwarf.TagCompileUnit
	}
	for _, r := range ranges {
		if len(within(s.queries, r[0], r[1])) > 0 {
			return true
		}
	}
	return false
}

// row is the part of a line table from start up to end.
type row struct {
	start, end uint64
	file       string
	line       int
}

// lines fills in files and lines from a unit's line table. A line table has several sequences,
// which are not ordered by address.
func (s *dwarfSearch) lines(unit *dwarf.Entry) {
	rows := s.rows(unit)
	directory, _ := unit.Val(dwarf.AttrCompDir).(string)
	for _, q := range s.queries {
		i := sort.Search(len(rows), func(i int) bool { return rows[i].start > q.addr })
		if i > 0 && q.addr < rows[i-1].end && q.place.File == "" {
			file := rows[i-1].file
			if !path.IsAbs(file) {
				file = path.Join(directory, file)
			}
			q.place.File, q.place.Path, q.place.Line = path.Base(file), file, rows[i-1].line
		}
	}
}

// rows returns a unit's line table, sorted by address.
func (s *dwarfSearch) rows(unit *dwarf.Entry) []row {
	lr, err := s.d.LineReader(unit)
	if err != nil || lr == nil {
		return nil
	}
	var rows []row
	var e, last dwarf.LineEntry
	open := false
	for lr.Next(&e) == nil {
		if open && e.Address > last.Address && last.File != nil && last.Line > 0 && last.Address != 0 {
			rows = append(rows, row{last.Address, e.Address, last.File.Name, last.Line})
		}
		last, open = e, !e.EndSequence
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].start < rows[j].start })
	return rows
}

// functions fills in the functions of a unit's queries: the subprogram, preceded by the
// functions inlined at the position.
func (s *dwarfSearch) functions(unit *dwarf.Entry) {
	r := s.d.Reader()
	r.Seek(unit.Offset)
	if e, err := r.Next(); err != nil || e == nil || !e.Children {
		return
	}
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		switch e.Tag {
		case 0:
			depth--
			continue
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			s.enter(e)
		}
		if e.Children {
			depth++
		}
	}
}

// enter prepends the function of e to the names of the queries it contains. Outer functions
// come first in the tree, so the innermost ends up first.
func (s *dwarfSearch) enter(e *dwarf.Entry) {
	ranges, err := s.d.Ranges(e)
	if err != nil {
		return
	}
	for _, r := range ranges {
		for _, q := range within(s.queries, r[0], r[1]) {
			name := s.name(e, 8)
			if q.place.Func != "" && e.Tag == dwarf.TagInlinedSubroutine {
				name += " in " + q.place.Func
			}
			q.place.Func = name
		}
	}
}

// name returns a function's name, which may be in the entry that this one is an instance or the
// completion of.
func (s *dwarfSearch) name(e *dwarf.Entry, hops int) string {
	if n := entryName(e); n != "" {
		return n
	}
	if hops == 0 {
		return "?"
	}
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		off, ok := e.Val(a).(dwarf.Offset)
		if !ok {
			continue
		}
		if n, ok := s.funcs[off]; ok {
			return n
		}
		r := s.d.Reader()
		r.Seek(off)
		if ref, err := r.Next(); err == nil && ref != nil {
			n := s.name(ref, hops-1)
			s.funcs[off] = n
			return n
		}
	}
	return "?"
}
