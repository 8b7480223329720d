package text

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
)

// FuzzAssemble replaces lines of a text: the result is rejected, with its position, or yields a
// valid file whose text yields the same file.
func FuzzAssemble(f *testing.F) {
	bases := [][]string{strings.Split(smallText, "\n")}
	all := fixtures(f)
	for _, name := range []string{"fail.txt", "farm.txt", "threads.txt", "traced.txt"} {
		bases = append(bases, strings.Split(firstProcess(all[name]), "\n"))
	}
	for b, lines := range bases {
		for i := 0; i < len(lines); i += 7 {
			f.Add(uint8(b), uint16(i), uint8(1), lines[i])
		}
	}
	f.Fuzz(func(t *testing.T, base uint8, at uint16, drop uint8, insert string) {
		lines := bases[int(base)%len(bases)]
		from := int(at) % len(lines)
		changed := append([]string{}, lines[:from]...)
		changed = append(changed, insert)
		changed = append(changed, lines[min(len(lines), from+int(drop)):]...)
		checkText(t, strings.Join(changed, "\n"))
	})
}

// FuzzAssembleText changes a small text as a whole.
func FuzzAssembleText(f *testing.F) {
	f.Add(smallText)
	f.Fuzz(checkText)
}

// smallText has every kind of line.
const smallText = `efg-text 1
meta tool "t"
meta command "a" ""
meta status 3
meta queries true
site 0x5 "a.c:1" "f"
site "/bin/a\x00ab" 4711 "a.c:2" "f"
process 0 of 2 world 0x1 pid 3 start 0 began 5 mono -7
 host "h"
 mpi "m"
 command "a" ""
 def 0 module "/bin/a\x00ab"
 def 1 site d0 4711
 def 2 comm =0x2badcafe01000000 MPI_COMM_WORLD 1 4 3 0 4 1
 def 3 vec id:0.1.2 -1 const:99999
 thread 0 exit events 9 dropped 0 hash 0x1
  node 0 MPI_Init f08 site=d1 w2=0
   edge 1 weight 1
  node 1 MPI_Send large error:5 site=d1 comm=d2+7 buf=* count=1 datatype=MPI_INT dest=* tag=3
   edge 1 weight 4 count 2 fixed 1
   edge 2 weight 2 count 1 fixed 2
   runs 4
    : 0 1 <0:2x>
   counts 1
    : 2
   attr buf 6 delta
    : +1 -2 <0:1x>
   attr dest 6 tokens relative parts
    part 4 tokens relative
    : rank:+1 rank:-1 d2+1 own:0.3
    part 2 delta tokens
    : +16 -16
   times 2 dur 30 10 20 1:2 gap 5 2 3 -
  node 2 MPI_Waitall site=7 w2=0 count=2 array_of_requests=* array_of_statuses=EFG_AS_POSTED
   edge 1 weight 1
   attr array_of_requests 2
    : 4 <0:1x>
   elems 4 delta tokens
    : +24 <0:1x>
 thread 1 running events 0 dropped 9 hash 0x0
  entered since 77 MPI_Recv f08 site=d1 comm=d2+1 buf=EFG_ABSENT count=1 datatype=MPI_INT source=1 tag=id:1.0.3 status.source=EFG_ABSENT status.tag=EFG_ABSENT status.bytes=EFG_ABSENT
 thread 2 thread-ended events 4 dropped 0 hash 0x0
  trace error 500 bound 1000 begin 123
  node 0 MPI_Init site=0 w2=0
   edge 1 weight 1
   gap/dur 1042/300000
  node 1 MPI_Barrier site=1 comm=MPI_COMM_WORLD
   edge 1 weight 2
   gap/dur 2000000000/0 1042/1001
   gap/dur 240/18446744073709551615
`

// firstProcess cuts a text before its second process.
func firstProcess(text string) string {
	parts := strings.SplitN(text, "\nprocess ", 3)
	return parts[0] + "\nprocess " + parts[1]
}

func checkText(t *testing.T, text string) {
	file, err := Parse("text", strings.NewReader(text))
	if err != nil {
		var place *Error
		if !errors.As(err, &place) || place.Line < 1 || place.Column < 1 || strings.Contains(err.Error(), "\n") {
			t.Fatalf("an error without a place: %v", err)
		}
		return
	}
	if values(file) > 1<<16 {
		return // valid, but long to write
	}
	var b bytes.Buffer
	if err := runfile.EncodeRun(&b, file.Procs, file.Meta); err != nil {
		t.Fatalf("parsed, but: %v", err)
	}
	r := open(t, b.Bytes())
	if err := runfile.Validate(r); err != nil {
		t.Fatalf("parsed, but: %v", err)
	}
	if again := assemble(t, "again", dump(t, r)); !bytes.Equal(again, b.Bytes()) {
		t.Error("the text of the file makes another file")
	}
}

// The small text is valid.
func TestSmallText(t *testing.T) {
	if _, err := Parse("text", strings.NewReader(smallText)); err != nil {
		t.Fatal(err)
	}
	checkText(t, smallText)
}

// values is the number of values in the sequences.
func values(f *File) (n uint64) {
	add := func(s *seq.Seq) { n = max(n, n+s.Len()) }
	for _, p := range f.Procs {
		for i := range p.Streams {
			for j := range p.Streams[i].Nodes {
				node := &p.Streams[i].Nodes[j]
				add(node.Runs)
				add(node.Counts)
				for k := range node.Attrs {
					add(node.Attrs[k].Values)
					add(node.Attrs[k].Elems)
				}
			}
		}
	}
	return n
}
