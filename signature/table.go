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

// The embedded table is part of the program: a fault in it is one of ours, and
// the tests find it.
var procedures = sync.OnceValue(func() procTable {
	procs, err := ParseProcedures(strings.NewReader(proceduresText))
	if err != nil {
		panic(err)
	}
	t := procTable{procs, make(map[string]*Proc, len(procs))}
	for i := range procs {
		t.byName[procs[i].Name] = &procs[i]
	}
	return t
})

// Procs are all procedures; Procs()[i] has number i+1. Callers must not change
// them.
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
func ParseProcedures(r io.Reader) ([]Proc, error) {
	var procs []Proc
	seen := map[string]bool{}
	err := eachLine(r, "procedures.tbl", func(line string) error {
		p, err := parseProc(line)
		if err != nil {
			return err
		}
		if seen[p.Name] {
			return fmt.Errorf("%s is listed twice", p.Name)
		}
		seen[p.Name] = true
		p.ID = len(procs) + 1
		p.schema()
		procs = append(procs, p)
		return nil
	})
	return procs, err
}

// eachLine calls f for every line that is not empty or a comment.
func eachLine(r io.Reader, table string, f func(string) error) error {
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := f(line); err != nil {
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
		p.MTF = []string{"MPI_OtherOps"}
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
		"varargs": &p.Varargs,
	}
	if f, ok := flags[a]; ok {
		*f = true
		return nil
	}
	values := map[string]*string{
		"issue": &p.Issues, "completes": &p.Completes, "peeks": &p.Peeks, "ctor": &p.Ctor, "mode": &p.Mode,
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
		return fmt.Errorf("unknown attribute %q", a)
	}
	return nil
}

// check looks for references to parameters that are not there.
func (p *Proc) check() error {
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
