package signature

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:embed procedures.tbl
var proceduresText string

// TableError is an error in a table.
type TableError struct {
	Table string
	Line  int
	Err   error
}

func (e *TableError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Table, e.Line, e.Err) }
func (e *TableError) Unwrap() error { return e.Err }

type procTable struct {
	procs  []Proc
	byName map[string]*Proc
}

// room is the number of procedures that can be added to the embedded table.
const room = 64

// The embedded table is part of the program: an error in it is a bug, which tests find.
var procedures = sync.OnceValue(func() *procTable {
	procs, err := ParseProcedures(strings.NewReader(proceduresText))
	if err != nil {
		panic(err)
	}
	t := &procTable{make([]Proc, 0, len(procs)+room), make(map[string]*Proc, len(procs))}
	t.add(procs)
	return t
})

func (t *procTable) add(procs []Proc) {
	old := len(t.procs)
	t.procs = append(t.procs, procs...)
	for i := old; i < len(t.procs); i++ {
		t.byName[t.procs[i].Name] = &t.procs[i]
	}
	for i := old; i < len(t.procs); i++ {
		t.procs[i].Base = t.byName[t.procs[i].Base.Name]
	}
}

// Extend adds procedures to the table, of another library or for a test. They get the next
// numbers, so recordings of them can be read only by programs that make the same calls to
// Extend. It must not be called concurrently with other uses of the table.
func Extend(r io.Reader) error {
	t := procedures()
	procs, err := parseProcedures(r, t.procs)
	if err != nil {
		return err
	}
	if len(procs) > cap(t.procs)-len(t.procs) {
		return fmt.Errorf("there is room for %d procedures more, not %d", cap(t.procs)-len(t.procs), len(procs))
	}
	t.add(procs)
	return nil
}

// Procs returns all procedures; Procs()[i] has number i+1. Callers must not change them.
func Procs() []Proc { return procedures().procs }

// ProcByID returns the procedure with a number, or nil.
func ProcByID(id int) *Proc {
	p := procedures().procs
	if id < 1 || id > len(p) {
		return nil
	}
	return &p[id-1]
}

// ProcByName returns the procedure with a C name (without _c), or nil.
func ProcByName(name string) *Proc { return procedures().byName[name] }

// ParseProcedures reads a table of procedures.
func ParseProcedures(r io.Reader) ([]Proc, error) { return parseProcedures(r, nil) }

// parseProcedures reads procedures that follow others.
func parseProcedures(r io.Reader, before []Proc) ([]Proc, error) {
	var procs []Proc
	seen := map[string]bool{}
	for i := range before {
		seen[before[i].Name] = true
	}
	var lines []int
	err := eachLine(r, "procedures.tbl", func(n int, line string) error {
		p, err := parseProc(line)
		if err != nil {
			return err
		}
		if seen[p.Name] {
			return fmt.Errorf("%s is listed twice", p.Name)
		}
		seen[p.Name] = true
		p.ID = len(before) + len(procs) + 1
		procs, lines = append(procs, p), append(lines, n)
		return nil
	})
	if err != nil {
		return procs, err
	}
	return procs, findBases(procs, before, lines)
}

// findBases finds the bases of the procedures, which are in these lines, and what follows from
// them.
func findBases(procs, before []Proc, lines []int) error {
	byName := map[string]*Proc{}
	for _, list := range [][]Proc{before, procs} {
		for i := range list {
			byName[list[i].Name] = &list[i]
		}
	}
	for i := range procs {
		p := &procs[i]
		p.Base = p
		if p.base != "" {
			base := byName[p.base]
			if base == nil || base.base != "" {
				return &TableError{"procedures.tbl", lines[i], fmt.Errorf("%s is a variant of %s, which is not there, or one itself", p.Name, p.base)}
			}
			p.inherit(base)
		}
		p.Variant = p.variant()
		p.schema()
		p.findRoles()
	}
	return nil
}

// eachLine calls f for every line that is not empty or a comment.
func eachLine(r io.Reader, table string, f func(n int, line string) error) error {
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := f(n, line); err != nil {
			return &TableError{table, n, err}
		}
	}
	return sc.Err()
}

