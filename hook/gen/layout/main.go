// Command layout writes the C side of the segment's layout from the Go structs
// of package hook/segment, so that both agree by construction.
package main

import (
	"fmt"
	"os"

	"github.com/efg-tools/efg/hook/segment"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: layout FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], segment.CHeader(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "layout:", err)
		os.Exit(1)
	}
}
