package efg_test

import (
	"fmt"
	"log"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/signature"
)

// sample makes a run file of a program that was recorded, from its text, and returns
// its path. Programs that use the package have their own run files.
func sample(name string) (path string, remove func()) {
	in, err := os.Open(filepath.Join("text", "testdata", name+".txt"))
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

// How often each procedure was called, from the graph alone: the number of visits of a node is
// the number of steps that lead to it, however many calls that is.
func ExampleStream_Visits() {
	path, remove := sample("farm")
	defer remove()

	run, err := runfile.OpenRun(path)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	p, err := run.Process(0)
	if err != nil {
		log.Fatal(err)
	}
	calls := map[string]uint64{}
	for _, s := range p.Streams {
		for i, visits := range s.Visits() {
			proc := signature.ProcByID(signature.Header(s.Nodes[i].Words[0]).Proc())
			calls[proc.Name] += visits
		}
	}
	for _, name := range []string{"MPI_Init", "MPI_Send", "MPI_Recv"} {
		fmt.Println(name, calls[name])
	}
	// Output:
	// MPI_Init 1
	// MPI_Send 3
	// MPI_Recv 60
}

// How many bytes a rank sends to each other rank by MPI_Send and similar procedures, without
// expanding the graph. What the words of a procedure are for is in its roles; a word that
// varies at a node has an attribute stream in its place, and seq.JoinRuns joins the streams of
// a node, repeats taken together.
func ExampleStream_Visits_bytes() {
	path, remove := sample("farm")
	defer remove()

	run, err := runfile.OpenRun(path)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	p, err := run.Process(0)
	if err != nil {
		log.Fatal(err)
	}
	bytes := map[uint64]uint64{}
	for _, s := range p.Streams {
		visits := s.Visits()
		for i := range s.Nodes {
			n := &s.Nodes[i]
			proc := signature.ProcByID(signature.Header(n.Words[0]).Proc())
			if proc.Roles.Dest == 0 {
				continue
			}
			send := proc.Roles.Send
			each(p, n, visits[i], func(words []uint64, times uint64) {
				bytes[words[proc.Roles.Dest]] += times * words[send.Count] * sizeOf(p, words[send.Type])
			})
		}
	}
	for rank := range uint64(run.Procs[0].Size) {
		fmt.Printf("to rank %d: %d bytes\n", rank, bytes[rank])
	}
	// Output:
	// to rank 0: 0 bytes
	// to rank 1: 84 bytes
	// to rank 2: 84 bytes
	// to rank 3: 84 bytes
}

// each calls f with the words of the events of a node, equal ones together.
func each(p *efg.Process, n *efg.Node, visits uint64, f func(words []uint64, times uint64)) {
	if n.Mask == 0 {
		f(n.Words, visits)
		return
	}
	var streams []*seq.Seq
	for _, a := range n.Attrs {
		streams = append(streams, a.Values)
	}
	words := slices.Clone(n.Words)
	z := seq.JoinRuns(streams...)
	for values, times, ok := z.Next(); ok; values, times, ok = z.Next() {
		for i, m := 0, n.Mask; m != 0; i, m = i+1, m&(m-1) {
			k := bits.TrailingZeros64(m)
			words[k] = p.AttrWord(n, k, values[i])
		}
		f(words, times)
	}
	if err := z.Err(); err != nil {
		log.Fatal(err)
	}
}

// sizeOf is the size of a datatype in bytes.
func sizeOf(p *efg.Process, word uint64) uint64 {
	if k, ok := signature.ConstNumber(word); ok {
		return uint64(signature.ConstantByID(k).Size)
	}
	for _, d := range p.Defs {
		if d.Kind == efg.DefType && d.Word == word {
			return d.Words[1]
		}
	}
	return 0
}
