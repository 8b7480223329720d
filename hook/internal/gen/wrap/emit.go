package main

import (
	"bytes"
	"embed"
	"strings"
	"text/template"

	"github.com/efg-tools/efg/hook/internal/slots"
	"github.com/efg-tools/efg/signature"
)

//go:embed wrap.tmpl
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "wrap.tmpl"))

// must panics on an error that no input can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// begin and end add what procedures that start or end something need.
func (x *body) begin() {
	if x.session() != nil {
		x.in("bk_before_session();")
	}
}

func (x *body) end() {
	for i := range x.p.Params {
		q := &x.p.Params[i]
		gone := x.p.Frees || q.Kind == signature.Msg
		if q.Dir == signature.InOut && gone && isHandle(q) && q.Kind != signature.Req {
			x.in("bk_taken taken;")
			x.in("bk_take(&taken, %s, BK_KEY(%s));", handles[q.Kind].take, x.value(q))
			x.then("bk_taken_end(&taken, rc != MPI_SUCCESS);")
		}
	}
	switch provided := x.named("provided"); {
	case x.p.Begins && provided != nil:
		x.then("bk_started_threads(b, rc != MPI_SUCCESS, (int)%s);", x.now(provided))
	case x.p.Begins:
		x.then("bk_started(b, rc != MPI_SUCCESS);")
	case x.session() != nil:
		x.then("bk_session_started(%s, rc != MPI_SUCCESS);", x.now(x.session()))
	case x.p.Ends:
		x.left = append(x.left, "bk_finalized(rc != MPI_SUCCESS);")
	case x.endsSession():
		x.left = append(x.left, "bk_session_ended(rc != MPI_SUCCESS);")
	}
}

// endsSession reports whether the procedure ends a session.
func (x *body) endsSession() bool {
	return x.param(func(q *signature.Param) bool {
		return x.p.Frees && q.Kind == signature.Sess && q.Dir == signature.InOut
	}) != nil
}

// session is the session that the procedure begins, nil if it begins none.
func (x *body) session() *signature.Param {
	return x.param(func(q *signature.Param) bool { return q.Kind == signature.Sess && q.Dir == signature.Out })
}

// callView is the data of the template "call".
type callView struct {
	Fn, Proc, Slot    string
	Decl, Types, Pass string
	Params            []string
	Large, N          int
	First             bool // recorded before the call, which does not return
	Ierr, CanFail     bool
	Before, Out, Fail []string
	Call              string
	Made              bool
	After, Left       []string
}

func (x *body) view() callView {
	v := callView{
		Proc: x.p.Name, N: len(x.p.Words), First: x.p.NoReturn, Made: x.made,
		Before: append(x.locals, x.before...), Out: x.out, After: x.after, Left: x.left,
		CanFail: !x.fortran || !x.p.NoIerror,
	}
	if len(x.out) > 0 {
		v.Fail = append([]string{"bk_failed(w, rc);"}, x.fail...)
	}
	if x.large {
		v.Large = 1
	}
	return v
}

// cView is the wrapper of the C binding.
func (x *body) cView(s *slots.Slot) callView {
	v := x.view()
	v.Fn, v.Slot = "efg_"+s.Name, s.Name
	var decl, types, pass, call []string
	for i := range x.p.Params {
		q := &x.p.Params[i]
		if !x.has(q) {
			continue
		}
		t := ctype(q, x.large)
		decl, types = append(decl, declare(t, q.Name)), append(types, t)
		pass, call = append(pass, q.Name), append(call, x.passed(i))
	}
	if x.p.Varargs {
		// The library's functions ignore additional arguments; those that may be in registers
		// are passed on for interposed tools.
		for _, n := range []string{"a1", "a2", "a3", "a4", "a5"} {
			decl, types = append(decl, "void *"+n), append(types, "void *")
			pass, call = append(pass, n), append(call, n)
		}
	}
	if len(decl) == 0 {
		decl, types = []string{"void"}, []string{"void"}
	}
	v.Decl, v.Types, v.Pass = list(decl), list(types), list(pass)
	v.Call = x.callText(pass, call)
	return v
}

