package signature

import (
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
	before *procTable // the procedures that these follow, nil: none

	// For the parameters and the words of a procedure that is being parsed.
	params []Param
	words  []Word
}

// room is the number of procedures that can be added to the embedded table.
const room = 64

// The embedded table is part of the program: an error in it is a bug, which tests find.
var procedures = sync.OnceValue(func() *procTable {
	t := &procTable{}
	if err := t.parse(proceduresText, room); err != nil {
		panic(err)
	}
	return t
})

// Extend adds procedures to the table, of another library or for a test. They get the next
// numbers, so recordings of them can be read only by programs that make the same calls to
// Extend. It must not be called concurrently with other uses of the table.
func Extend(r io.Reader) error {
	t := procedures()
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	more := procTable{before: t}
	if err := more.parse(string(text), 0); err != nil {
		return err
	}
	if len(more.procs) > cap(t.procs)-len(t.procs) {
		return fmt.Errorf("there is room for %d procedures more, not %d", cap(t.procs)-len(t.procs), len(more.procs))
	}
	t.add(more.procs)
	return nil
}

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
func ParseProcedures(r io.Reader) ([]Proc, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var t procTable
	err = t.parse(string(text), 0)
	return t.procs, err
}

// parse reads procedures, with room for that many more. Most commands do this once, and some little
// else: it allocates no more than what stays.
func (t *procTable) parse(text string, room int) error {
	most := strings.Count(text, "\n") + 1
	t.procs, t.byName = make([]Proc, 0, most+room), make(map[string]*Proc, most)
	lines := make([]int, 0, most)
	first := 1
	if t.before != nil {
		first += len(t.before.procs)
	}
	err := eachLine(text, "procedures.tbl", func(n int, line string) error {
		t.procs = append(t.procs, Proc{ID: first + len(t.procs)})
		p := &t.procs[len(t.procs)-1]
		err := t.parseProc(p, line)
		if err == nil && t.named(p.Name) != nil {
			err = fmt.Errorf("%s is listed twice", p.Name)
		}
		if err != nil {
			t.procs = t.procs[:len(t.procs)-1]
			return err
		}
		t.byName[p.Name] = p
		lines = append(lines, n)
		return nil
	})
	if err != nil {
		return err
	}
	t.procs = t.procs[: len(t.procs) : len(t.procs)+room]
	return t.findBases(lines)
}

// named returns the procedure with a name, or nil.
func (t *procTable) named(name string) *Proc {
	if p := t.byName[name]; p != nil || t.before == nil {
		return p
	}
	return t.before.named(name)
}

// findBases finds the bases of the procedures, which are in these lines, and what follows from
// them.
func (t *procTable) findBases(lines []int) error {
	for i := range t.procs {
		p := &t.procs[i]
		p.Base = p
		if p.base != "" {
			base := t.named(p.base)
			if base == nil || base.base != "" {
				return &TableError{"procedures.tbl", lines[i], fmt.Errorf("%s is a variant of %s, which is not there, or one itself", p.Name, p.base)}
			}
			p.inherit(base)
		}
		p.Variant = p.variant()
		t.words = p.schema(t.words[:0])
		p.Words = append([]Word(nil), t.words...)
		p.findRoles()
	}
	return nil
}

// eachLine calls f for every line that is not empty or a comment.
func eachLine(text, table string, f func(n int, line string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := f(n, line); err != nil {
			return &TableError{table, n, err}
		}
	}
	return nil
}

// onlyOther are the classes of procedures for which the table has none.
var onlyOther = []string{OtherOps}

func (t *procTable) parseProc(p *Proc, line string) error {
	head, tail, _ := strings.Cut(line, " : ")
	n := 0
	for a := range strings.FieldsSeq(head) {
		var err error
		switch n++; n {
		case 1:
			p.Name = a
		case 2:
			err = p.setClass(a)
		default:
			err = p.setAttribute(a)
		}
		if err != nil {
			return err
		}
	}
	if n < 2 {
		return fmt.Errorf("want NAME CLASS, got %q", head)
	}
	if p.MTF == nil {
		p.MTF = onlyOther
	}
	p.Params = t.params[:0]
	for s := range strings.FieldsSeq(tail) {
		q, err := parseParam(s)
		if err != nil {
			return fmt.Errorf("parameter %q: %w", s, err)
		}
		if p.Param(q.Name) >= 0 {
			return fmt.Errorf("parameter %s is listed twice", q.Name)
		}
		p.Params = append(p.Params, q)
	}
	t.params = p.Params
	p.Params = append([]Param(nil), p.Params...) // nil if there are none
	return p.check()
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
	if f := p.flag(a); f != nil {
		*f = true
		return nil
	}
	key, value, _ := strings.Cut(a, "=")
	if v := p.text(key); v != nil && value != "" {
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

// flag returns what an attribute without a value sets, nil if there is no such attribute.
func (p *Proc) flag(a string) *bool {
	switch a {
	case "large":
		return &p.HasLarge
	case "poll":
		return &p.Poll
	case "persistent":
		return &p.Persistent
	case "starts":
		return &p.Starts
	case "frees":
		return &p.Frees
	case "ffunc":
		return &p.FortranFunc
	case "noierr":
		return &p.NoIerror
	case "fint":
		return &p.FortranInts
	case "varargs":
		return &p.Varargs
	case "begins":
		return &p.Begins
	case "ends":
		return &p.Ends
	case "anytime":
		return &p.Anytime
	case "cancels":
		return &p.Cancels
	case "shared":
		return &p.Shared
	case "existing":
		return &p.Existing
	case "noreturn":
		return &p.NoReturn
	case "file":
		return &p.file
	case "commits":
		return &p.Commits
	case "cptr":
		return &p.FortranCptr
	case "opens":
		return &p.Opens
	case "closes":
		return &p.Closes
	}
	return nil
}

// text returns what an attribute with a text sets, nil if there is no such attribute.
func (p *Proc) text(key string) *string {
	switch key {
	case "issue":
		return &p.Issues
	case "completes":
		return &p.Completes
	case "peeks":
		return &p.Peeks
	case "ctor":
		return &p.Ctor
	case "mode":
		return &p.Mode
	case "of":
		return &p.base
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
