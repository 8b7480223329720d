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
	moved   map[*Place]bool         // those that are where an artificial function is called
}

func newDwarfSearch(d *dwarf.Data, queries []query) *dwarfSearch {
	return &dwarfSearch{d: d, queries: queries, funcs: map[dwarf.Offset]string{}, moved: map[*Place]bool{}}
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
			q.place.setFile(directory, rows[i-1].file)
			q.place.Line = rows[i-1].line
		}
	}
}

// setFile sets the place's file, which may be relative to the directory.
func (p *Place) setFile(directory, file string) {
	if !path.IsAbs(file) {
		file = path.Join(directory, file)
	}
	p.File, p.Path = path.Base(file), file
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
	var files []*dwarf.LineFile
	if lr, err := s.d.LineReader(unit); err == nil && lr != nil {
		files = lr.Files()
	}
	directory, _ := unit.Val(dwarf.AttrCompDir).(string)
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
			s.enter(e, directory, files)
		}
		if e.Children {
			depth++
		}
	}
}

// enter prepends the function of e to the names of the queries it contains. Outer functions
// come first in the tree, so the innermost ends up first. An artificial inlined function is a part
// of the line that calls it.
func (s *dwarfSearch) enter(e *dwarf.Entry, directory string, files []*dwarf.LineFile) {
	ranges, err := s.d.Ranges(e)
	if err != nil {
		return
	}
	artificial := e.Tag == dwarf.TagInlinedSubroutine && s.artificial(e)
	for _, r := range ranges {
		for _, q := range within(s.queries, r[0], r[1]) {
			if artificial {
				s.moveToCall(q.place, e, directory, files)
				continue
			}
			name := s.name(e, 8)
			if q.place.Func != "" && e.Tag == dwarf.TagInlinedSubroutine {
				name += " in " + q.place.Func
			}
			q.place.Func = name
		}
	}
}

// artificial reports whether the function that e is an instance of is to be shown as a part of its
// callers.
func (s *dwarfSearch) artificial(e *dwarf.Entry) bool {
	off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok {
		return false
	}
	r := s.d.Reader()
	r.Seek(off)
	origin, err := r.Next()
	if err != nil || origin == nil {
		return false
	}
	artificial, _ := origin.Val(dwarf.AttrArtificial).(bool)
	return artificial
}

// moveToCall changes the place to where the inlined function e is called. Only the outermost of
// several artificial functions inside each other has an effect: it is entered first.
func (s *dwarfSearch) moveToCall(p *Place, e *dwarf.Entry, directory string, files []*dwarf.LineFile) {
	file, _ := e.Val(dwarf.AttrCallFile).(int64)
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	if s.moved[p] || line <= 0 || file < 0 || file >= int64(len(files)) || files[file] == nil {
		return
	}
	s.moved[p] = true
	p.setFile(directory, files[file].Name)
	p.Line = int(line)
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
