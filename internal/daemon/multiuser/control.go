package multiuser

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// What a child tells the service on its pipe, one word per line. The pipe is closed, and the
// child ends, when the service wants it to or is gone.
const (
	sayReady = "ready" // it records
	sayBusy  = "busy"  // there is something to record, to store or to answer
	sayIdle  = "idle"  // there is not
	sayWorks = "works" // it does not hang
)

// Exit statuses of a child.
const (
	StatusAgain = 75 // something new appeared while it was ending: another child is needed
	StatusTaken = 76 // another daemon, started by the user, uses the spool or the store
)

// Descriptors that a child is given.
const (
	controlFD = 3
	listenFD  = 4
)

// beat is the minimum interval between a child's reports that it works.
const beat = time.Minute

// Child is the child's side of the connection to the service.
type Child struct {
	// Asked is the listener for requests.
	Asked net.Listener

	control *os.File
	mu      sync.Mutex
	busy    bool
	said    bool // occupied was reported
	beaten  time.Time
}

// NewChild takes over the descriptors that the service has passed to this process. The context
// is done when the service wants the child to end.
func NewChild(ctx context.Context) (*Child, context.Context, error) {
	c := &Child{control: os.NewFile(controlFD, "control")}
	file := os.NewFile(listenFD, "questions")
	defer file.Close()
	var err error
	if c.Asked, err = net.FileListener(file); err != nil {
		return nil, nil, err
	}
	ctx, end := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, c.control)
		end()
	}()
	return c, ctx, nil
}

// Ready: programs are recorded.
func (c *Child) Ready() { c.say(sayReady) }

// Works is called repeatedly.
func (c *Child) Works(now time.Time) {
	c.mu.Lock()
	due := now.Sub(c.beaten) >= beat
	if due {
		c.beaten = now
	}
	c.mu.Unlock()
	if due {
		c.say(sayWorks)
	}
}

// Occupied tells the service whether there is anything to do, if that has changed.
func (c *Child) Occupied(busy bool) {
	c.mu.Lock()
	news := !c.said || busy != c.busy
	c.busy, c.said = busy, true
	c.mu.Unlock()
	switch {
	case news && busy:
		c.say(sayBusy)
	case news:
		c.say(sayIdle)
	}
}

// say tells the service; if it is gone, the context ends.
func (c *Child) say(word string) { c.control.WriteString(word + "\n") }

// pause is how long the service ignores a child after each word.
const pause = 10 * time.Millisecond

// listen reads what a child says until the pipe ends, or until something that is not one of the
// words: the child may belong to a hostile user.
func listen(r io.Reader, heard func(word string)) {
	for lines := bufio.NewScanner(r); lines.Scan(); time.Sleep(pause) {
		switch word := lines.Text(); word {
		case sayReady, sayBusy, sayIdle, sayWorks:
			heard(word)
		default:
			return
		}
	}
}
