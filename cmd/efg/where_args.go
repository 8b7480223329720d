package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/signature"
)

// callWidth is the width to which calls are shortened if possible.
const callWidth = 72

// telling are the kinds of arguments that determine what a call waits for: they are never left
// out.
var telling = []signature.Kind{
	signature.Comm, signature.Win, signature.File, signature.Peer, signature.Root, signature.Rank, signature.Tag, signature.Op, signature.Req,
}

// callText writes a call. If it is too long, arguments that do not determine what it waits for
// are left out, one after another.
func callText(op string, args []string) string {
	proc := signature.ProcByName(op)
	text := op + "(" + strings.Join(args, ", ") + ")"
	for len(text) > callWidth {
		i := slices.IndexFunc(args, func(arg string) bool { return !isShown(proc, arg) })
		if i < 0 {
			break
		}
		args = slices.Delete(slices.Clone(args), i, i+1)
		text = op + "(" + strings.Join(append(slices.Clone(args), "..."), ", ") + ")"
	}
	return text
}

// isShown reports whether an argument of a procedure determines what the call waits for.
func isShown(p *signature.Proc, arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	if p == nil || p.Param(name) < 0 {
		return false
	}
	return slices.Contains(telling, p.Params[p.Param(name)].Kind)
}

// groupArgs are the arguments of a group's calls, with the values of those that differ.
func groupArgs(g *live.Group) []string {
	args := slices.Clone(g.Args)
	for i, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		for _, v := range g.Varying {
			if value == "*" && v.Name == name {
				args[i] = name + "=" + valuesText(&v)
			}
		}
	}
	return args
}

// fewValues is the maximum number of values of an argument that are written out.
const fewValues = 4

// valuesText represents the values of an argument that varies: {0-3,7}.
func valuesText(v *live.Varying) string {
	var numbers []int
	for _, x := range v.Values {
		if n, err := strconv.Atoi(x); err == nil {
			numbers = append(numbers, n)
		}
	}
	switch {
	case v.Number > len(v.Values):
	case len(numbers) == len(v.Values):
		slices.Sort(numbers)
		if text := rankset.Text(numbers); len(text) <= 24 {
			return "{" + text + "}"
		}
	case len(v.Values) <= fewValues:
		return "{" + strings.Join(v.Values, ", ") + "}"
	}
	return fmt.Sprintf("{%d values}", v.Number)
}
