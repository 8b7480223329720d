package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/semaphore"
)

// answer is what a question is answered with, compressed.
type answer struct {
	contentType string
	zipped      []byte
	tag         string // ETag; "": the same question may be answered otherwise
}

const (
	// keptBytes bounds what all kept answers have together, compressed, and keptAnswer
	// each.
	keptBytes  = 16 << 20
	keptAnswer = keptBytes / 4
	// atOnce is how many questions are worked on at once, and mostAsked how many there
	// may be, those that wait for their turn included.
	atOnce    = 2
	mostAsked = 64
)

// maker makes the content of an answer, and reports whether it stays so: then it is kept.
// It may stop when the context ends.
type maker func(ctx context.Context, w io.Writer) (contentType string, stays bool, err error)

// answers makes answers, a few at once, none twice at the same time, and keeps some.
type answers struct {
	turns *semaphore.Weighted

	mu     sync.Mutex
	making map[string]*pendingAnswer
	kept   *simplelru.LRU[string, *answer]
	size   int
	giving bool // memory is being given back
}

// pendingAnswer is an answer that is being made.
type pendingAnswer struct {
	asked  int // who wait for it
	cancel context.CancelFunc
	done   chan struct{} // closed when answer and err are there
	answer *answer
	err    error
}

func newAnswers() *answers {
	a := &answers{turns: semaphore.NewWeighted(atOnce), making: map[string]*pendingAnswer{}}
	a.kept, _ = simplelru.NewLRU(1<<16, func(_ string, x *answer) { a.size -= len(x.zipped) }) // fails for no size only
	return a
}

// errBusy: too many questions wait.
var errBusy = &statusError{http.StatusServiceUnavailable, "too many requests at once; try again later"}

// get returns the answer to the question that a key stands for, kept or made. The key of
// one that is kept is its ETag. Making it goes on as long as anybody waits for it.
func (a *answers) get(ctx context.Context, key string, content maker) (*answer, error) {
	m, err := a.join(key, content)
	if err != nil {
		return nil, err
	}
	select {
	case <-m.done:
		return m.answer, m.err
	case <-ctx.Done():
		a.leave(m)
		return nil, ctx.Err()
	}
}

// join finds an answer, or begins to make it.
func (a *answers) join(key string, content maker) (*pendingAnswer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x, ok := a.kept.Get(key); ok {
		return &pendingAnswer{answer: x, done: closed}, nil
	}
	m := a.making[key]
	if m == nil {
		if len(a.making) >= mostAsked {
			return nil, errBusy
		}
		m = &pendingAnswer{done: newDone()}
		var ctx context.Context
		ctx, m.cancel = context.WithCancel(context.Background())
		a.making[key] = m
		go a.work(ctx, key, m, content)
	}
	m.asked++
	return m, nil
}

var closed = func() chan struct{} { c := newDone(); close(c); return c }()

func newDone() chan struct{} { return make(chan struct{}) }

func (a *answers) leave(m *pendingAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.asked--; m.asked == 0 {
		m.cancel()
	}
}

func (a *answers) work(ctx context.Context, key string, m *pendingAnswer, content maker) {
	defer m.cancel()
	if m.err = a.turns.Acquire(ctx, 1); m.err == nil {
		m.answer, m.err = compress(ctx, key, content)
		a.turns.Release(1)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.making, key)
	if len(a.making) == 0 {
		a.giveBack()
	}
	if m.err == nil && m.answer.tag != "" {
		a.keep(key, m.answer)
	}
	close(m.done)
}

// aside lets others be worked on while a question that has its turn only waits. It returns
// what waits for a turn again.
func (a *answers) aside() func() {
	a.turns.Release(1)
	return func() { a.turns.Acquire(context.Background(), 1) } // it does not fail
}

// muchMemory is what the heap may have of the system's memory between questions.
const muchMemory = 64 << 20

// giveBack gives memory back that a large run has taken: the daemon goes on for days.
func (a *answers) giveBack() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys-m.HeapReleased > muchMemory && !a.giving {
		a.giving = true
		go func() {
			debug.FreeOSMemory()
			a.mu.Lock()
			defer a.mu.Unlock()
			a.giving = false
		}()
	}
}

func (a *answers) keep(key string, x *answer) {
	if len(x.zipped) > keptAnswer {
		return
	}
	a.kept.Add(key, x)
	for a.size += len(x.zipped); a.size > keptBytes; {
		a.kept.RemoveOldest()
	}
}

// compress makes an answer, with a tag if it stays. What goes wrong in it is its error, and ends nothing else.
func compress(ctx context.Context, tag string, content maker) (x *answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("broken: %v\n%s", p, debug.Stack())
		}
	}()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	x = &answer{}
	stays := false
	if x.contentType, stays, err = content(ctx, z); err != nil {
		return nil, err
	}
	if stays {
		x.tag = tag
	}
	err = z.Close()
	x.zipped = bytes.Clone(b.Bytes())
	return x, err
}
