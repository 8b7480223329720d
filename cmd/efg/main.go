// Command efg records the ordered MPI calls of unmodified programs as event
// flow graphs, and gives them back.
package main

import (
	"os"
	"runtime"
)

// headroom is memory that the garbage collector takes to be in use: most commands are
// over before there is twice as much, and to collect again and again on the way there
// takes a third of their time. No page of it is touched, so that it is not in memory.
// A command that lives long gives it back.
var headroom []byte

func main() {
	headroom = make([]byte, 32<<20)
	status := execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(headroom)
	os.Exit(status)
}
