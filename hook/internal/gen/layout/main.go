// Command layout writes the C declarations that the recorder shares with Go: the segment's
// layout, from the structs of package internal/segment, the table of word kinds, from package
// signature, and the layout of a replay's file, from package internal/replay. Both sides agree by construction.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/efg-tools/efg/internal/replay"
	"github.com/efg-tools/efg/internal/segment"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: layout DIRECTORY")
		os.Exit(2)
	}
	files := segment.CFiles()
	files["replay_layout.h"] = replay.CHeader()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "layout:", err)
			os.Exit(1)
		}
	}
}
