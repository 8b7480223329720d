// Command slots writes what the front and the back ends must agree on: the
// numbers of the entry points of MPI and their symbols.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/efg-tools/efg/hook/internal/slots"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: slots DIRECTORY")
		os.Exit(2)
	}
	files := map[string][]byte{"slots.h": slots.Header(), "symbols.h": slots.Symbols()}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), data, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "slots:", err)
			os.Exit(1)
		}
	}
}
