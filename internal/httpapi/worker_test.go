package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// workerVar tells a process of this test how to behave, and workerFile where to report it.
const (
	workerVar  = "EFG_TEST_WORKER"
	workerFile = "EFG_TEST_WORKER_FILE"
)

// worker is the behaviour of a worker in tests.
func worker(how string) int {
	if file := os.Getenv(workerFile); file != "" {
		note, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 3
		}
		fmt.Fprintln(note, os.Getpid())
		note.Close()
	}
	switch how {
	case "stay":
		answerAll(func() { time.Sleep(time.Hour) })
	case "eat": // all available memory
		answerAll(func() {
			for all := [][]byte{}; ; {
				b := make([]byte, 1<<20)
				for i := range b {
					b[i] = 1
				}
				all = append(all, b)
			}
		})
	case "die":
		fmt.Fprintln(os.Stderr, "broken")
		return 4
	case "killed":
		if unix.Kill(os.Getpid(), unix.SIGKILL) == nil {
			select {}
		}
	}
	if err := Work(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// answerAll replaces the answers to all requests.
func answerAll(do func()) {
	for path, q := range questions {
		questions[path] = question{q.params, func(*query) answerer {
			return func(*input, io.Writer) (string, error) { do(); return "", nil }
		}}
	}
}

// workers are processes of this test that behave in some way, for all runs.
func workers(t *testing.T, how string) (k *Workers, pids func() []int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pids")
	k = NewWorkers(func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "/proc/self/exe")
		cmd.Env = append(os.Environ(), workerVar+"="+how, workerFile+"="+file)
		return cmd
	})
	k.Nodes = 0
	return k, func() (list []int) {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, line := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, pid)
		}
		return list
	}
}

func served(t *testing.T, k *Workers) *Server {
	t.Helper()
	store, spool := sampleStore(t)
	s := New(Options{Runs: NewStore(store, spool.Dir), Token: testToken, Workers: k})
	t.Cleanup(s.Close)
	return s
}

func asked(ctx context.Context, s *Server, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://localhost"+path, nil).WithContext(ctx)
	r.Header.Set("Authorization", "Bearer "+testToken)
	return over(s, r)
}

// A worker answers every request as the server itself does, including invalid ones, and it is a
// worker that does.
func TestWorkersAnswerTheSame(t *testing.T) {
	k, pids := workers(t, "work")
	with, here := served(t, k), served(t, nil)
	worked := 0
	for _, path := range []string{
		"", "?streams=incomplete", "/report", "/report?by=rank&rank=1-3", "/report?rank=99", "/report?by=node", "/matrix", "/matrix?bins=3&collectives=1",
		"/matrix?from=1-2&to=0-3", "/ranks", "/ranks?count=2&order=-sent", "/graph?format=dot", "/graph?format=svg&colour=calls", "/graph?rank=77", "/loops", "/phases", "/check",
		"/diff", "/diff?ranks=0,1", "/diff?with=mesh", "/diff?ranks=1", "/where", "/nothing", "/diff?with=none",
	} {
		path = "/v1/runs/halo" + path
		a, b := asked(t.Context(), with, path), asked(t.Context(), here, path)
		if a.Code != b.Code || a.Body.String() != b.Body.String() || a.Header().Get("Content-Type") != b.Header().Get("Content-Type") {
			t.Errorf("%s: a worker answers %d %.200s, want %d %.200s", path, a.Code, a.Body, b.Code, b.Body)
		}
		if n := len(pids()); n > worked {
			worked = n
		} else if ofKept := strings.Contains(path, "from=") || strings.Contains(path, "order="); a.Code == http.StatusOK && !ofKept {
			t.Errorf("%s: no worker was asked", path)
		}
	}
	if asked(t.Context(), with, "/v1/runs/halo/report"); len(pids()) != worked {
		t.Error("an answer is not kept")
	}
}

