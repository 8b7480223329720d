package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// cleanups are what is to be done at the end, also if that comes with a signal.
type cleanups struct {
	mu   sync.Mutex
	list []*cleanup
}

type cleanup struct {
	once sync.Once
	do   func()
}

// atEnd sees to it that something is done once: when what it returns is called, or when a
// signal ends the program.
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

// onSignals ends the program when it is interrupted or terminated, the last thing that was
// begun first.
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
