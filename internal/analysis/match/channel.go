package match

// channelKind distinguishes what is matched in order between two processes.
type channelKind uint8

const (
	messages    channelKind = iota
	exposures               // MPI_Win_post and MPI_Win_start
	completions             // MPI_Win_complete and MPI_Win_wait
	partitioned             // the messages of one partitioned send and its receive
)

// channelKey is what messages are matched by. from and to are ranks in the run, comm is a
// communicator or window. Partitioned sends and receives are matched in the order in which they were
// made: nth is the number of a pair.
type channelKey struct {
	from, to  int32
	kind      channelKind
	nth       uint32
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
	rounds   rounds
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
		c.rounds = rounds{}
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
	if m.trace.flights && c.key.kind == messages {
		c.to.flights.depart(o)
	}
	if c.key.kind == messages {
		for _, p := range c.probes {
			p.Partner = o
			m.wake(p)
		}
		c.probes = c.probes[:0]
	}
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
	if key := &send.channel.key; key.kind == messages || key.kind == partitioned {
		receive.Tag, receive.Comm = key.tag, key.comm
		m.summary.Messages++
		if receive.done {
			send.channel.to.flights.arrive(send)
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

// flights are the messages on their way to a process: a heap, the one that was sent first in front.
// Threads enter calls ahead of time, so they are not added in that order.
type flights []flight

type flight struct {
	enter int64
	o     *Operation
}

// depart adds a message.
func (f *flights) depart(o *Operation) {
	*f = append(*f, flight{})
	f.rise(len(*f)-1, flight{o.Enter, o})
}

// arrive removes a message, if it is in flight.
func (f *flights) arrive(o *Operation) {
	if o.flight == 0 {
		return
	}
	i, end := int(o.flight)-1, len(*f)-1
	o.flight = 0
	moved := (*f)[end]
	(*f)[end] = flight{}
	if *f = (*f)[:end]; i == end {
		return
	}
	if i > 0 && moved.enter < (*f)[(i-1)/2].enter {
		f.rise(i, moved)
	} else {
		f.sink(i, moved)
	}
}

func (f flights) put(i int, x flight) {
	f[i] = x
	x.o.flight = int32(i + 1)
}

// rise puts a message at i, or nearer to the front.
func (f flights) rise(i int, x flight) {
	for i > 0 && x.enter < f[(i-1)/2].enter {
		f.put(i, f[(i-1)/2])
		i = (i - 1) / 2
	}
	f.put(i, x)
}

// sink puts a message at i, or farther from the front.
func (f flights) sink(i int, x flight) {
	for {
		k := 2*i + 1
		if k+1 < len(f) && f[k+1].enter < f[k].enter {
			k++
		}
		if k >= len(f) || f[k].enter >= x.enter {
			break
		}
		f.put(i, f[k])
		i = k
	}
	f.put(i, x)
}

// FollowFlights has the next walk know OldestOnItsWay.
func (t *Trace) FollowFlights() { t.flights = true }

// OldestOnItsWay returns the message that was sent to the process before all others that it has
// not received yet, those that its current call completes included; nil if there is none. See FollowFlights.
func (p *Process) OldestOnItsWay() *Operation {
	if len(p.flights) == 0 {
		return nil
	}
	return p.flights[0].o
}