// Small runs are processed by the server, large ones and many by workers.
func TestWorkersForLargeRuns(t *testing.T) {
	open := func(name string) *os.File {
		f, err := os.Open(filepath.Join(samples, name+".efg"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	halo, mesh := open("halo"), open("mesh")
	most := func(f *os.File) uint64 {
		for n := uint64(0); ; n++ {
			if !(&Workers{Nodes: n, Bytes: 1 << 30}).large([]*os.File{f}) {
				return n
			}
		}
	}
	a, b := most(halo), most(mesh)
	if a == 0 || b <= a {
		t.Errorf("%d and %d nodes and edges", a, b)
	}
	both := []*os.File{halo, mesh}
	if !(&Workers{Nodes: a + b - 1, Bytes: 1 << 30}).large(both) || (&Workers{Nodes: a + b, Bytes: 1 << 30}).large(both) {
		t.Error("the sum of two runs does not count")
	}
	if !(&Workers{Nodes: 1 << 30, Bytes: 100}).large(both) {
		t.Error("the size does not count")
	}
	var none *Workers
	if none.large(both) {
		t.Error("there is none")
	}
}

// awaitEnd waits until a process has ended.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); unix.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// The worker ends when its last client leaves.
func TestWorkerEndsWithClient(t *testing.T) {
	k, pids := workers(t, "stay")
	s := served(t, k)
	first, leaveFirst := context.WithCancel(t.Context())
	second, leaveSecond := context.WithCancel(t.Context())
	done := make(chan bool, 2)
	for _, ctx := range []context.Context{first, second} {
		go func() {
			asked(ctx, s, "/v1/runs/halo/check")
			done <- true
		}()
	}
	waited := func() int {
		s.answers.mu.Lock()
		defer s.answers.mu.Unlock()
		n := 0
		for _, m := range s.answers.making {
			n += m.asked
		}
		return n
	}
	for end := time.Now().Add(time.Minute); waited() < 2 || len(pids()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no worker begins")
		}
	}
	pid := pids()[0]
	leaveFirst()
	<-done
	if unix.Kill(pid, 0) != nil {
		t.Error("the worker has ended though someone waits")
	}
	leaveSecond()
	<-done
	awaitEnd(t, pid)
	if n := len(pids()); n != 1 {
		t.Errorf("%d workers for one question", n)
	}
}

// A worker that is killed, that fails, or that exceeds its memory or time causes one clear
// error, and others continue.
func TestWorkersFail(t *testing.T) {
	for how, want := range map[string]string{
		"killed": `422 {"error":"the answer takes more than its limit of 1024 MiB of memory; the command efg has no limit"}`,
		"eat":    `422 {"error":"the answer takes more than its limit of 192 MiB of memory; the command efg has no limit"}`,
		"die":    `500 {"error":"the worker process failed: exit status 4: broken"}`,
		"stay":   `422 {"error":"the answer takes more than 200ms; the command efg has no limit"}`,
	} {
		t.Run(how, func(t *testing.T) {
			k, pids := workers(t, how)
			switch how {
			case "stay":
				k.Time = 200 * time.Millisecond
			case "eat":
				k.Memory = 192 << 20
			}
			s := served(t, k)
			a := asked(t.Context(), s, "/v1/runs/halo/check")
			if got := fmt.Sprintf("%d %s", a.Code, strings.TrimSpace(a.Body.String())); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			for _, pid := range pids() {
				awaitEnd(t, pid)
			}
			k.Nodes = SmallNodes
			if b := asked(t.Context(), s, "/v1/runs/halo/check"); b.Code != http.StatusOK {
				t.Errorf("afterwards: %d %s", b.Code, b.Body)
			}
		})
	}
}

// While the maximum number of workers are working, small requests are answered, and a client
// that needs another worker waits.
func TestWorkersAtOnce(t *testing.T) {
	k, pids := workers(t, "stay")
	s := served(t, k)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan bool)
	paths := []string{"/report", "/check", "/loops", "/phases"}
	for _, path := range paths {
		go func() {
			asked(ctx, s, "/v1/runs/halo"+path)
			done <- true
		}()
	}
	for end := time.Now().Add(time.Minute); len(pids()) < maxWorkers; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no worker begins")
		}
	}
	if a := asked(t.Context(), s, "/v1/runs"); a.Code != http.StatusOK {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if n := len(pids()); n != maxWorkers {
		t.Errorf("%d workers at once", n)
	}
	leave()
	for range paths {
		<-done
	}
	for _, pid := range pids() {
		awaitEnd(t, pid)
	}
}

// A worker whose server is killed also ends.
func TestWorkerEndsWithServer(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), workerVar+"=stay")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(samples, "halo.efg"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	told, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	cmd.ExtraFiles = []*os.File{tell, file}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tell.Close()
	if err := json.NewEncoder(in).Encode(task{Path: "/check", Names: []string{"halo"}}); err != nil {
		t.Fatal(err)
	}
	in.Close() // as the kernel does
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
}

// Workers count the calls of large runs like the server.
func TestWorkersCount(t *testing.T) {
	store, spool := sampleStore(t)
	source := NewStore(store, spool.Dir)
	counted := func(k *Workers) (list []string) {
		m := NewMetrics(source)
		m.Workers = k
		if err := m.count(t.Context(), store.RunFile("halo")); err != nil {
			t.Fatal(err)
		}
		families, err := m.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if strings.HasPrefix(f.GetName(), "efg_procedure_") {
				list = append(list, f.String())
			}
		}
		return list
	}
	k, pids := workers(t, "work")
	with, here := counted(k), counted(nil)
	strip := regexp.MustCompile(`created_timestamp:\{[^}]*\}`)
	for i := range with {
		with[i], here[i] = strip.ReplaceAllString(with[i], ""), strip.ReplaceAllString(here[i], "")
	}
	if len(here) != 3 || !slices.Equal(with, here) || len(pids()) != 1 {
		t.Errorf("%d workers count\n%v\nwant\n%v", len(pids()), with, here)
	}
}
