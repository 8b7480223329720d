package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/live"
)

// storeServer serves a sample store and its job at a loopback port.
func storeServer(t *testing.T) (address, job, spool string) {
	t.Helper()
	store, dir := sampleStore(t)
	source := NewStore(store, dir.Dir)
	s := New(Options{Runs: source, Token: testToken, Scratch: store.Dir, Metrics: NewMetrics(source)})
	l := listen(t, Listening{TCP: "127.0.0.1:0"})
	serve(t, s, l)
	list, err := source.List()
	if err != nil || len(list.Jobs) != 1 {
		t.Fatal(list, err)
	}
	return l.Address(), list.Jobs[0].Name, dir.Dir
}

var plain = &http.Transport{DisableKeepAlives: true, DisableCompression: true}

func get(t *testing.T, address string, set ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	for i := 0; i < len(set); i += 2 {
		r.Header.Set(set[i], set[i+1])
	}
	answer, err := plain.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func body(t *testing.T, r *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode[T any](t *testing.T, data []byte) *T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return &v
}

// nextEvent reads an event of a stream; "" at its end.
func nextEvent(t *testing.T, b *bufio.Reader) (name, id string, data []byte) {
	t.Helper()
	for {
		line, err := b.ReadString('\n')
		if err == io.EOF {
			return "", "", nil
		}
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if v, ok := strings.CutPrefix(line, "event: "); ok {
			name = v
		} else if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = v
		} else if v, ok := strings.CutPrefix(line, "data: "); ok {
			data = []byte(v)
		} else if line == "" && data != nil {
			return name, id, data
		}
	}
}

