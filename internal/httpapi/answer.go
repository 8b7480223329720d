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

// answer is the compressed answer to a request.
type answer struct {
	contentType string
	zipped      []byte
	tag         string // ETag; "" if the same request may be answered differently later
}

const (
	// keptBytes limits the total compressed size of cached answers, keptAnswer that of each.
	keptBytes  = 16 << 20
	keptAnswer = keptBytes / 4
	// atOnce is how many requests are processed at a time, and maxAsked the maximum number
	// including waiting ones.
	atOnce   = 2
	maxAsked = 64
)

// maker writes the content of an answer, and reports whether it is final: then it is cached. It
// may stop when the context is done.
type maker func(ctx context.Context, w io.Writer) (contentType string, stays bool, err error)

// answers computes answers, a few at a time, each only once at a time, and caches some.
type answers struct {
	turns *semaphore.Weighted

	mu     sync.Mutex
	making map[string]*pendingAnswer
	kept   *simplelru.LRU[string, *answer]
	size   int
	giving bool // memory is being released
}

// pendingAnswer is an answer that is being computed.
type pendingAnswer struct {
	asked  int // number of clients that wait for it
	cancel context.CancelFunc
	done   chan struct{} // closed when answer and err are set
	answer *answer
	err    error
}

func newAnswers() *answers {
	a := &answers{turns: semaphore.NewWeighted(atOnce), making: map[string]*pendingAnswer{}}
	a.kept, _ = simplelru.NewLRU(1<<16, func(_ string, x *answer) { a.size -= len(x.zipped) }) // it fails only for invalid sizes
	return a
}

// errBusy: too many requests are waiting.
var errBusy = &statusError{http.StatusServiceUnavailable, "too many requests at once; try again later"}

// get returns the answer for a key, from the cache or computed. The key of a cached one is its
// ETag. The computation continues as long as a client waits for it.
func (a *answers) get(ctx context.Context, key string, content maker) (*answer, error) {
	m, err := a.join(key, content)
	if err != nil {
		return nil, err
	}
	select {
	case <-m.done:
		return m.answer, m.err
	case <-ctx.Done():
		a.leave(key, m)
		return nil, ctx.Err()
	}
}

// has reports whether an answer is cached.
func (a *answers) has(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept.Contains(key)
}

// join finds an answer, or starts to compute it.
func (a *answers) join(key string, content maker) (*pendingAnswer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x, ok := a.kept.Get(key); ok {
		return &pendingAnswer{answer: x, done: closed}, nil
	}
	m := a.making[key]
	if m == nil {
		if len(a.making) >= maxAsked {
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

// leave cancels an answer that no client waits for any longer. It takes a while to stop: who asks
// meanwhile gets a new one.
func (a *answers) leave(key string, m *pendingAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.asked--; m.asked == 0 {
		m.cancel()
		a.forget(key, m)
	}
}

// forget removes an answer from those that requests can join. The caller holds mu.
func (a *answers) forget(key string, m *pendingAnswer) {
	if a.making[key] == m {
		delete(a.making, key)
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
	a.forget(key, m)
	if len(a.making) == 0 {
		a.giveBack()
	}
	if m.err == nil && m.answer.tag != "" {
		a.keep(key, m.answer)
	}
	close(m.done)
}

// aside gives up the turn of a request that only waits. It returns a function that waits for a
// turn again.
func (a *answers) aside() func() {
	a.turns.Release(1)
	return func() { a.turns.Acquire(context.Background(), 1) } // this does not fail
}

// muchMemory is how much memory the heap may hold between requests.
const muchMemory = 64 << 20

// giveBack returns memory to the system after a large run: the daemon runs for days.
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
	if len(x.zipped) > keptAnswer || a.kept.Contains(key) {
		return
	}
	a.kept.Add(key, x)
	for a.size += len(x.zipped); a.size > keptBytes; {
		a.kept.RemoveOldest()
	}
}

// compress computes an answer, with a tag if it is final. A failure, even a panic, becomes its
// error.
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
