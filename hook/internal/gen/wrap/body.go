package main

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// body is the content of a wrapper under construction: the statements before and after the
// call, in terms of the C locals that the template declares (b: the thread, w: the words, rc:
// the return code).
type body struct {
	p       *signature.Proc
	fortran bool
	large   bool // the large-count variant; Fortran bodies usually serve both

	locals []string        // declarations before everything else
	known  map[string]bool // locals that are declared
	before []string        // statements that fill the input words
	out    []string        // statements that fill the output words of a successful call
	fail   []string        // likewise if the call failed
	after  []string        // after the event is recorded
	left   []string        // after the call counts as left
	pass   map[int]string  // what is passed on in place of a parameter
	made   bool            // after uses the id of the new object
	forced *forcing        // nil: the outcome is not open
}

func newBody(p *signature.Proc, fortran, large bool) (*body, error) {
	x := &body{p: p, fortran: fortran, large: large, known: map[string]bool{}, pass: map[int]string{}}
	x.begin()
	for i := range p.Words {
		if p.Words[i].Param < 0 {
			continue
		}
		if err := x.word(i); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Name, p.Words[i].Name, err)
		}
	}
	x.end()
	x.force()
	return x, nil
}

// has reports whether the variant has the parameter.
func (x *body) has(q *signature.Param) bool {
	if x.fortran && q.COnly {
		return false
	}
	return x.large || q.InSmall()
}

// param returns the first parameter that f holds for, or nil.
func (x *body) param(f func(*signature.Param) bool) *signature.Param {
	for i := range x.p.Params {
		if f(&x.p.Params[i]) {
			return &x.p.Params[i]
		}
	}
	return nil
}

func (x *body) named(name string) *signature.Param {
	if i := x.p.Param(name); i >= 0 {
		return &x.p.Params[i]
	}
	return nil
}

// local declares a local once and returns its name.
func (x *body) local(ctype, name, value string) string {
	if !x.known[name] {
		x.known[name] = true
		x.locals = append(x.locals, fmt.Sprintf("const %s %s = %s;", ctype, name, value))
	}
	return name
}

// value is the C expression of an input: an integer, a handle, or the address
// of a buffer, string or array.
func (x *body) value(q *signature.Param) string {
	if q.Kind == signature.Buf && x.fortran {
		return x.local("void *", q.Name+"_v", "bk_fbuf("+q.Name+", how)")
	}
	if q.Len != nil || !(q.Kind.Integer() || isHandle(q)) {
		return q.Name
	}
	if !x.fortran && q.Dir == signature.In {
		return q.Name
	}
	v := x.now(q)
	if len(q.Conds) > 0 && isHandle(q) {
		return v // may hold anything: evaluated only where it is significant
	}
	ctype := "int64_t"
	if isHandle(q) {
		ctype = handles[q.Kind].ctype
	}
	return x.local(ctype, q.Name+"_v", v)
}

// now is the C expression of the current value of a scalar argument.
func (x *body) now(q *signature.Param) string {
	if !x.fortran {
		if q.Dir == signature.In {
			return q.Name
		}
		return "*" + q.Name
	}
	if isHandle(q) {
		h := handles[q.Kind]
		if h.f2c == "" {
			return "BK_F(" + q.Name + ")"
		}
		return h.f2c + "(BK_F(" + q.Name + "))"
	}
	return "bk_fint(" + q.Name + ", " + x.width(q) + ")"
}

func (x *body) in(format string, args ...any) {
	x.before = append(x.before, fmt.Sprintf(format, args...))
}

func (x *body) then(format string, args ...any) {
	x.after = append(x.after, fmt.Sprintf(format, args...))
}

// result sets output word i to an expression; found is the condition under which it is valid.
func (x *body) result(i int, found, expr string) {
	if found != "" {
		expr = fmt.Sprintf("%s ? (uint64_t)(%s) : EFG_ABSENT", found, expr)
	}
	x.out = append(x.out, fmt.Sprintf("w[%d] = %s;", i, expr))
	x.fail = append(x.fail, fmt.Sprintf("w[%d] = EFG_ABSENT;", i))
}

