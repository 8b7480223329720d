package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// cleanups are functions to be called at the end, even if a signal ends the program.
type cleanups struct {
	mu   sync.Mutex
	list []*cleanup
}

type cleanup struct {
	once sync.Once
	do   func()
}

// atEnd arranges that do is called once: when the returned function is called, or when a signal
// ends the program.
func (c *cleanups) atEnd(do func()) (now func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := &cleanup{do: do}
	c.list = append(c.list, x)
	return func() {
		x.once.Do(x.do)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = slices.DeleteFunc(c.list, func(y *cleanup) bool { return x == y })
	}
}

// onSignals ends the program when it is interrupted or terminated; the last cleanup runs first.
func (c *cleanups) onSignals() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-signals
		fmt.Fprintln(os.Stderr, "bench:", s)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, x := range slices.Backward(c.list) {
			x.once.Do(x.do)
		}
		os.Exit(1)
	}()
}