// annotationView is the wrapper of an annotation: the function by which programs make it.
func (x *body) annotationView(s *slots.Slot) callView {
	v := x.view()
	v.Fn, v.Slot = "efg_"+s.Name, s.Name
	var decl []string
	for i := range x.p.Params {
		q := &x.p.Params[i]
		decl = append(decl, declare(ctype(q, false), q.Name))
		if q.Kind == signature.Str {
			decl = append(decl, "size_t "+q.Name+"_len")
		}
	}
	v.Decl = list(decl)
	return v
}

// list is a C list of parameters, types or arguments.
func list(l []string) string { return strings.Join(l, ", ") }

func declare(ctype, name string) string {
	if strings.HasSuffix(ctype, "*") {
		return ctype + name
	}
	return ctype + " " + name
}

// passed is what the call passes on for parameter i.
func (x *body) passed(i int) string {
	if s := x.pass[i]; s != "" {
		return s
	}
	return x.p.Params[i].Name
}

// isText reports whether a Fortran argument has a hidden length.
func isText(q *signature.Param) bool {
	return q.Kind == signature.Str || q.Kind == signature.StrOut || q.Name == "array_of_argv"
}

// fortranArgs are the declarations and names of the arguments of the Fortran
// binding: everything by address, then ierror, then the lengths of strings.
func (x *body) fortranArgs() (decl, types, pass, call []string) {
	add := func(t, name, value string) {
		decl, types = append(decl, declare(t, name)), append(types, t)
		pass, call = append(pass, name), append(call, value)
	}
	for i := range x.p.Params {
		if q := &x.p.Params[i]; x.has(q) {
			add("void *", q.Name, x.passed(i))
		}
	}
	// Not every library agrees which procedures have none. What a program passes in the place of ierror
	// is handed on.
	add("MPI_Fint *", "ierr", "ierr")
	for i := range x.p.Params {
		if q := &x.p.Params[i]; x.has(q) && isText(q) {
			add("size_t", q.Name+"_len", q.Name+"_len")
		}
	}
	return decl, types, pass, call
}

func (x *body) fortranView(fn string) callView {
	v := x.view()
	decl, types, pass, call := x.fortranArgs()
	v.Fn, v.Params, v.Types, v.Pass = fn, decl, list(types), list(pass)
	v.Call = x.callText(pass, call)
	v.Ierr = !x.p.NoIerror
	return v
}

type entryView struct {
	Fn, Decl, To, Slot, Lang, Args string
	Large, TS                      int
}

// entry is a Fortran entry point: it notes how it was called, and calls the wrapper.
func (x *body) entry(s *slots.Slot, to string) []byte {
	decl, _, pass, _ := x.fortranArgs()
	v := entryView{Fn: "efg_" + s.Name, Decl: list(decl), To: to, Slot: s.Name, Lang: "BK_MPIF"}
	if len(decl) == 0 {
		v.Decl = "void"
	}
	for _, p := range pass {
		v.Args += ", " + p
	}
	if s.Binding == slots.F08 || s.Binding == slots.F08TS {
		v.Lang = "BK_F08"
	}
	if s.Binding == slots.F08TS {
		v.TS = 1
	}
	if s.Large {
		v.Large = 1
	}
	var b bytes.Buffer
	must(templates.ExecuteTemplate(&b, "entry", v))
	return b.Bytes()
}

func render(name string, v any) []byte {
	var b bytes.Buffer
	must(templates.ExecuteTemplate(&b, name, v))
	return b.Bytes()
}

// fortranBodies returns the bodies that the Fortran slots of a procedure need, with the name of
// each: one for all, or one for each size if the variants have different parameters.
func fortranBodies(p *signature.Proc) (small, large *body, err error) {
	if small, err = newBody(p, true, false); err != nil {
		return nil, nil, err
	}
	for i := range p.Params {
		if p.HasLarge && !p.Params[i].InSmall() {
			large, err = newBody(p, true, true)
			return small, large, err
		}
	}
	return small, small, nil
}