// statusResult sets the three words of a status with a call in C.
func (x *body) statusResult(i int, found, call string) {
	s := call + ";"
	if found != "" {
		s = fmt.Sprintf("if (%s) %s else bk_status_absent(w + %d);", found, s, i)
	}
	x.out = append(x.out, s)
	x.fail = append(x.fail, fmt.Sprintf("bk_status_absent(w + %d);", i))
}

// cond is the C condition under which an argument is significant; "" if it
// always is.
func (x *body) cond(q *signature.Param) string {
	var l []string
	for _, c := range q.Conds {
		switch c.Name {
		case "root":
			l = append(l, x.rootCond("at_root", "bk_at_root"))
		case "leaf":
			l = append(l, x.rootCond("is_leaf", "bk_is_leaf"))
		case "part":
			l = append(l, x.rootCond("takes_part", "bk_takes_part"))
		case "leader":
			l = append(l, x.leaderCond())
		case "place":
			l = append(l, fmt.Sprintf("!bk_in_place(w[%d])", x.wordOf(c.Arg)))
		}
	}
	return strings.Join(l, " && ")
}

func (x *body) rootCond(name, function string) string {
	root := x.param(func(q *signature.Param) bool { return q.Kind == signature.Root })
	return x.local("bool", name, fmt.Sprintf("%s(b, %s, (int)%s)", function, x.comm(), x.value(root)))
}

func (x *body) leaderCond() string {
	leader := x.value(x.named("local_leader"))
	if g := x.named("local_group"); g != nil {
		return x.local("bool", "leads", fmt.Sprintf("bk_leads_group(%s, (int)%s)", x.value(g), leader))
	}
	return x.local("bool", "leads", fmt.Sprintf("bk_leads(b, %s, (int)%s)", x.comm(), leader))
}

// comm is the communicator of the call.
func (x *body) comm() string {
	if q := x.firstComm(); q != nil {
		return x.value(q)
	}
	return "MPI_COMM_NULL"
}

func (x *body) firstComm() *signature.Param {
	return x.param(func(q *signature.Param) bool { return q.Kind == signature.Comm && q.Dir&signature.In != 0 })
}

// wordOf is the index of the first word of a parameter.
func (x *body) wordOf(name string) int {
	for i, w := range x.p.Words {
		if w.Param >= 0 && x.p.Params[w.Param].Name == name {
			return i
		}
	}
	return -1
}

// significant restricts an input expression to its conditions.
func (x *body) significant(q *signature.Param, expr string) string {
	if c := x.cond(q); c != "" {
		return fmt.Sprintf("%s ? %s : EFG_ABSENT", c, expr)
	}
	return expr
}

// length is the C expression of the number of elements of an array.
func (x *body) length(e *signature.Expr) string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = x.length(a)
	}
	switch e.Op {
	case "num":
		return fmt.Sprint(e.Value)
	case "param":
		q := x.named(e.Name)
		if q.Dir == signature.In {
			return x.value(q)
		}
		return x.now(q)
	case "*":
		return args[0] + " * " + args[1]
	case "min":
		return "bk_min(" + args[0] + ", " + args[1] + ")"
	case "sum", "last":
		q := x.named(e.Name)
		return fmt.Sprintf("bk_%s(%s, %s)", map[string]string{"sum": "sum", "last": "last_of"}[e.Op], q.Name, x.length(q.Len))
	case "null":
		return "-1"
	case "graphdegree":
		return "bk_graph_degree(b, " + x.comm() + ", (int)" + args[0] + ")"
	case "num_integers", "num_addresses", "num_large_counts", "num_datatypes":
		return fmt.Sprintf("bk_%s(b, %s)", e.Op, x.value(x.named("datatype")))
	}
	return x.lengthOfComm(e.Op)
}

func (x *body) lengthOfComm(op string) string {
	switch op {
	case "lsize":
		return "bk_local_size(b, " + x.comm() + ")"
	case "rsize":
		return "bk_peers(b, " + x.comm() + ")"
	case "indeg":
		return "bk_indegree(b, " + x.comm() + ")"
	case "outdeg":
		return "bk_outdegree(b, " + x.comm() + ")"
	case "cartdims":
		return "bk_cart_dims(b, " + x.comm() + ")"
	case "graphnodes":
		return "bk_graph_nodes(b, " + x.comm() + ")"
	}
	return "bk_graph_edges(b, " + x.comm() + ")"
}
