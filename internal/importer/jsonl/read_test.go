package jsonl

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Mistakes are reported with the line.
func TestMistakes(t *testing.T) {
	const send = `{"rank":0,"op":"MPI_Send","args":{"count":1,"datatype":"MPI_INT","dest":1,"tag":5,"comm":"MPI_COMM_WORLD"}}` + "\n"
	for text, want := range map[string]string{
		"": "calls.jsonl:0: no calls", "{}": "calls.jsonl:1: no rank", send + "x": "calls.jsonl:2: column 1: want a value of JSON",
		send + `{"rank":0,"op":"MPI_Sent"}`:                                                    `calls.jsonl:2: "MPI_Sent" is no MPI procedure`,
		send + `{"rank":0,"op":"MPI_Send","args":{"to":1}}`:                                    `calls.jsonl:2: MPI_Send has no argument "to"`,
		send + `{"rank":0,"op":"MPI_Send","args":{"dest":1.5}}`:                                `calls.jsonl:2: dest of MPI_Send: 1.5, want an integer`,
		send + `{"rank":0,"op":"MPI_Send","args":{"datatype":"MPI_INTEGRE"}}`:                  `calls.jsonl:2: datatype of MPI_Send: "MPI_INTEGRE" is not the name of a type`,
		`{"rank":0,"seq":3,"op":"MPI_Init"}` + "\n" + `{"rank":0,"seq":5,"op":"MPI_Finalize"}`: `calls.jsonl:2: rank 0, thread 0: call 5 after 3`,
		`{"rank":0,"op":"MPI_Init","t0":9}`:                                                    "calls.jsonl:1: want both t0 and t1, or none",
		`{"rank":0,"op":"MPI_Init","t0":9,"t1":3}`:                                             "calls.jsonl:1: a call from 9 to 3",
		`{"rank":0,"op":"MPI_Init","what":3}`:                                                  `calls.jsonl:1: unknown member "what"`,
		`{"rank":0,"op":"MPI_Init","path":"main a.c:3"}`:                                       "calls.jsonl:1: path: want an array",
		`{"rank":0,"op":"MPI_Init","path":[]}`:                                                 "calls.jsonl:1: path: 0 calls, want 1 to 1024",
		`{"rank":0,"op":"MPI_Init","path":["a.c:1"` + strings.Repeat(`,"a.c:1"`, 1024) + `]}`:  "calls.jsonl:1: path: 1025 calls, want 1 to 1024",
		`{"rank":0,"op":"MPI_Init","path":["main a.c:3",7]}`:                                   "calls.jsonl:1: path: want strings",
		`{"rank":0,"op":"MPI_Init","path":["","f a.c:3"]}`:                                     `calls.jsonl:1: path: "" names no place`,
		`{"rank":0,"op":"MPI_Init","path":["main "]}`:                                          `calls.jsonl:1: path: "main " names no place`,
		`{"rank":0,"op":"MPI_Init","site":"a.c:4","path":["main a.c:3"]}`:                      `calls.jsonl:1: path: it ends with "main a.c:3", but the call is at "a.c:4"`,
		`{"rank":0,"op":"MPI_Init","site":"a.c:3","function":"f","path":["main a.c:3"]}`:       `calls.jsonl:1: path: it ends with "main a.c:3", but the call is at "f a.c:3"`,
	} {
		if _, err := read([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Any bytes are a run, or an error of one line.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"rank":0,"op":"MPI_Irecv","args":{"count":1,"datatype":"type:1","source":1,"tag":5,"comm":"comm:2.1","request":7},"out":{},"t0":1,"t1":2}
{"rank":0,"op":"MPI_Waitall","args":{"count":1,"array_of_requests":[7]},"out":{"statuses":[{"index":0,"source":1,"tag":5,"count":1}]},"t0":3,"t1":4}`))
	f.Add([]byte(`{"rank":0,"op":"MPI_Init","site":"a b.c:1","path":["...","main a.c:3","g a b.c:1"]}` + "\n" + `{"rank":0,"entered":{"op":"MPI_Finalize","path":["unknown","a.c:7"]}}`))
	f.Add([]byte(`{"define":"comm:2","members":[0,1]}` + "\n" + `{"rank":1,"entered":{"op":"MPI_Recv","args":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := read(text); err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q", err)
		}
	})
}

// A thread may wait for a request of one that follows in the file, several times, with and without
// times.
func TestRequestsOfLaterThreads(t *testing.T) {
	for _, timed := range []bool{false, true} {
		var waits, posts strings.Builder
		at := func(n int) string {
			if !timed {
				return ""
			}
			return fmt.Sprintf(`,"t0":%d,"t1":%d`, 1000*n, 1000*n+10)
		}
		for i := range 3 {
			fmt.Fprintf(&posts, `{"rank":0,"thread":1,"op":"MPI_Irecv","args":{"count":8,"datatype":"MPI_INT","source":"MPI_ANY_SOURCE","tag":5,"comm":"MPI_COMM_WORLD","request":%d},"out":{},"site":"a.c:%d"%s}`+"\n", 7+i*flag(!timed), 2, at(2*i+1))
			fmt.Fprintf(&waits, `{"rank":0,"thread":0,"op":"MPI_Wait","args":{"request":%d},"out":{"source":%d,"tag":5,"count":1},"site":"a.c:3"%s}`+"\n", 7+i*flag(!timed), i, at(2*i+2))
		}
		run, err := read([]byte(`{"run":{"ranks":4}}` + "\n" + waits.String() + posts.String()))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "run.efg")
		if err := runfile.WriteRun(name, run.Procs, run.Meta); err != nil {
			t.Fatal(err)
		}
		text := string(lines(t, testrun.Open(t, name)))
		for i := range 3 {
			if want := `"request":"req:1:`; strings.Count(text, want) != 3 || !strings.Contains(text, fmt.Sprintf(`"out":{"source":%d,"tag":5,"count":1}`, i)) {
				t.Errorf("timed %v, no %s or no status from rank %d in\n%s", timed, want, i, text)
			}
		}
	}
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}
