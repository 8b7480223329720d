package merge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// own reports whether a chunk belongs to this worker.
func (m *merger) own(c *chunk) bool { return c.number%m.opt.Workers == m.opt.Worker }

// ownChunks makes the chunks of this worker.
func (m *merger) ownChunks() error {
	for i := range m.plan.chunks {
		if c := &m.plan.chunks[i]; m.own(c) {
			if err := m.ensure(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// help is any worker except 0: it makes its chunks and is done.
func (m *merger) help() error {
	if !slices.ContainsFunc(m.plan.chunks, func(c chunk) bool { return m.own(&c) && !c.isPart() }) {
		return nil
	}
	if !m.awaitDir() {
		m.log("worker %d has nothing to do: worker 0 is not running, or has finished", m.opt.Worker)
		return nil
	}
	stop, err := m.live()
	if err == nil {
		os.Remove(m.workerFile("failed", m.opt.Worker))
		err = m.ownChunks()
		stop()
	}
	if err == nil || m.isGone() {
		return nil // if it is gone, worker 0 has done everything itself
	}
	os.WriteFile(m.workerFile("failed", m.opt.Worker), nil, 0o666)
	return err
}

// awaitDir waits for worker 0 to create the work directory. A worker that starts when
// everything is done would otherwise start over.
func (m *merger) awaitDir() bool {
	for until := time.Now().Add(m.opt.timing.first); ; time.Sleep(m.opt.timing.poll) {
		if m.findWorkDir() {
			return true
		}
		if time.Now().After(until) {
			return false
		}
	}
}

func (m *merger) isGone() bool {
	_, err := os.Stat(m.work)
	return errors.Is(err, fs.ErrNotExist)
}

// live writes heartbeats until stop is called.
func (m *merger) live() (stop func(), err error) {
	name := m.workerFile("alive", m.opt.Worker)
	if err := os.WriteFile(name, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o666); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	quit := make(chan struct{})
	wg.Go(func() {
		tick := time.NewTicker(m.opt.timing.touch)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				os.Chtimes(name, now, now)
			case <-quit:
				return
			}
		}
	})
	return func() { close(quit); wg.Wait() }, nil
}

// leadChunks makes the chunks of worker 0, waits for those of the others, and makes those of
// workers that do not work.
func (m *merger) leadChunks() error {
	if err := m.ownChunks(); err != nil {
		return err
	}
	w := &watch{m: m, changed: map[int]time.Time{}, since: map[int]time.Time{}, began: time.Now()}
	for i := range m.plan.chunks {
		c := &m.plan.chunks[i]
		worker := c.number % m.opt.Workers
		for !m.own(c) && !m.isDirect(c) {
			if _, ok := m.finished(c); ok {
				break
			}
			if w.isDead(worker) {
				m.log("worker %d does not take part: worker 0 does its share", worker)
				if err := m.ensure(c); err != nil {
					return err
				}
				break
			}
			time.Sleep(m.opt.timing.poll)
		}
	}
	return nil
}

// watch tracks the heartbeats of workers. It compares only times of one clock, so the clocks of
// machines may differ.
type watch struct {
	m       *merger
	began   time.Time
	changed map[int]time.Time // time of the last heartbeat, by its writer's clock
	since   map[int]time.Time // when that was seen, by the local clock
}

// isDead reports whether a worker has given up, or has been silent for too long.
func (w *watch) isDead(worker int) bool {
	if _, err := os.Stat(w.m.workerFile("failed", worker)); err == nil {
		return true
	}
	now := time.Now()
	if at, err := changedAt(w.m.workerFile("alive", worker)); err == nil && !at.Equal(w.changed[worker]) {
		w.changed[worker], w.since[worker] = at, now
	}
	last, ok := w.since[worker]
	if !ok {
		last = w.began
	}
	return now.Sub(last) > w.m.opt.timing.stale
}

// changedAt returns the modification time of a file; opening it makes network file systems
// refresh it.
func changedAt(path string) (time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return st.ModTime(), nil
}
