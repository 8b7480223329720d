// Command wrap writes the C code of the back ends that follows from the
// procedure table: the numbers of procedures and constants, the translation of
// constants, a test of which of them mpi.h has, and a wrapper for every entry point of MPI that is recorded, in C
// and Fortran.
//
// The wrappers only connect the parts: how words are made is in hook/shim/back*.c.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wrap DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "wrap:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the files of hook/shim/gen that this command makes.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{
		"constants.h": constantsHeader(),
		"constants.c": constantsSource(),
		"has.h":       hasSource(),
		"procs.h":     procsHeader(),
	}
	if err := wrapperFiles(files); err != nil {
		return nil, err
	}
	return files, nil
}
