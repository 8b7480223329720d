package signature

import (
	"fmt"
	"strconv"
	"strings"
)

// Expr is the length of an array: a number, a parameter, or a function of other
// expressions.
type Expr struct {
	// Op is "num", "param", "*", "min", or one of the functions listed in
	// procedures.tbl.
	Op    string
	Value int    // of num
	Name  string // of param; argument of sum and last
	Args  []*Expr
}

// Functions without arguments, which depend on the communicator or datatype of the call.
var nullary = map[string]bool{
	"lsize": true, "rsize": true, "indeg": true, "outdeg": true, "cartdims": true,
	"graphnodes": true, "graphedges": true, "num_integers": true, "num_addresses": true,
	"num_large_counts": true, "num_datatypes": true, "null": true,
}

func parseExpr(s string) (*Expr, error) {
	if l, r, ok := strings.Cut(s, "*"); ok {
		return parseArgs("*", l, r)
	}
	if name, rest, ok := strings.Cut(s, "("); ok {
		body, ok := strings.CutSuffix(rest, ")")
		if !ok {
			return nil, fmt.Errorf("length %q: missing )", s)
		}
		return parseCall(name, body)
	}
	if nullary[s] {
		return &Expr{Op: s}, nil
	}
	if v, err := strconv.Atoi(s); err == nil {
		return &Expr{Op: "num", Value: v}, nil
	}
	if !validName(s) {
		return nil, fmt.Errorf("length %q: not an expression", s)
	}
	return &Expr{Op: "param", Name: s}, nil
}

func parseCall(name, body string) (*Expr, error) {
	switch name {
	case "min":
		// The first argument of min is never a call.
		l, r, _ := strings.Cut(body, ",")
		return parseArgs(name, l, r)
	case "sum", "last":
		return &Expr{Op: name, Name: body}, nil
	case "graphdegree":
		return parseArgs(name, body)
	}
	return nil, fmt.Errorf("length: unknown function %q", name)
}

func parseArgs(op string, args ...string) (*Expr, error) {
	e := &Expr{Op: op}
	for _, a := range args {
		x, err := parseExpr(a)
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, x)
	}
	return e, nil
}

// String returns the expression as written in the table.
func (e *Expr) String() string {
	switch e.Op {
	case "num":
		return strconv.Itoa(e.Value)
	case "param":
		return e.Name
	case "sum", "last":
		return e.Op + "(" + e.Name + ")"
	case "*":
		return e.Args[0].String() + "*" + e.Args[1].String()
	}
	if len(e.Args) == 0 {
		return e.Op
	}
	s := make([]string, len(e.Args))
	for i, a := range e.Args {
		s[i] = a.String()
	}
	return e.Op + "(" + strings.Join(s, ",") + ")"
}

// Params returns the names of the parameters that e refers to.
func (e *Expr) Params() []string {
	var l []string
	if e.Name != "" {
		l = append(l, e.Name)
	}
	for _, a := range e.Args {
		l = append(l, a.Params()...)
	}
	return l
}

func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
