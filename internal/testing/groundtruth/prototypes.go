package groundtruth

import (
	"fmt"
	"regexp"
	"strings"
)

// prototype is an MPI procedure as a header declares it.
type prototype struct {
	name   string // with MPI_
	params []param
}

// param is one parameter of a prototype.
type param struct {
	text  string // the declaration, usable as such
	base  string // type without const, * and []
	name  string
	stars int  // * and [] together
	array bool // declared with []
	konst bool
	fn    bool // pointer to a function
}

var (
	prototypeRE = regexp.MustCompile(`\bint\s+(MPI_\w+)\s*\(([^;{]*)\)\s*;`)
	spaceRE     = regexp.MustCompile(`\s+`)
	declRE      = regexp.MustCompile(`^(const )?\s*(\w+)\s*((?:\*|const|\s)*)(\w*)\s*((?:\[\d*\])*)$`)
	enumRE      = regexp.MustCompile(`\benum\s*\w*\s*\{([^}]*)\}`)
	constantRE  = regexp.MustCompile(`\bMPI_[A-Z][A-Z0-9_]*\b`)
	defineRE    = regexp.MustCompile(`(?m)^#define (MPI_[A-Z][A-Z0-9_]*) (.+)$`)
	valueRE     = regexp.MustCompile(`^\(*(\(MPI_[A-Z][a-z]+\)|\(enum \w+\))?\(*\s*-?\s*(0x[0-9a-fA-F]+|\d+)\)*$|^OMPI_PREDEFINED_GLOBAL\(\s*(\w+)\s*,.*$|^\(\(MPI_Datatype\)\w+\)$`)
)

// stripAttributes removes __attribute__((...)) from preprocessed C.
func stripAttributes(s string) string {
	const word = "__attribute__"
	var b strings.Builder
	for {
		i := strings.Index(s, word)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+len(word):]
		depth := 0
		for j, c := range s {
			if c == '(' {
				depth++
			} else if c == ')' {
				if depth--; depth == 0 {
					s = s[j+1:]
					break
				}
			}
		}
	}
}

// parsePrototypes finds the MPI procedures in a preprocessed mpi.h.
func parsePrototypes(text string) ([]prototype, error) {
	var all []prototype
	for _, m := range prototypeRE.FindAllStringSubmatch(stripAttributes(text), -1) {
		if strings.HasPrefix(m[1], "MPI_T_") {
			continue
		}
		p := prototype{name: m[1]}
		for _, decl := range splitParams(spaceRE.ReplaceAllString(m[2], " ")) {
			q, err := parseParam(decl)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			p.params = append(p.params, q)
		}
		all = append(all, p)
	}
	if len(all) < 200 {
		return nil, fmt.Errorf("only %d MPI procedures in mpi.h", len(all))
	}
	return all, nil
}

func splitParams(list string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range list {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}
	last := strings.TrimSpace(list[from:])
	if last == "void" || last == "" {
		return parts
	}
	return append(parts, last)
}

func parseParam(decl string) (param, error) {
	if decl == "..." {
		return param{text: decl, base: decl}, nil
	}
	m := declRE.FindStringSubmatch(decl)
	if m == nil {
		return param{}, fmt.Errorf("parameter %q not understood", decl)
	}
	p := param{
		text:  decl,
		base:  m[2],
		name:  m[4],
		konst: m[1] != "",
		array: m[5] != "",
		stars: strings.Count(m[3], "*") + strings.Count(m[5], "["),
		fn:    strings.HasSuffix(m[2], "_function") || strings.HasSuffix(m[2], "_fn"),
	}
	return p, nil
}

// namedConstants lists the integer constants and predefined handles of mpi.h:
// macros (text of cc -dM) that are a number or a handle, and enumerators.
func namedConstants(macros, text string) []string {
	var names []string
	seen := map[string]bool{}
	add := func(n string) {
		if !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	for _, m := range defineRE.FindAllStringSubmatch(macros, -1) {
		if valueRE.MatchString(strings.TrimSpace(m[2])) {
			add(m[1])
		}
	}
	for _, m := range enumRE.FindAllStringSubmatch(text, -1) {
		for _, n := range constantRE.FindAllString(m[1], -1) {
			add(n)
		}
	}
	return names
}