func parseProc(line string) (Proc, error) {
	head, tail, _ := strings.Cut(line, " : ")
	f := strings.Fields(head)
	if len(f) < 2 {
		return Proc{}, fmt.Errorf("want NAME CLASS, got %q", head)
	}
	p := Proc{Name: f[0], lookupByName: map[string]int{}}
	if err := p.setClass(f[1]); err != nil {
		return p, err
	}
	for _, a := range f[2:] {
		if err := p.setAttribute(a); err != nil {
			return p, err
		}
	}
	if p.MTF == nil {
		p.MTF = []string{OtherOps}
	}
	for _, s := range strings.Fields(tail) {
		q, err := parseParam(s)
		if err != nil {
			return p, fmt.Errorf("parameter %q: %w", s, err)
		}
		if p.Param(q.Name) >= 0 {
			return p, fmt.Errorf("parameter %s is listed twice", q.Name)
		}
		p.lookupByName[q.Name] = len(p.Params)
		p.Params = append(p.Params, q)
	}
	return p, p.check()
}

func (p *Proc) setClass(s string) error {
	for i, n := range classNames {
		if n == s {
			p.Class = Class(i)
			return nil
		}
	}
	return fmt.Errorf("unknown class %q", s)
}

func (p *Proc) setAttribute(a string) error {
	key, value, _ := strings.Cut(a, "=")
	flags := map[string]*bool{
		"large": &p.HasLarge, "poll": &p.Poll, "persistent": &p.Persistent, "starts": &p.Starts,
		"frees": &p.Frees, "ffunc": &p.FortranFunc, "noierr": &p.NoIerror, "fint": &p.FortranInts,
		"varargs": &p.Varargs, "begins": &p.Begins, "ends": &p.Ends, "anytime": &p.Anytime, "cancels": &p.Cancels,
		"shared": &p.Shared, "existing": &p.Existing, "noreturn": &p.NoReturn, "file": &p.file, "commits": &p.Commits, "cptr": &p.FortranCptr,
		"opens": &p.Opens, "closes": &p.Closes,
	}
	if f, ok := flags[a]; ok {
		*f = true
		return nil
	}
	values := map[string]*string{
		"issue": &p.Issues, "completes": &p.Completes, "peeks": &p.Peeks, "ctor": &p.Ctor, "mode": &p.Mode, "of": &p.base,
	}
	if v, ok := values[key]; ok && value != "" {
		*v = value
		return nil
	}
	switch {
	case key == "mtf" && value != "":
		p.MTF = strings.Split(value, ",")
	case a == "fort=none":
		p.Fortran = FortranNone
	case a == "fort=old":
		p.Fortran = FortranOld
	case a == "fort=f08":
		p.Fortran = FortranF08
	default:
		return p.setMeaning(a, key, value)
	}
	return nil
}

// setMeaning sets an attribute with enumerated values.
func (p *Proc) setMeaning(a, key, value string) error {
	known := false
	switch key {
	case "coll":
		p.Shape, known = shapeNames[value]
	case "sync":
		p.Sync, known = syncNames[value]
	case "over":
		p.Scope, known = scopeNames[value]
	case "epoch":
		p.Epoch, known = epochNames[value]
	case "blocks":
		p.blocks, known = value, blockNames[value]
	case "split":
		p.Split, known = value, value == "begin" || value == "end"
	}
	if !known {
		return fmt.Errorf("unknown attribute %q", a)
	}
	return nil
}

// check looks for references to unknown parameters, and for contradictory attributes.
func (p *Proc) check() error {
	sync, moves := syncOf[p.Shape]
	switch {
	case (p.Shape == NoData) != (p.Sync != SyncNone):
		return fmt.Errorf("sync= and coll=none go together")
	case p.Scope != ScopeObject && p.Shape == NotCollective, p.blocks != "" && !moves:
		return fmt.Errorf("over= and blocks= say more about a collective")
	case p.base != "" && (p.Shape != NotCollective || p.Epoch != NoEpoch):
		return fmt.Errorf("of= says what coll= and epoch= say")
	case (p.Persistent || p.Split != "") && p.base == "":
		return fmt.Errorf("of= must say what it is a variant of")
	}
	if moves {
		p.Sync = sync
	}
	return p.checkParams()
}

func (p *Proc) checkParams() error {
	for i := range p.Params {
		q := &p.Params[i]
		var refs []string
		if q.Len != nil {
			refs = q.Len.Params()
		}
		for _, c := range q.Conds {
			if c.Arg != "" {
				refs = append(refs, c.Arg)
			}
		}
		for _, r := range refs {
			if p.Param(r) < 0 {
				return fmt.Errorf("parameter %s refers to %s, which is not there", q.Name, r)
			}
		}
	}
	return nil
}
