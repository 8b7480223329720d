package hdtrace

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

func write(t *testing.T, run *runfile.Run, job *export.Job) string {
	t.Helper()
	dir := t.TempDir()
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	job.Run, job.Thread = run, -1
	if err := Write(dir, job); err != nil {
		t.Fatal(err)
	}
	if !Owns(dir) {
		t.Error("the directory is not taken for a trace")
	}
	return dir
}

// node is an element of a document.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []node     `xml:",any"`
}

func (n *node) get(name string) (string, bool) {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

func (n *node) child(names ...string) *node {
	for _, name := range names {
		found := (*node)(nil)
		for i := range n.Children {
			if n.Children[i].XMLName.Local == name {
				found = &n.Children[i]
			}
		}
		if found == nil {
			return nil
		}
		n = found
	}
	return n
}

func read(t *testing.T, file string) *node {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var n node
	d := xml.NewDecoder(f)
	if err := d.Decode(&n); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		for err == nil {
			_, err = d.Token()
		}
	}
	return &n
}

// project is a trace as its description says it is.
type project struct {
	description *node
	traces      map[[2]int]*node // by rank and thread
	comms       map[string]bool  // "cid rank"
	types       map[string]string
}

func readProject(t *testing.T, dir string) *project {
	t.Helper()
	p := &project{traces: map[[2]int]*node{}, comms: map[string]bool{}, types: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.trc"))
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for _, f := range files {
		if base := strings.TrimSuffix(filepath.Base(f), ".trc"); !strings.Contains(base, "_") {
			name, p.description = base, read(t, f)
		}
	}
	for _, host := range p.description.child("Topology").Children[1:] {
		for _, rank := range host.Children {
			for _, thread := range rank.Children {
				h, _ := host.get("value")
				r, _ := rank.get("value")
				th, _ := thread.get("value")
				a, _ := strconv.Atoi(r)
				b, _ := strconv.Atoi(th)
				p.traces[[2]int{a, b}] = read(t, filepath.Join(dir, fmt.Sprintf("%s_%s_%s_%s.trc", name, h, r, th)))
			}
		}
	}
	if len(p.traces)+1 != len(files) {
		t.Errorf("%d traces in the topology, of %d files", len(p.traces), len(files))
	}
	for _, c := range p.description.child("CommunicatorList").Children {
		for _, r := range c.Children {
			rank, _ := r.get("global")
			cid, _ := r.get("cid")
			p.comms[cid+" "+rank] = true
		}
	}
	for _, r := range p.description.child("Datatypes").Children {
		for _, d := range r.Children {
			rank, _ := r.get("name")
			thread, _ := r.get("thread")
			id, _ := d.get("id")
			name, _ := d.get("name")
			p.types[rank+" "+thread+" "+id] = d.XMLName.Local + " " + name
		}
	}
	return p
}

// arguments are the names that attributes have in JSON Lines.
var arguments = map[string][]string{
	"count": {"sendcount", "count", "recvcount"}, "toRank": {"dest"}, "fromRank": {"source"}, "source": {"source"}, "toTag": {"sendtag", "tag"},
	"fromTag": {"recvtag", "tag"}, "tag": {"tag"}, "root": {"root"}, "rootRank": {"root"}, "recvCount": {"recvcount"},
	"offset": {"offset", "disp"}, "relative-offset": {"offset"}, "name": {"filename"}, "representation": {"datarep"}, "whence": {"whence"},
}

var constants = map[string]string{"MPI_PROC_NULL": "-1", "MPI_ANY_SOURCE": "-2", "MPI_ANY_TAG": "-1"}

// Each call is an element of its thread's trace, with its times and attributes.
func TestTrace(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "30"}, {Source: "c/io.c", Args: "2 DIR"}, {Source: "c/coll.c", MPI: "mpich"}, {Source: "c/comms.c", MPI: "openmpi"},
		{Source: "c/threads.c", MPI: "mpich"}, {Source: "c/types.c", MPI: "openmpi"}, {Source: "c/probes.c", MPI: "mpich"}, {Source: "fortran/all_f08.f90", MPI: "mpich"},
		{Source: "c/fail.c", Args: "kill 50", Fails: true, MPI: "openmpi"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		p := readProject(t, write(t, r.Run, &export.Job{RawClock: true}))
		next := map[[2]int]int{}
		testrun.EachEvent(t, r.Run, func(_ *reconstruct.Process, e *reconstruct.Event) {
			key := [2]int{e.Rank(), int(e.Thread())}
			if e.Depth() > 0 || t.Failed() {
				return
			}
			if next[key] >= len(p.traces[key].Children) {
				t.Errorf("%v: too few elements", key)
				return
			}
			n := &p.traces[key].Children[next[key]]
			next[key]++
			p.compare(t, r.Run.Meta.Started, e, n)
		})
		testrun.InProgress(t, r.Run, func(p *reconstruct.Process, stream int, _ *reconstruct.Pending) {
			next[[2]int{p.Data().Rank, int(p.Data().Streams[stream].Thread)}]++ // see TestUnfinished
		})
		for key, n := range p.traces {
			if next[key] != len(n.Children) && !t.Failed() {
				t.Errorf("%v: %d elements, want %d", key, len(n.Children), next[key])
			}
		}
	})
}

