package match

// channelKind distinguishes what is matched in order between two processes.
type channelKind uint8

const (
	messages    channelKind = iota
	exposures               // MPI_Win_post and MPI_Win_start
	completions             // MPI_Win_complete and MPI_Win_wait
)

// channelKey is what messages are matched by. from and to are ranks in the run, comm is a
// communicator or window.
type channelKey struct {
	from, to  int32
	kind      channelKind
	comm, tag uint64
}

// channel has the operations that have no counterpart yet: of one side only. Its first 64 bytes are
// what matching needs.
type channel struct {
	to       *Process
	sends    fifo
	receives fifo
	probes   []*Operation // that wait for a message
	key      channelKey
	pinned   bool // a node knows it
}

// fifo are operations in the order in which they were posted.
type fifo struct{ first, last *Operation }

func (f *fifo) push(o *Operation) {
	o.next = nil
	if f.first == nil {
		f.first = o
	} else {
		f.last.next = o
	}
	f.last = o
}

func (f *fifo) pop() *Operation {
	o := f.first
	if o != nil {
		f.first = o.next
	}
	return o
}

func (f *fifo) remove(o *Operation) {
	var before *Operation
	for x := f.first; x != nil; before, x = x, x.next {
		switch {
		case x != o:
			continue
		case before == nil:
			f.first = o.next
		default:
			before.next = o.next
		}
		if f.last == o {
			f.last = before
		}
		return
	}
}

func (f *fifo) empty() bool { return f.first == nil }

// channel returns a channel between processes of the run, nil if one of them is not in it.
func (m *matcher) channel(k channelKey) *channel {
	c := m.channels[k]
	if c != nil {
		return c
	}
	to := m.trace.byRank[int(k.to)]
	if to == nil || m.trace.byRank[int(k.from)] == nil {
		return nil
	}
	if last := len(m.spare) - 1; last >= 0 {
		c, m.spare = m.spare[last], m.spare[:last]
	} else {
		c = &channel{}
	}
	c.key, c.to = k, to
	m.channels[k] = c
	return c
}

// tidy removes a channel without open operations.
func (m *matcher) tidy(c *channel) {
	if !c.pinned && c.sends.empty() && c.receives.empty() && len(c.probes) == 0 {
		delete(m.channels, c.key)
		m.spare = append(m.spare, c)
	}
}

// send adds what is sent on a channel.
func (m *matcher) send(c *channel, o *Operation) {
	o.channel = c
	if c == nil {
		m.summary.Outside++
		return
	}
	if c.key.kind == messages {
		c.to.depart(o)
	}
	for _, p := range c.probes {
		p.Partner = o
		m.wake(p)
	}
	c.probes = c.probes[:0]
	if r := c.receives.pop(); r != nil {
		m.pair(o, r)
		m.tidy(c)
		return
	}
	c.sends.push(o)
}

// receive adds a receive on a channel.
func (m *matcher) receive(c *channel, o *Operation) {
	o.channel = c
	if c == nil {
		m.summary.Outside++
		return
	}
	if s := c.sends.pop(); s != nil {
		m.pair(s, o)
		m.tidy(c)
		return
	}
	c.receives.push(o)
}

func (m *matcher) pair(send, receive *Operation) {
	send.Partner, receive.Partner = receive, send
	if send.channel.key.kind == messages {
		m.summary.Messages++
		if receive.done {
			send.channel.to.arrive(send)
		}
	}
	m.wake(receive)
}

// wake releases the thread that is held back for an operation.
func (m *matcher) wake(o *Operation) {
	if o.waiter != nil {
		m.release(o.waiter)
		o.waiter = nil
	}
}

// depart adds a message to those in flight to a process, which are in the order of time: it may have been
// sent before some that were added earlier.
func (p *Process) depart(o *Operation) {
	before, after := p.newest, (*Operation)(nil)
	for before != nil && before.Enter > o.Enter {
		before, after = before.older, before
	}
	o.inFlight, o.older, o.newer = true, before, after
	if before != nil {
		before.newer = o
	} else {
		p.oldest = o
	}
	if after != nil {
		after.older = o
	} else {
		p.newest = o
	}
}

// arrive removes a message from them.
func (p *Process) arrive(o *Operation) {
	if !o.inFlight {
		return
	}
	if o.older != nil {
		o.older.newer = o.newer
	} else {
		p.oldest = o.newer
	}
	if o.newer != nil {
		o.newer.older = o.older
	} else {
		p.newest = o.older
	}
	o.inFlight, o.older, o.newer = false, nil, nil
}

// OldestOnItsWay returns the message that was sent to the process before all others that it has
// not received yet, those that its current call completes included; nil if there is none.
func (p *Process) OldestOnItsWay() *Operation { return p.oldest }