// Requests about a job are answered as for a run of its segments.
func TestJob(t *testing.T) {
	address, job, spool := storeServer(t)
	info := decode[jsondoc.Info](t, body(t, get(t, address+"v1/runs/"+job)))
	report := decode[jsondoc.Report](t, body(t, get(t, address+"v1/runs/"+job+"/report")))
	where := decode[live.JobState](t, body(t, get(t, address+"v1/runs/"+job+"/where")))
	frame := decode[live.Frame](t, body(t, get(t, address+"v1/runs/"+job+"/live")))
	if info.File != job || info.Processes != 3 || info.Events == 0 || report.Total.Calls != info.Events || frame.Events != info.Events ||
		len(frame.Ranks) != 3 || where.Size != 3 || len(where.Threads) != 3 {
		t.Errorf("%+v\n%+v\n%+v\n%+v", info, report, where, frame)
	}
	if r := get(t, address+"v1/runs/last"); decode[jsondoc.Info](t, body(t, r)).File != job {
		t.Error("the last run is not the job")
	}
	if left, err := filepath.Glob(filepath.Join(spool, ".*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if r := get(t, address+"v1/runs/halo/live"); r.StatusCode != http.StatusConflict {
		t.Errorf("a run that has ended is live: status %d", r.StatusCode)
	}
}

// Answers about a job state when its snapshot was taken. The snapshot is reused for ten times
// as long as taking it and answering from it took; then there is another one.
func TestSnapshotTime(t *testing.T) {
	address, job, spool := storeServer(t)
	first := get(t, address+"v1/runs/"+job+"/report")
	made := first.Header.Get("Efg-Snapshot")
	if at, err := time.Parse(time.RFC3339Nano, made); err != nil || time.Since(at) < 0 {
		t.Fatalf("%q: %v", made, err)
	}
	if r := get(t, address+"v1/runs/halo/report"); r.Header.Get("Efg-Snapshot") != "" {
		t.Error("a run is said to be a snapshot")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r := get(t, address+"v1/runs/"+job+"/report", "If-None-Match", first.Header.Get("ETag"))
		if now := r.Header.Get("Efg-Snapshot"); (now == made) != (r.StatusCode == http.StatusNotModified) {
			t.Fatalf("status %d, snapshot of %s, before of %s", r.StatusCode, now, made)
		} else if now != made {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the snapshot is used forever")
		}
	}
	for _, path := range []string{"/ranks", "/matrix?bins=2", "/graph", ""} {
		if r := get(t, address+"v1/runs/"+job+path); r.StatusCode != http.StatusOK || r.Header.Get("Efg-Snapshot") == "" {
			t.Errorf("%s: status %d, no time", path, r.StatusCode)
		}
	}
	s := newSnapshots(t.TempDir())
	defer s.close()
	list, err := filepath.Glob(filepath.Join(spool, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.source(t.Context(), &Entry{Name: "job", Segments: list})
	if err != nil {
		t.Fatal(err)
	}
	x.spent(time.Hour) // a request that took as long
	if again, err := s.source(t.Context(), &Entry{Name: "job", Segments: list}); err != nil || again.at != x.at || s.shot["job"].fresh < 10*time.Hour {
		t.Errorf("the snapshot is not kept after long work: %v", err)
	}
}

// Frames arrive until the job has ended; the list reports that.
func TestEvents(t *testing.T) {
	address, job, spool := storeServer(t)
	list := bufio.NewReader(get(t, address+"v1/events").Body)
	name, _, data := nextEvent(t, list)
	if c := decode[change](t, data); name != "runs" || c.Total != 2 || len(c.Jobs) != 1 || c.Jobs[0].Name != job {
		t.Errorf("%s %s", name, data)
	}
	r := get(t, address+"v1/runs/"+job+"/live?interval=100", "Accept", "text/event-stream")
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type %s", got)
	}
	frames := bufio.NewReader(r.Body)
	for _, want := range []string{"1", "2", "3"} {
		name, id, data := nextEvent(t, frames)
		if f := decode[live.Frame](t, data); name != "frame" || id != want || len(f.Ranks) != 3 {
			t.Errorf("%s %s %s", name, id, data)
		}
	}
	segments, err := filepath.Glob(filepath.Join(spool, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range segments {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for name = "frame"; name == "frame"; {
		name, _, data = nextEvent(t, frames)
	}
	if name != "end" || string(data) != `{"stored":false}` {
		t.Errorf("%s %s", name, data)
	}
	if name, _, data := nextEvent(t, frames); name != "" {
		t.Errorf("after the end there is %s %s", name, data)
	}
	for c := (&change{Jobs: make([]jsondoc.Job, 1)}); len(c.Jobs) > 0; {
		_, _, data := nextEvent(t, list)
		c = decode[change](t, data)
	}
}

// Streams are bounded and shared, and leave nothing behind when all listeners have left.
func TestFeeds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := newFeeds(ctx)
	starts, next := 0, make(chan string)
	ended := make(chan bool, 1)
	produce := func(ctx context.Context, emit func(string, []byte)) {
		starts++
		for {
			select {
			case text := <-next:
				emit("x", []byte(text))
			case <-ctx.Done():
				ended <- true
				return
			}
		}
	}
	a, leaveA, err := f.listen("key", produce)
	if err != nil {
		t.Fatal(err)
	}
	next <- "one"
	if m := <-a; m.id != 1 || string(m.data) != "one" {
		t.Errorf("%+v", m)
	}
	b, leaveB, err := f.listen("key", produce)
	if err != nil {
		t.Fatal(err)
	}
	if m := <-b; string(m.data) != "one" {
		t.Errorf("who comes later gets %+v", m)
	}
	next <- "two"
	next <- "three"
	leaveA()
	next <- "four"
	for m := range b { // it may miss some, but not the newest
		if string(m.data) == "four" {
			break
		}
	}
	leaveB()
	if <-ended; starts != 1 || f.streams() != 0 {
		t.Errorf("made %d times, %d listen", starts, f.streams())
	}
	var leave []func()
	for range maxStreams {
		_, l, err := f.listen("key", produce)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	if _, _, err := f.listen("other", produce); err == nil {
		t.Error("streams are not bounded")
	}
	for _, l := range leave {
		l()
	}
	<-ended
}

// Metrics have the names and units that Prometheus recommends, and report the current state.
func TestMetrics(t *testing.T) {
	store, spool := sampleStore(t)
	source := NewStore(store, spool.Dir)
	m := NewMetrics(source)
	runs, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	m.Sealed(&runs[0], store.RunFile("halo"), 1e9)
	m.Sealed(&runs[1], store.RunFile("none"), 1e9)
	m.Failed()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { m.Work(ctx); close(done) }()
	for testutil.ToFloat64(m.uncounted) == 0 { // the missing one is last
		if t.Context().Err() != nil {
			t.Fatal("it is never counted")
		}
	}
	cancel()
	<-done
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !strings.HasPrefix(p.Metric, "go_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	s := New(Options{Runs: source, Token: testToken, Metrics: m})
	defer s.Close()
	r := httptest.NewRequest("GET", "http://localhost/metrics", nil)
	r.Header.Set("Authorization", "Bearer "+testToken)
	text := over(s, r).Body.String()
	report := decode[jsondoc.Report](t, answerOf(t, s, "/v1/runs/halo/report"))
	for _, want := range []string{
		"efg_runs 2", "efg_runs_events 200", "efg_jobs 1", `efg_job_processes{state="ended"} 3`, "efg_sealed_runs_total 2", "efg_sealed_failures_total 1",
		"efg_sealed_uncounted_runs_total 1", "efg_sealing_seconds_count 2", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	calls := 0.0
	for i := range report.Procedures {
		calls += testutil.ToFloat64(m.calls.WithLabelValues(report.Procedures[i].Op))
	}
	if calls != float64(report.Total.Calls) || calls == 0 {
		t.Errorf("%v calls are counted, the report has %d", calls, report.Total.Calls)
	}
}

// answerOf sends a request to a server over TCP.
func answerOf(t *testing.T, s *Server, path string) []byte {
	t.Helper()
	r := httptest.NewRequest("GET", "http://localhost"+path, nil)
	r.Header.Set("Authorization", "Bearer "+testToken)
	w := over(s, r)
	if w.Code != 200 {
		t.Fatalf("%s: status %d, %s", path, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// A job that has just been stored, and whose segments are still in the spool, is listed once.
func TestStoredJobIsNoJob(t *testing.T) {
	store, spool := sampleStore(t)
	source := NewStore(store, spool.Dir)
	defer source.Close()
	before, err := source.List()
	if err != nil || len(before.Jobs) != 1 {
		t.Fatal(before, err)
	}
	name := before.Jobs[0].Name
	copyTo(t, filepath.Join(samples, "halo.efg"), store.RunFile(name))
	text := fmt.Sprintf(`{"version":1,"name":%q,"started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:06Z","ranks":3,"size":3,"complete":true}`, name)
	if err := os.WriteFile(filepath.Join(store.Dir, name+".json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := source.List()
	if err != nil || len(after.Jobs) != 0 || len(after.Runs) != len(before.Runs)+1 {
		t.Errorf("%+v, %v", after, err)
	}
}
