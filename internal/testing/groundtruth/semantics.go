package groundtruth

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// semantics are the hand-written facts of testdata/logger/semantics.tbl, which
// explains the directives.
type semantics struct {
	rename  map[string]string            // "name" or "Proc.name"
	arrays  map[string]map[string]string // procedure, parameter: length
	inout   map[string]map[string]bool
	root    map[string]map[string]bool
	inplace map[string]map[string]bool
	logical map[string]bool
	buffer  map[string]bool
	str     map[string]bool
	ignore  map[string]bool
	query   map[string]bool
	skip    map[string]bool
	size    map[string]string
}

func loadSemantics(path string) (*semantics, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &semantics{
		rename: map[string]string{}, arrays: map[string]map[string]string{},
		inout: map[string]map[string]bool{}, root: map[string]map[string]bool{},
		inplace: map[string]map[string]bool{}, logical: map[string]bool{},
		buffer: map[string]bool{}, str: map[string]bool{}, ignore: map[string]bool{},
		query: map[string]bool{}, skip: map[string]bool{}, size: map[string]string{},
	}
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		fields := strings.Fields(sc.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if err := s.directive(fields); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
	return s, sc.Err()
}

func (s *semantics) directive(f []string) error {
	if len(f) < 2 {
		return fmt.Errorf("%s: nothing follows", f[0])
	}
	word, procs, _ := strings.Cut(f[0], "@")
	switch word {
	case "rename":
		return s.addRename(procs, f[1:])
	case "array":
		return s.addArrays(f[1], f[2:])
	case "inout":
		addFacts(s.inout, f[1], f[2:])
	case "root":
		addFacts(s.root, f[1], f[2:])
	case "inplace":
		addFacts(s.inplace, f[1], f[2:])
	case "size":
		for _, p := range strings.Split(f[1], ",") {
			s.size[p] = f[2]
		}
	default:
		set := map[string]map[string]bool{"logical": s.logical, "buffer": s.buffer,
			"string": s.str, "ignore": s.ignore, "query": s.query, "skip": s.skip}[word]
		if set == nil {
			return fmt.Errorf("unknown directive %q", word)
		}
		for _, list := range f[1:] {
			for _, n := range strings.Split(list, ",") {
				set[n] = true
			}
		}
	}
	return nil
}

func (s *semantics) addRename(procs string, f []string) error {
	if len(f) != 2 {
		return fmt.Errorf("rename wants two names")
	}
	if procs == "" {
		s.rename[f[0]] = f[1]
		return nil
	}
	for _, p := range strings.Split(procs, ",") {
		s.rename[p+"."+f[0]] = f[1]
	}
	return nil
}

func (s *semantics) addArrays(procs string, specs []string) error {
	for _, spec := range specs {
		name, length, ok := strings.Cut(strings.TrimSuffix(spec, "]"), "[")
		if !ok {
			return fmt.Errorf("array without length: %q", spec)
		}
		for _, p := range strings.Split(procs, ",") {
			if s.arrays[p] == nil {
				s.arrays[p] = map[string]string{}
			}
			s.arrays[p][name] = length
		}
	}
	return nil
}

func addFacts(m map[string]map[string]bool, procs string, names []string) {
	for _, p := range strings.Split(procs, ",") {
		if m[p] == nil {
			m[p] = map[string]bool{}
		}
		for _, n := range names {
			m[p][n] = true
		}
	}
}

// standardName is the parameter name of the MPI standard, in lower case.
func (s *semantics) standardName(proc, name string) string {
	if n, ok := s.rename[proc+"."+name]; ok {
		return n
	}
	if n, ok := s.rename[name]; ok {
		return n
	}
	return strings.ToLower(name)
}
