package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/efg-tools/efg/efg/runfile"
)

// Workers answer requests about large runs in separate processes, with the same answers: their
// memory and time do not burden the server, and they end when the client disconnects.
type Workers struct {
	// Command returns the command that calls Work.
	Command func(ctx context.Context) *exec.Cmd
	// Memory is the memory limit of a worker in bytes.
	Memory int64
	// Time is the time limit of a worker.
	Time time.Duration
	// Nodes and Bytes are the limits of the number of nodes and edges of all streams, and of
	// the file sizes, up to which this process answers.
	Nodes uint64
	Bytes int64

	once  sync.Once
	turns *semaphore.Weighted
}

// Bounds of workers, unless others are set, and the number of simultaneous ones.
const (
	WorkerMemory = 1 << 30
	WorkerTime   = 5 * time.Minute
	SmallNodes   = 40 << 10
	SmallBytes   = 4 << 20
	maxWorkers   = 2
)

// NewWorkers returns workers that are started by a command, with default limits.
func NewWorkers(command func(ctx context.Context) *exec.Cmd) *Workers {
	return &Workers{Command: command, Memory: WorkerMemory, Time: WorkerTime, Nodes: SmallNodes, Bytes: SmallBytes}
}

// task is the input of a worker. The files concerned are its descriptors from firstFile on.
type task struct {
	Path   string   `json:"path"` // of the question, see taskOf
	Query  string   `json:"query"`
	Names  []string `json:"names"` // of the files
	Memory int64    `json:"memory"`
	// Corrections are how the times of the runs are corrected, see corrections; null if none is known.
	Corrections [][]byte `json:"corrections"`
}

// outcome is what a worker reports at the end, through the descriptor outcomeFile; the answer
// itself it writes to standard output.
type outcome struct {
	Type   string `json:"type"`
	Status int    `json:"status,omitempty"` // of a statusError
	Error  string `json:"error,omitempty"`
}

const (
	outcomeFile = 3
	firstFile   = 4
)

// large reports whether a request about runs is for a worker. Unreadable runs are not: the
// answer says so.
func (k *Workers) large(files []*os.File) bool {
	if k == nil {
		return false
	}
	var nodes uint64
	var size int64
	for _, f := range files {
		fi, err := f.Stat()
		if err != nil {
			return false
		}
		if size += fi.Size(); size > k.Bytes {
			return true
		}
		o, err := runfile.ReadOutline(f, fi.Size())
		if err != nil {
			return false
		}
		if n := o.Most(); n > k.Nodes-min(nodes, k.Nodes) {
			return true
		}
		nodes += o.Most()
	}
	return false
}

// answer lets a worker answer a request. It ends the worker when the context is done.
func (k *Workers) answer(ctx context.Context, t task, files []*os.File, w io.Writer) (contentType string, err error) {
	k.once.Do(func() { k.turns = semaphore.NewWeighted(maxWorkers) })
	if err := k.turns.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer k.turns.Release(1)
	limited, cancel := context.WithTimeoutCause(ctx, k.Time, errTooLong)
	defer cancel()
	t.Memory = k.Memory
	o, err := k.run(limited, t, files, w)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(context.Cause(limited), errTooLong):
		return "", &statusError{http.StatusUnprocessableEntity, fmt.Sprintf("the answer takes more than %v; the command efg has no limit", k.Time)}
	case err != nil:
		return "", err
	case o.Status != 0:
		return "", &statusError{o.Status, o.Error}
	case o.Error != "":
		return "", errors.New(o.Error)
	}
	return o.Type, nil
}

var errTooLong = errors.New("too long")

// run runs a worker. While it works its standard input stays open: when it is closed, the
// client is gone, however that went.
func (k *Workers) run(ctx context.Context, t task, files []*os.File, w io.Writer) (*outcome, error) {
	told, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer told.Close()
	cmd := k.Command(ctx)
	var said limitedBuffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w, &said, time.Second
	cmd.ExtraFiles = append([]*os.File{tell}, files...)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	tell.Close()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	_ = json.NewEncoder(in).Encode(t) // if it fails the worker has ended, and the reason is reported below
	var o outcome
	none := json.NewDecoder(io.LimitReader(told, 1<<20)).Decode(&o)
	if err := cmd.Wait(); err != nil || none != nil {
		return nil, k.failure(err, said.Bytes())
	}
	return &o, nil
}

// lacksMemory are what the Go runtime says if there is no memory: for data, or for another thread.
var lacksMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"}

// failure returns the reason why a worker has not answered. The Go runtime reports a lack of
// memory on standard error; the system just kills the process.
func (k *Workers) failure(err error, said []byte) error {
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && !exit.Exited()
	if killed || slices.ContainsFunc(lacksMemory, func(text string) bool { return bytes.Contains(said, []byte(text)) }) {
		return &statusError{http.StatusUnprocessableEntity, fmt.Sprintf("the answer takes more than its limit of %d MiB of memory; the command efg has no limit", k.Memory>>20)}
	}
	return fmt.Errorf("the worker process failed: %v: %s", err, bytes.TrimSpace(said))
}

// limitedBuffer keeps the beginning of what is written.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	const most = 4096
	b.Buffer.Write(p[:min(len(p), most-min(b.Len(), most))])
	return len(p), nil
}

// Work, in a process of Workers, answers the request that it reads from in, to out.
func Work(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	var t task
	if err := decoder.Decode(&t); err != nil {
		return fmt.Errorf("no task: %w", err)
	}
	go func() {
		io.Copy(io.Discard, in) // nothing arrives; it ends with the client
		os.Exit(1)
	}()
	limitSelf(t.Memory)
	var o outcome
	var err error
	if o.Type, err = t.answer(out); err != nil {
		var known *statusError
		if errors.As(err, &known) {
			o.Status = known.status
		}
		o.Error = err.Error()
	}
	return json.NewEncoder(os.NewFile(outcomeFile, "outcome")).Encode(o)
}

// answer answers.
func (t *task) answer(out io.Writer) (contentType string, err error) {
	values, err := url.ParseQuery(t.Query)
	if err != nil {
		return "", err
	}
	q := &query{values: values}
	answer, err := taskOf(t.Path, q)
	if err == nil {
		err = q.err
	}
	if err != nil {
		return "", err
	}
	var files []*os.File
	for i, name := range t.Names {
		files = append(files, os.NewFile(uintptr(firstFile+i), name))
	}
	in, err := inputs(context.Background(), t.Names, files, t.Corrections)
	if err != nil {
		return "", err
	}
	return answer(in, out)
}

// taskOf returns the answerer of a request, or of the whole of which the answer is a part.
func taskOf(path string, q *query) (answerer, error) {
	if newWhole, ok := wholes[path]; ok {
		p := newWhole(q)
		return p.encode, nil
	}
	ask, ok := questions[path]
	switch path {
	case wherePath:
		ask, ok = whereQuestion, true
	case correctionPath:
		ask, ok = correctionQuestion, true
	case fleetPath:
		ask, ok = fleetQuestion, true
	}
	if !ok {
		return nil, fmt.Errorf("no question %q", path)
	}
	return atSiteDepth(ask, q, ask.prepare(q)), nil
}
