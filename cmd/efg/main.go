// Command efg records the MPI calls of unmodified programs, in order, as event flow graphs, and
// reconstructs them.
package main

import "os"

func main() {
	deferCollection()
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
