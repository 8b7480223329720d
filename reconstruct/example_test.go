package reconstruct_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/reconstruct"
)

// sample makes a run file of a program that was recorded, from its text, and returns
// its path. Programs that use the package have their own run files.
func sample(name string) (path string, remove func()) {
	in, err := os.Open(filepath.Join("..", "efg", "text", "testdata", name+".txt"))
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

// Every call of every rank, in order.
func ExampleProcess_Events() {
	path, remove := sample("persistent")
	defer remove()

	file, err := runfile.OpenRun(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	run, err := reconstruct.NewRun(file)
	if err != nil {
		log.Fatal(err)
	}
	for i := range file.Procs {
		p, err := run.Process(i)
		if err != nil {
			log.Fatal(err)
		}
		for stream := range p.Streams() {
			for e, err := range p.Events(stream, reconstruct.Options{To: 3}) {
				if err != nil {
					log.Fatal(err)
				}
				fmt.Println(e.Rank(), e.Seq, e.Op(), e.Site())
			}
		}
	}
	// Output:
	// 0 0 MPI_Init persistent.c:12
	// 0 1 MPI_Buffer_attach persistent.c:17
	// 0 2 MPI_Recv_init persistent.c:18
	// 1 0 MPI_Init persistent.c:12
	// 1 1 MPI_Buffer_attach persistent.c:17
	// 1 2 MPI_Recv_init persistent.c:18
}

// A custom analysis on the order of calls: how many other calls there are between the
// start of a persistent request and the call that completes it.
func Example() {
	path, remove := sample("persistent")
	defer remove()

	file, err := runfile.OpenRun(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	run, err := reconstruct.NewRun(file)
	if err != nil {
		log.Fatal(err)
	}
	p, err := run.Process(0)
	if err != nil {
		log.Fatal(err)
	}
	started := map[uint64]uint64{} // by request: where it was last started
	between := map[uint64]int{}    // how often there were this many calls
	for e, err := range p.Events(0, reconstruct.Options{}) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Proc().Starts {
			started[e.Request(0)] = e.Seq
		}
		for _, position := range e.Completed() {
			if at, ok := started[e.Request(position)]; ok {
				between[e.Seq-at-1]++
			}
		}
	}
	fmt.Println(between)
	// Output:
	// map[0:2 1:2 2:3 3:1 4:3 5:1 7:1 9:2]
}
