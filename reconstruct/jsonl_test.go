package reconstruct

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// lines returns the events of a stream as text, one per line.
func lines(t testing.TB, p *Process, stream int, opt Options, write func(*Event, []byte) []byte) []string {
	t.Helper()
	var out []string
	for e, err := range p.Events(stream, opt) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSuffix(string(write(e, nil)), "\n"))
	}
	return out
}

// body reduces a JSON line to its arguments and results.
func body(line string) string {
	i := strings.Index(line, `"op":"`)
	return strings.TrimSuffix(line[i+len(`"op":"`):], `,"site":"unknown"}`)
}

func checkJSON(t *testing.T, p *Process, stream int, want []string) {
	t.Helper()
	got := lines(t, p, stream, Options{}, (*Event).AppendJSON)
	args := lines(t, p, stream, Options{}, (*Event).AppendJSONArguments)
	results := lines(t, p, stream, Options{}, (*Event).AppendJSONResults)
	for i, l := range got {
		if parts := `,"args":` + args[i] + `,"out":` + results[i] + `,"site":`; strings.Count(l, parts) != 1 {
			t.Errorf("event %d: %s\nhas no %s", i, l, parts)
		}
		if !json.Valid([]byte(l)) {
			t.Errorf("event %d is not JSON: %s", i, l)
		}
		if i < len(want) && body(l) != want[i] {
			t.Errorf("event %d:\n%s\nwant\n%s", i, body(l), want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d events, want %d", len(got), len(want))
	}
}

// The line with which the format was specified.
func TestJSONLine(t *testing.T) {
	r := newRecorder(t)
	for i := range 18 {
		r.call(0, fmt.Sprintf("MPI_Barrier comm=MPI_COMM_WORLD site=%d", i%5))
	}
	r.call(0, "MPI_Isend site=0x77 count=1 datatype=MPI_DOUBLE dest=3 tag=7 comm=MPI_COMM_WORLD request=0")
	got := lines(t, r.process(), 0, Options{From: 18}, (*Event).AppendJSON)
	want := `{"rank":2,"thread":0,"seq":18,"op":"MPI_Isend","args":{"count":1,"datatype":"MPI_DOUBLE","dest":3,"tag":7,"comm":"MPI_COMM_WORLD","request":"req:5.0"},"out":{},"site":"jacobi.c:88"}`
	if len(got) != 1 || got[0] != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestJSONArguments(t *testing.T) {
	r := newRecorder(t)
	r.defs.Add(efg.Def{Kind: efg.DefComm, Word: 0x2bcdef0123 << 24})
	r.defs.Add(efg.Def{Kind: efg.DefType, Word: 0x123456789abcdef, Words: []uint64{0, 24}})
	r.calls(`
		MPI_Init
		MPI_Comm_dup comm=MPI_COMM_WORLD newcomm=#2bcdef0123000002
		MPI_Send buf=MPI_BOTTOM count=0 datatype=#123456789abcdef dest=MPI_PROC_NULL tag=5 comm=#2bcdef0123000000
		MPI_Recv count=10 datatype=#123456789abcdef source=MPI_ANY_SOURCE tag=MPI_ANY_TAG comm=#2bcdef0123000002 status.source=1 status.tag=9 status.bytes=48
		MPI_Recv count=10 datatype=#123456789abcdef source=MPI_ANY_SOURCE tag=MPI_ANY_TAG comm=#2bcdef0123000002 status.source=1 status.tag=9 status.bytes=50
		!MPI_ERR_TRUNCATE MPI_Recv count=10 datatype=MPI_INT source=1 tag=0 comm=MPI_COMM_WORLD
		MPI_Alltoallv sendbuf=MPI_IN_PLACE sendcounts=EFG_ABSENT sdispls=EFG_ABSENT sendtype=EFG_ABSENT recvcounts=[1,2,3] rdispls=[0,-1,3] recvtype=MPI_INT comm=MPI_COMM_WORLD
		MPI_File_open comm=MPI_COMM_SELF filename="a\b" amode=9 info=MPI_INFO_NULL fh=#1000000
		MPI_File_write fh=#1000000 count=3 datatype=MPI_INT status.bytes=12
		MPI_Iprobe source=1 tag=2 comm=MPI_COMM_WORLD flag=0
		MPI_Iprobe source=1 tag=2 comm=MPI_COMM_WORLD flag=1 status.source=1 status.tag=2 status.bytes=8
		MPI_Unpack insize=10 position=0 position>=4 outcount=1 datatype=MPI_INT comm=MPI_COMM_WORLD
		MPI_Comm_split comm=MPI_COMM_WORLD color=MPI_UNDEFINED key=-3 newcomm=MPI_COMM_NULL
	`)
	checkJSON(t, r.process(), 0, []string{
		`MPI_Init","args":{},"out":{}`,
		`MPI_Comm_dup","args":{"comm":"MPI_COMM_WORLD"},"out":{"newcomm":"comm:2bcdef01.2"}`,
		`MPI_Send","args":{"buf":"MPI_BOTTOM","count":0,"datatype":"type:01234567","dest":"MPI_PROC_NULL","tag":5,"comm":"comm:2bcdef01"},"out":{}`,
		`MPI_Recv","args":{"count":10,"datatype":"type:01234567","source":"MPI_ANY_SOURCE","tag":"MPI_ANY_TAG","comm":"comm:2bcdef01.2"},"out":{"source":1,"tag":9,"count":2}`,
		`MPI_Recv","args":{"count":10,"datatype":"type:01234567","source":"MPI_ANY_SOURCE","tag":"MPI_ANY_TAG","comm":"comm:2bcdef01.2"},"out":{"source":1,"tag":9,"bytes":50}`,
		`MPI_Recv","args":{"count":10,"datatype":"MPI_INT","source":1,"tag":0,"comm":"MPI_COMM_WORLD"},"out":{"error":"MPI_ERR_TRUNCATE"}`,
		`MPI_Alltoallv","args":{"sendbuf":"MPI_IN_PLACE","recvcounts":[1,2,3],"rdispls":[0,-1,3],"recvtype":"MPI_INT","comm":"MPI_COMM_WORLD"},"out":{}`,
		`MPI_File_open","args":{"comm":"MPI_COMM_SELF","filename":"a\\b","amode":"MPI_MODE_CREATE|MPI_MODE_RDWR","info":"MPI_INFO_NULL"},"out":{"fh":"file:0000000001"}`,
		`MPI_File_write","args":{"fh":"file:0000000001","count":3,"datatype":"MPI_INT"},"out":{"count":3}`,
		`MPI_Iprobe","args":{"source":1,"tag":2,"comm":"MPI_COMM_WORLD"},"out":{"flag":0}`,
		`MPI_Iprobe","args":{"source":1,"tag":2,"comm":"MPI_COMM_WORLD"},"out":{"flag":1,"source":1,"tag":2,"bytes":8}`,
		`MPI_Unpack","args":{"insize":10,"position":0,"outcount":1,"datatype":"MPI_INT","comm":"MPI_COMM_WORLD"},"out":{"position":4}`,
		`MPI_Comm_split","args":{"comm":"MPI_COMM_WORLD","color":"MPI_UNDEFINED","key":-3},"out":{"newcomm":"MPI_COMM_NULL"}`,
	})
}

// An array that a call finds as the last one left it is shown in full, and statuses that
// contain nothing new are derived from the posting calls.
func TestJSONArraysOfRequests(t *testing.T) {
	r := newRecorder(t)
	r.calls(`
		MPI_Irecv count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Irecv count=8 datatype=MPI_INT source=MPI_ANY_SOURCE tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Isend count=1 datatype=MPI_INT dest=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Testany count=3 array_of_requests=[@0.0,@1.0,@2.0] index=EFG_ABSENT flag=0
		MPI_Waitany count=3 array_of_requests=EFG_SAME index=1 status.source=3 status.tag=7 status.bytes=16
		MPI_Testsome incount=3 array_of_requests=EFG_SAME outcount=0 array_of_indices=[] array_of_statuses=EFG_AS_POSTED
		MPI_Waitsome incount=3 array_of_requests=EFG_SAME outcount=2 array_of_indices=[2,0] array_of_statuses=EFG_AS_POSTED
		MPI_Waitall count=3 array_of_requests=EFG_SAME array_of_statuses=EFG_AS_POSTED
		MPI_Testany count=3 array_of_requests=EFG_SAME index=MPI_UNDEFINED flag=1
		MPI_Irecv count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Irecv count=8 datatype=MPI_INT source=MPI_ANY_SOURCE tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Testall count=2 array_of_requests=[@0.0,@1.0] flag=0 array_of_statuses=EFG_AS_POSTED
		MPI_Testall count=2 array_of_requests=EFG_SAME flag=1 array_of_statuses=[1,2,7,32]
		MPI_Wait request=MPI_REQUEST_NULL
	`)
	none := `"MPI_REQUEST_NULL"`
	checkJSON(t, r.process(), 0, []string{
		`MPI_Irecv","args":{"count":4,"datatype":"MPI_INT","source":1,"tag":7,"comm":"MPI_COMM_WORLD","request":"req:0.0"},"out":{}`,
		`MPI_Irecv","args":{"count":8,"datatype":"MPI_INT","source":"MPI_ANY_SOURCE","tag":7,"comm":"MPI_COMM_WORLD","request":"req:1.0"},"out":{}`,
		`MPI_Isend","args":{"count":1,"datatype":"MPI_INT","dest":1,"tag":7,"comm":"MPI_COMM_WORLD","request":"req:2.0"},"out":{}`,
		`MPI_Testany","args":{"count":3,"array_of_requests":["req:0.0","req:1.0","req:2.0"]},"out":{"flag":0}`,
		`MPI_Waitany","args":{"count":3,"array_of_requests":["req:0.0","req:1.0","req:2.0"]},"out":{"index":1,"source":3,"tag":7,"count":4}`,
		`MPI_Testsome","args":{"incount":3,"array_of_requests":["req:0.0",` + none + `,"req:2.0"]},"out":{"outcount":0,"array_of_indices":[]}`,
		`MPI_Waitsome","args":{"incount":3,"array_of_requests":["req:0.0",` + none + `,"req:2.0"]},"out":{"outcount":2,"array_of_indices":[2,0],"statuses":[{"index":0,"source":1,"tag":7,"count":4}]}`,
		`MPI_Waitall","args":{"count":3,"array_of_requests":[` + none + `,` + none + `,` + none + `]},"out":{}`,
		`MPI_Testany","args":{"count":3,"array_of_requests":[` + none + `,` + none + `,` + none + `]},"out":{"index":"MPI_UNDEFINED","flag":1}`,
		`MPI_Irecv","args":{"count":4,"datatype":"MPI_INT","source":1,"tag":7,"comm":"MPI_COMM_WORLD","request":"req:0.0"},"out":{}`,
		`MPI_Irecv","args":{"count":8,"datatype":"MPI_INT","source":"MPI_ANY_SOURCE","tag":7,"comm":"MPI_COMM_WORLD","request":"req:1.0"},"out":{}`,
		`MPI_Testall","args":{"count":2,"array_of_requests":["req:0.0","req:1.0"]},"out":{"flag":0}`,
		`MPI_Testall","args":{"count":2,"array_of_requests":["req:0.0","req:1.0"]},"out":{"flag":1,"statuses":[{"index":0,"source":1,"tag":7,"count":4},{"index":1,"source":2,"tag":7,"count":8}]}`,
		`MPI_Wait","args":{"request":"MPI_REQUEST_NULL"},"out":{}`,
	})
}

// What a status does not contain is derived from the posting call, even if that call's
// arguments are demoted.
func TestJSONStatusesAsPosted(t *testing.T) {
	const (
		as    = "status.source=EFG_AS_POSTED status.tag=EFG_AS_POSTED "
		whole = as + "status.bytes=EFG_AS_POSTED"
	)
	r := newRecorder(t)
	r.calls(`
		MPI_Irecv count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Wait request=@0.0 ` + whole + `
		MPI_Irecv count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Test request=@0.0 flag=1 ` + as + `status.bytes=6
		MPI_Irecv count=8 datatype=MPI_INT source=MPI_ANY_SOURCE tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Waitany count=1 array_of_requests=[@3.0] index=0 status.source=3 status.tag=7 status.bytes=EFG_AS_POSTED
		MPI_Imrecv count=2 datatype=MPI_INT message=@9.0 request=0
		MPI_Testany count=1 array_of_requests=[@5.0] index=0 flag=1 status.source=3 status.tag=7 status.bytes=EFG_AS_POSTED
		MPI_Recv_init count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Start request=@7.0
		MPI_Wait request=@7.0 ` + whole + `
	`)
	for i := range 40 {
		r.call(0, fmt.Sprintf("MPI_Irecv count=%d datatype=MPI_INT source=%d tag=7 comm=MPI_COMM_WORLD request=0 site=#5", 100+i, i%20))
		r.call(0, fmt.Sprintf("MPI_Wait request=@%d.0 %s site=#6", r.lastNode(), whole))
	}
	p := r.process()
	got := lines(t, p, 0, Options{}, (*Event).AppendJSON)
	for at, want := range map[int]string{
		1: `"source":1,"tag":7,"count":4`, 3: `"flag":1,"source":1,"tag":7,"bytes":6`, 5: `"index":0,"source":3,"tag":7,"count":8`,
		7: `"index":0,"flag":1,"source":3,"tag":7,"count":2`, 10: `"source":1,"tag":7,"count":4`,
	} {
		if !strings.Contains(got[at], `"out":{`+want+`}`) {
			t.Errorf("event %d is %s, want %s", at, got[at], want)
		}
	}
	for i := range 40 {
		want := fmt.Sprintf(`"out":{"source":%d,"tag":7,"count":%d}`, i%20, 100+i)
		if at := 12 + 2*i; !strings.Contains(got[at], want) {
			t.Errorf("event %d is %s, want %s", at, got[at], want)
		}
	}
}

func TestJSONPersistentRequests(t *testing.T) {
	r := newRecorder(t)
	r.calls(`
		MPI_Recv_init count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Send_init count=4 datatype=MPI_INT dest=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Waitall count=2 array_of_requests=[@0.0,@1.0] array_of_statuses=EFG_AS_POSTED
		MPI_Startall count=2 array_of_requests=EFG_SAME
		MPI_Waitall count=2 array_of_requests=EFG_SAME array_of_statuses=EFG_AS_POSTED
		MPI_Waitall count=2 array_of_requests=EFG_SAME array_of_statuses=EFG_AS_POSTED
		MPI_Start request=@0.0
		MPI_Wait request=@0.0 status.source=1 status.tag=7 status.bytes=4
		MPI_Request_free request=@0.0
	`)
	both := `"array_of_requests":["req:0.0","req:1.0"]`
	p := r.process()
	got := lines(t, p, 0, Options{From: 2}, (*Event).AppendJSON)
	for i, want := range []string{
		`MPI_Waitall","args":{"count":2,` + both + `},"out":{}`,
		`MPI_Startall","args":{"count":2,` + both + `},"out":{}`,
		`MPI_Waitall","args":{"count":2,` + both + `},"out":{"statuses":[{"index":0,"source":1,"tag":7,"count":4}]}`,
		`MPI_Waitall","args":{"count":2,` + both + `},"out":{}`,
		`MPI_Start","args":{"request":"req:0.0"},"out":{}`,
		`MPI_Wait","args":{"request":"req:0.0"},"out":{"source":1,"tag":7,"count":1}`,
		`MPI_Request_free","args":{"request":"req:0.0"},"out":{}`,
	} {
		if body(got[i]) != want {
			t.Errorf("event %d:\n%s\nwant\n%s", i+2, body(got[i]), want)
		}
	}
}

// Arguments that grow are demoted and still shown for each event.
func TestJSONDemotedArguments(t *testing.T) {
	r := newRecorder(t)
	var want []string
	for i := range 200 {
		count := 3*i + 1
		r.calls(fmt.Sprintf(`
			MPI_Irecv count=%d datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
			MPI_Irecv count=2 datatype=MPI_DOUBLE source=1 tag=%d comm=MPI_COMM_WORLD request=0
		`, count, i))
		r.call(0, "MPI_Barrier comm=MPI_COMM_WORLD")
		want = append(want, fmt.Sprintf(`"count":%d,"datatype":"MPI_INT","source":1,"tag":7,`, count),
			fmt.Sprintf(`"count":2,"datatype":"MPI_DOUBLE","source":1,"tag":%d,`, i), "MPI_Barrier")
	}
	p := r.process()
	if n := len(p.proc.Streams[0].Nodes); n > 60 {
		t.Fatalf("%d nodes: nothing was demoted", n)
	}
	for i, l := range lines(t, p, 0, Options{}, (*Event).AppendJSON) {
		if !strings.Contains(l, want[i]) {
			t.Fatalf("event %d: %s\nwant %s", i, l, want[i])
		}
	}
}

// What a receive with demoted arguments was posted with is tracked.
func TestJSONStatusOfDemotedReceive(t *testing.T) {
	r := newRecorder(t)
	for i := range 100 {
		r.call(0, fmt.Sprintf("MPI_Irecv count=%d datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0", i+1))
		node := i
		if i >= efg.DefaultDemote {
			node = -1 // the node after demotion; its number is looked up below
		}
		if node < 0 {
			break
		}
	}
	p := r.process()
	// All but the last receive have a node of their own; the next one's count is demoted.
	last := len(p.proc.Streams[0].Nodes) - 1
	r.call(0, fmt.Sprintf("MPI_Waitall count=1 array_of_requests=[@%d.0] array_of_statuses=EFG_AS_POSTED", last))
	p = r.process()
	got := lines(t, p, 0, Options{}, (*Event).AppendJSON)
	want := fmt.Sprintf(`"statuses":[{"index":0,"source":1,"tag":7,"count":%d}]`, len(got)-1)
	if l := got[len(got)-1]; !strings.Contains(l, want) {
		t.Errorf("%s\nwant %s", l, want)
	}
}

func TestRequestsOfOtherThreads(t *testing.T) {
	r := newRecorder(t)
	r.call(0, "MPI_Irecv count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0")
	r.call(1, "MPI_Wait request=@0:0.0 status.source=1 status.tag=7 status.bytes=16")
	got := lines(t, r.process(), 1, Options{}, (*Event).AppendJSON)
	want := `MPI_Wait","args":{"request":"req:0:0.0"},"out":{"source":1,"tag":7,"count":4}`
	if body(got[0]) != want {
		t.Errorf("%s\nwant\n%s", body(got[0]), want)
	}
}

func TestText(t *testing.T) {
	r := newRecorder(t)
	r.calls(`
		MPI_Recv site=0x77 count=10 datatype=MPI_INT source=MPI_ANY_SOURCE tag=4 comm=MPI_COMM_WORLD status.source=1 status.tag=4 status.bytes=8
		MPI_Barrier comm=MPI_COMM_WORLD
		!MPI_ERR_COMM MPI_Barrier comm=MPI_COMM_NULL
	`)
	got := strings.Join(lines(t, r.process(), 0, Options{}, (*Event).AppendText), "\n")
	want := `   2        0  MPI_Recv(count=10, datatype=MPI_INT, source=MPI_ANY_SOURCE, tag=4, comm=MPI_COMM_WORLD) {source=1, tag=4, count=2}  main jacobi.c:88
   2        1  MPI_Barrier(comm=MPI_COMM_WORLD)  unknown
   2        2  MPI_Barrier(comm=MPI_COMM_NULL) {error=MPI_ERR_COMM}  unknown`
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

// Every range of events is the same as in the whole.
func TestRangeOfEvents(t *testing.T) {
	r := newRecorder(t)
	for i := range 50 {
		r.calls(fmt.Sprintf(`
			MPI_Irecv count=%d datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
			MPI_Isend count=1 datatype=MPI_INT dest=1 tag=7 comm=MPI_COMM_WORLD request=0
			MPI_Waitany count=2 array_of_requests=[@0.0,@1.0] index=%d
			MPI_Waitall count=2 array_of_requests=EFG_SAME array_of_statuses=EFG_AS_POSTED
		`, i%3, i%2))
	}
	p := r.process()
	all := lines(t, p, 0, Options{}, (*Event).AppendJSON)
	for from := 0; from < len(all); from += 7 {
		to := min(from+9, len(all))
		part := lines(t, p, 0, Options{From: uint64(from), To: uint64(to)}, (*Event).AppendJSON)
		if strings.Join(part, "\n") != strings.Join(all[from:to], "\n") {
			t.Fatalf("events %d to %d differ from the whole", from, to)
		}
	}
	if part := lines(t, p, 0, Options{From: 1 << 40}, (*Event).AppendJSON); len(part) != 0 {
		t.Errorf("%d events after the end", len(part))
	}
}

func TestHandlesThatShareDigitsAreToldApart(t *testing.T) {
	a, b := uint64(0x12345678aa)<<24, uint64(0x12345678bb)<<24
	n := NewNames([]efg.Def{
		{Kind: efg.DefComm, Word: a}, {Kind: efg.DefComm, Word: b}, {Kind: efg.DefComm, Word: a},
		{Kind: efg.DefComm, Word: 0x22345678aa << 24},
	}, nil)
	if n.handles[a] != "comm:12345678aa" || n.handles[b] != "comm:12345678bb" || n.handles[0x22345678aa<<24] != "comm:22345678" {
		t.Errorf("%v", n.handles)
	}
}

func TestBrokenGraphEndsWithAnError(t *testing.T) {
	r := newRecorder(t)
	r.calls("MPI_Barrier comm=MPI_COMM_WORLD\nMPI_Barrier comm=MPI_COMM_SELF")
	p := r.process()
	p.proc.Streams[0].Events += 5
	failed := false
	for _, err := range p.Events(0, Options{}) {
		failed = failed || err != nil
	}
	if !failed {
		t.Error("no error")
	}
}
