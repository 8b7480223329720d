// Package mpilib looks at installed MPI libraries, for tests that compare our
// tables with what the libraries have.
package mpilib

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Compilers are the compiler wrappers of the MPIs that every test must cover.
var Compilers = []string{"mpicc.openmpi", "mpicc.mpich"}

// FortranCompilers are their Fortran compiler wrappers.
var FortranCompilers = []string{"mpifort.openmpi", "mpifort.mpich"}

// Libraries are the files of the MPI libraries that a compiler wrapper links.
func Libraries(compiler string) ([]string, error) {
	out, err := exec.Command(compiler, "-show").Output()
	if err != nil {
		return nil, fmt.Errorf("%s -show: %w", compiler, err)
	}
	var dirs, files []string
	for _, f := range strings.Fields(string(out)) {
		if dir, ok := strings.CutPrefix(f, "-L"); ok {
			dirs = append(dirs, dir, filepath.Join(dir, "..", ".."))
		}
		if name, ok := strings.CutPrefix(f, "-l"); ok && strings.HasPrefix(name, "mpi") {
			if file := find(dirs, "lib"+name+".so"); file != "" {
				files = append(files, file)
			}
		}
	}
	if files == nil {
		return nil, fmt.Errorf("%s -show names no MPI library that exists: %s", compiler, out)
	}
	return files, nil
}

func find(dirs []string, name string) string {
	for _, d := range dirs {
		file := filepath.Join(d, name)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// Functions are the functions that the files export, by name.
func Functions(files ...string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, file := range files {
		f, err := elf.Open(file)
		if err != nil {
			return nil, err
		}
		syms, err := f.DynamicSymbols()
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, s := range syms {
			if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
				set[s.Name] = true
			}
		}
	}
	return set, nil
}

// Exclusions reads a list of names, one per line; # starts a comment. A name that ends in *
// excludes by prefix.
func Exclusions(file string) (func(name string) bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	var prefixes []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if p, ok := strings.CutSuffix(line, "*"); ok {
			prefixes = append(prefixes, p)
		} else if line != "" {
			names[line] = true
		}
	}
	return func(name string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return names[name]
	}, nil
}
