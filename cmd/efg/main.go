// Command efg records the ordered MPI calls of unmodified programs as event
// flow graphs, and gives them back.
package main

import "os"

func main() {
	deferCollection()
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