func (p *project) compare(t *testing.T, began int64, e *reconstruct.Event, n *node) {
	t.Helper()
	var c struct{ Args, Out map[string]any }
	if err := json.Unmarshal(e.AppendJSON(nil), &c); err != nil {
		t.Fatal(err)
	}
	name := strings.Replace(strings.TrimPrefix(e.Op(), "MPI_"), "set_atomicity", "set_atomicsity", 1)
	start, end, _ := e.Times()
	for attribute, want := range map[string]int64{"time": began + start, "end": began + end} {
		got, _ := n.get(attribute)
		if seconds := fmt.Sprintf("%d.%06d", want/1e9, want%1e9/1000); got != seconds {
			t.Errorf("%s: %s %s, want %s", e.Op(), attribute, got, seconds)
		}
	}
	if n.XMLName.Local != name {
		t.Errorf("element %s, want %s", n.XMLName.Local, name)
		return
	}
	known := map[string]bool{"time": true, "end": true}
	for _, a := range logged[name] {
		known[a] = true
	}
	for _, a := range n.Attrs {
		if !known[a.Name.Local] {
			t.Errorf("%s: attribute %s", name, a.Name.Local)
		}
		p.compareAttribute(t, e, c.Args, a)
	}
	for _, must := range []string{"toRank", "toTag", "fromRank", "fromTag", "cid", "fid", "rid"} {
		_, failed := c.Out["error"]
		if _, there := n.get(must); !there && !failed && known[must] {
			t.Errorf("%s: no %s in %v", name, must, n.Attrs)
		}
	}
}

func (p *project) compareAttribute(t *testing.T, e *reconstruct.Event, args map[string]any, a xml.Attr) {
	t.Helper()
	if a.Name.Local == "cid" && !p.comms[a.Value+" "+strconv.Itoa(e.Rank())] {
		t.Errorf("%s: rank %d is not in communicator %s", e.Op(), e.Rank(), a.Value)
	}
	if strings.HasSuffix(strings.ToLower(a.Name.Local), "tid") {
		found := p.types[fmt.Sprintf("%d %d %s", e.Rank(), e.Thread(), a.Value)]
		for _, name := range []string{"sendtype", "datatype", "recvtype"} {
			if want, ok := args[name].(string); ok && a.Name.Local == "tid" && strings.HasPrefix(want, "MPI_") {
				if found != "NAMED "+want {
					t.Errorf("%s: datatype %s is %s, want %s", e.Op(), a.Value, found, want)
				}
				break
			}
		}
		if found == "" {
			t.Errorf("%s: datatype %s of rank %d is not described", e.Op(), a.Value, e.Rank())
		}
	}
	for _, name := range arguments[a.Name.Local] {
		v, ok := args[name]
		if !ok {
			continue
		}
		want := fmt.Sprint(v)
		if f, ok := v.(float64); ok {
			want = strconv.FormatInt(int64(f), 10)
		}
		if number, ok := constants[want]; ok {
			want = number
		}
		if a.Value != want {
			t.Errorf("%s: %s is %s, want %s", e.Op(), a.Name.Local, a.Value, want)
		}
		return
	}
}

