package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/efg-tools/efg/hook"
)

// foregroundBuild builds a hook while the user waits: a terminal shows the progress, and a
// signal ends it.
type foregroundBuild struct {
	hook.Options
	progress *progress
	ctx      context.Context // of the build; done after a signal
	cancel   context.CancelCauseFunc
	signals  chan os.Signal
	ended    chan struct{}
}

func newForegroundBuild(errOut io.Writer) *foregroundBuild {
	b := &foregroundBuild{progress: newProgress(errOut, "files compiled", 0), signals: make(chan os.Signal, 1), ended: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	b.Options = hook.Options{Log: errOut, Progress: func(done, total int) {
		b.progress.total = uint64(total)
		b.progress.show(uint64(done))
		if done == total {
			b.progress.close()
		}
	}}
	heeded := slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	if len(heeded) > 0 {
		signal.Notify(b.signals, heeded...)
	}
	go func() {
		select {
		case s := <-b.signals:
			b.cancel(&exitError{128 + int(s.(syscall.Signal)), &signalError{s}})
		case <-b.ended:
		}
	}()
	return b
}

// signalError reports that a signal has ended a build.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return e.signal.String() + " while the hook was being built" }

// find finds the hook for a command, and builds the parts that the command is known to need.
func (b *foregroundBuild) find(command []string) (*hook.Hook, error) {
	h, err := hook.FindFor(b.ctx, b.Options, command)
	if err == nil {
		err = h.BuildFront(b.ctx)
	}
	if err == nil {
		err = h.BuildFor(b.ctx, command)
	}
	if err != nil {
		return nil, b.problem(err)
	}
	return h, nil
}

// end restores the handling of signals.
func (b *foregroundBuild) end() {
	signal.Stop(b.signals)
	close(b.ended)
	b.progress.close()
	b.progress.out = nil // the terminal now belongs to the program
}

// problem returns an error of a build in the form reported to the user: after a signal, the
// signal is the cause.
func (b *foregroundBuild) problem(err error) error {
	if cause := context.Cause(b.ctx); cause != nil {
		return cause
	}
	return hookProblem(err)
}

// hookProblem turns a missing compiler, or an MPI that is not supported, into an error of
// status 2.
func hookProblem(err error) error {
	var missing *hook.MissingError
	var unsupported *hook.UnsupportedError
	if errors.As(err, &missing) || errors.As(err, &unsupported) {
		return &exitError{2, err}
	}
	return err
}

// backgroundBuild finds and builds a hook while a daemon runs, and reports which parts exist.
type backgroundBuild struct {
	ctx    context.Context // of the builds; done when they must end
	opt    hook.Options
	cancel context.CancelFunc

	mu      sync.Mutex
	work    sync.WaitGroup
	begun   bool
	running bool
	backs   []hook.Back
	done    bool  // all back ends exist in backs, and have not been reported yet
	err     error // of the last build, until it has been reported
}

func newBackgroundBuild(ctx context.Context, errOut io.Writer) *backgroundBuild {
	b := &backgroundBuild{}
	b.ctx, b.cancel = context.WithCancel(ctx)
	b.opt = hook.Options{Log: errOut, Built: func(back hook.Back) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.backs = append(b.backs, back)
	}}
	return b
}

// end stops a running build, and waits until it has ended.
func (b *backgroundBuild) end() {
	b.cancel()
	b.work.Wait()
}

// now returns the existing back ends, and whether more are being built: it starts building the
// missing ones. It is an error if there are none and none can be built. The first call returns
// immediately, because identifying the compilers also takes time, in which programs may start.
func (b *backgroundBuild) now() (backs []hook.Back, building bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begun {
		b.begun, b.running = true, true
		b.work.Go(b.first)
	}
	if err := b.err; err != nil {
		b.err = nil
		return nil, false, hookProblem(err)
	}
	if b.running || b.done {
		b.done = false
		return slices.Clone(b.backs), b.running, nil
	}
	h, all, err := b.find()
	if err != nil {
		return nil, false, hookProblem(err)
	}
	b.backs = slices.Clone(h.Backs)
	if !all {
		b.running = true
		b.work.Go(func() { b.finish(build(b.ctx, h)) })
	}
	return slices.Clone(b.backs), b.running, nil
}

// find returns the hook, and whether everything that can be built of it exists.
func (b *backgroundBuild) find() (h *hook.Hook, all bool, err error) {
	if h, err = hook.Find(b.ctx, b.opt); err != nil || h.Front == "" || h.Missing() {
		return h, false, err
	}
	if err := h.BuildBacks(b.ctx); err != nil { // it has failed before
		return nil, false, err
	}
	b.keepReader()
	return h, true, nil
}

// first finds the hook, and builds its missing parts.
func (b *backgroundBuild) first() {
	h, all, err := b.find()
	if err == nil {
		b.mu.Lock()
		b.backs = slices.Clone(h.Backs)
		b.mu.Unlock()
		if !all {
			err = build(b.ctx, h)
		}
	}
	b.finish(err)
}

// finish records that a build has ended.
func (b *backgroundBuild) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.done, b.err = false, err == nil, err
}

// build builds the missing parts of a hook.
func build(ctx context.Context, h *hook.Hook) error {
	if err := h.BuildFront(ctx); err != nil {
		return err
	}
	return h.BuildBacks(ctx)
}

// keepReader keeps this program for later versions, if possible.
func (b *backgroundBuild) keepReader() {
	if err := keepReader(); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) { // the cache may belong to others
		fmt.Fprintln(b.opt.Log, "efg: no copy of this program for later versions:", err)
	}
}
