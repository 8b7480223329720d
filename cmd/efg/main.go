// Command efg records the ordered MPI calls of unmodified programs as event
// flow graphs, and gives them back.
package main

import (
	"os"
	"runtime"
)

// firstCollection is how much memory the garbage collector takes to be in use from
// the start: most commands are over before there is twice as much, and to collect
// again and again on the way there takes a third of their time. No page of it is
// touched, so that it is not in memory.
const firstCollection = 32 << 20

func main() {
	unused := make([]byte, firstCollection)
	status := execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(unused)
	os.Exit(status)
}