// fileOf is the part of the generated code that a procedure belongs to.
func fileOf(p *signature.Proc) string {
	has := func(k signature.Kind) bool {
		for i := range p.Params {
			if p.Params[i].Kind == k {
				return true
			}
		}
		return false
	}
	switch {
	case p.Annotates():
		return "annotation"
	case p.Class == signature.Query:
		return "query"
	case has(signature.File):
		return "file"
	case has(signature.Win):
		return "win"
	case p.Ctor != "" && has(signature.Comm):
		return "comm"
	case p.Issues == "coll" && p.Persistent:
		return "pcoll"
	case p.Issues == "coll":
		return "icoll"
	case p.Class == signature.Event && !p.Begins && !p.Ends:
		if has(signature.Peer) || has(signature.Req) || has(signature.Msg) {
			return "p2p"
		}
		return "coll"
	case p.Class == signature.Definition:
		return "object"
	}
	return "env"
}

// hot are the parts with procedures that programs call in inner loops.
var hot = map[string]bool{"p2p": true, "coll": true, "win": true, "annotation": true}

// source is a generated C file under construction.
type source struct {
	text bytes.Buffer
	rows []row
}

type row struct {
	Slot, Query int
	Fn          string
}

func (s *source) add(slot *slots.Slot, text []byte) {
	s.text.WriteByte('\n')
	s.text.Write(text)
	r := row{Slot: slot.ID, Fn: "efg_" + slot.Name}
	if slot.Proc.Class == signature.Query {
		r.Query = 1
	}
	s.rows = append(s.rows, r)
}

// wrapperFiles adds wrappers_*.c to files.
func wrapperFiles(files map[string][]byte) error {
	sources := map[string]*source{}
	var order []string
	all := slots.All()
	for len(all) > 0 {
		p := all[0].Proc
		n := 1
		for n < len(all) && all[n].Proc == p {
			n++
		}
		for _, lang := range []string{"c", "f"} {
			name := lang + "_" + fileOf(p)
			if sources[name] == nil {
				sources[name] = &source{}
				order = append(order, name)
			}
			if err := addProc(sources[name], p, all[:n], lang == "f"); err != nil {
				return err
			}
		}
		all = all[n:]
	}
	for _, name := range order {
		s := sources[name]
		if len(s.rows) == 0 {
			continue
		}
		var b bytes.Buffer
		b.WriteString(notice)
		if !hot[name[2:]] {
			b.WriteString("#pragma GCC optimize(\"Os\")   /* called rarely: small and soon compiled */\n")
		}
		b.WriteString("#include \"../back_run.h\"\n")
		b.Write(s.text.Bytes())
		b.Write(render("table", s.rows))
		files["wrappers_"+name+".c"] = b.Bytes()
	}
	return nil
}

// addProc adds the wrappers of a procedure's slots of one language.
func addProc(s *source, p *signature.Proc, all []slots.Slot, fortran bool) error {
	var small, large *body
	for i := range all {
		slot := &all[i]
		if (slot.Binding != slots.C) != fortran {
			continue
		}
		if !fortran {
			x, err := newBody(p, false, slot.Large)
			if err != nil {
				return err
			}
			if p.Annotates() {
				s.add(slot, render("annotation", x.annotationView(slot)))
			} else {
				s.add(slot, render("c", x.cView(slot)))
			}
			continue
		}
		if small == nil {
			var err error
			if small, large, err = fortranBodies(p); err != nil {
				return err
			}
			s.text.WriteByte('\n')
			s.text.Write(render("fortran", small.fortranView("f_"+p.Name)))
			if large != small {
				s.text.WriteByte('\n')
				s.text.Write(render("fortran", large.fortranView("f_"+p.Name+"_large")))
			}
		}
		x, to := small, "f_"+p.Name
		if slot.Large && large != small {
			x, to = large, to+"_large"
		}
		s.add(slot, x.entry(slot, to))
	}
	return nil
}