// The table has all calls of the format's description.
func TestTable(t *testing.T) {
	if len(logged) != 73 {
		t.Errorf("%d calls", len(logged))
	}
}

// A request has a number, by which the call that completes it is known; so has a split operation.
func TestRequests(t *testing.T) {
	s := testrun.NewScript(t, 2)
	message := func(peer string, rank any) testrun.Args {
		return testrun.Args{"count": 3, "datatype": "MPI_INT", peer: rank, "tag": 5, "comm": "MPI_COMM_WORLD"}
	}
	s.Rank(0).Call(10, 20, "MPI_Send", message("dest", 1))
	q := s.Rank(1).Call(0, 5, "MPI_Irecv", message("source", 0))
	s.Rank(1).Call(6, 40, "MPI_Wait", testrun.Args{"request": q})
	run := s.Run()
	p := readProject(t, write(t, run, &export.Job{RawClock: true}))
	receive, wait := &p.traces[[2]int{1, 0}].Children[0], &p.traces[[2]int{1, 0}].Children[1]
	rid, ok := receive.get("rid")
	if got, _ := wait.child("For").get("rid"); !ok || got != rid {
		t.Errorf("%v, %v", receive, wait)
	}
	send := &p.traces[[2]int{0, 0}].Children[0]
	for name, want := range map[string]string{"size": "12", "count": "3", "toRank": "1", "toTag": "5", "cid": "0"} {
		if got, _ := send.get(name); got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	attributes := readProject(t, write(t, run, &export.Job{RawClock: true, What: []string{Attributes}})).traces[[2]int{1, 0}].Children
	if fmt.Sprint(attributes[0]) != fmt.Sprint(*receive) || len(attributes[1].Children) > 0 {
		t.Errorf("attributes: %v", attributes)
	}
	requests := readProject(t, write(t, run, &export.Job{RawClock: true, What: []string{Requests}})).traces[[2]int{1, 0}].Children
	if len(requests[0].Attrs) != 2 || fmt.Sprint(requests[1].Children) != fmt.Sprint(wait.Children) {
		t.Errorf("requests: %v", requests)
	}
}

// A call that had not returned when the recording ended is the last element, until the process was gone, or the run ends, and says so.
func TestUnfinished(t *testing.T) {
	programs := []testrun.Program{{Source: "c/inside.c", Args: "end", Time: "trace", Fails: true}, {Source: "c/fail.c", Args: "kill", Time: "trace", Fails: true}}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		p := readProject(t, write(t, r.Run, &export.Job{}))
		found, marked := 0, 0
		for _, thread := range p.traces {
			for i := range thread.Children {
				if _, ok := thread.Children[i].get("unfinished"); ok {
					marked++
				}
			}
		}
		testrun.InProgress(t, r.Run, func(process *reconstruct.Process, stream int, call *reconstruct.Pending) {
			found++
			list := p.traces[[2]int{process.Data().Rank, 0}].Children
			last := &list[len(list)-1]
			_, unfinished := last.get("unfinished")
			end, _ := last.get("end")
			at := r.Run.Meta.Started + process.Data().LatestEndInRun(r.Run.Meta.Ended-r.Run.Meta.Started)
			if want := fmt.Sprintf("%d.%06d", at/1e9, at%1e9/1e3); !unfinished || "MPI_"+last.XMLName.Local != call.Describe().Op || end != want {
				t.Errorf("rank %d: %s until %s, unfinished %v, want %s until %s", process.Data().Rank, last.XMLName.Local, end, unfinished, call.Describe().Op, want)
			}
		})
		if marked != found {
			t.Errorf("%d elements say that they are unfinished, want %d", marked, found)
		}
		if found == 0 {
			t.Error("no rank was in a call")
		}
	})
}
