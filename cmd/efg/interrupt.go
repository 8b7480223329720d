package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Signals that are meant for the program, not for efg.
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// ending are those that end a process that does not handle them.
var ending = forwarded[:4]

// heldSignals take no effect while they are held: the program receives them while it runs, and
// the run file is not lost to them afterwards.
type heldSignals chan os.Signal

// holdSignals holds signals from now on. One that was ignored when efg started (nohup) remains
// ignored, by efg and by the command.
func holdSignals() heldSignals {
	h := make(heldSignals, 16)
	signal.Notify(h, slices.DeleteFunc(slices.Clone(forwarded), signal.Ignored)...)
	return h
}

func (h heldSignals) release() { signal.Stop(h) }

func statusOf(s os.Signal) int { return 128 + int(s.(syscall.Signal)) }

// maxSignals is the number of signals after which writing the run file is given up.
const maxSignals = 3

// interruptedError reports that the user interrupted writing the run file.
type interruptedError struct{ signal os.Signal }

func (e *interruptedError) Error() string {
	return fmt.Sprintf("gave up at the third signal (%v)", e.signal)
}

// hold runs work to its end. Signals do not interrupt it, but the third one makes hold return:
// the process is then about to end. Earlier ones are passed to say.
func (h heldSignals) hold(work func() error, say func(left int)) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	left := maxSignals
	for {
		select {
		case err := <-done:
			return err
		case s := <-h:
			if !slices.Contains(ending, s) {
				continue
			}
			if left--; left == 0 {
				return &interruptedError{s}
			}
			say(left)
		}
	}
}
