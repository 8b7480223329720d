package runfile_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
)

// sample makes a run file of a program that was recorded, from its text, and returns
// its path. Programs that use the package have their own run files.
func sample(name string) (path string, remove func()) {
	in, err := os.Open(filepath.Join("..", "text", "testdata", name+".txt"))
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	f, err := text.Parse(name, in)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "efg")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, name+".efg")
	if err := runfile.WriteRun(path, f.Procs, f.Meta); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// What a run file contains about its processes, without reading their graphs.
func ExampleOpenRun() {
	path, remove := sample("farm")
	defer remove()

	run, err := runfile.OpenRun(path)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for _, p := range run.Procs {
		for _, s := range p.Streams {
			fmt.Printf("rank %d, thread %d: %d calls, %d nodes\n", p.Rank, s.Thread, s.Events, s.Nodes)
		}
	}
	// Output:
	// rank 0, thread 0: 125 calls, 17 nodes
	// rank 1, thread 0: 43 calls, 6 nodes
	// rank 2, thread 0: 43 calls, 6 nodes
	// rank 3, thread 0: 43 calls, 6 nodes
}
