package whatif

import (
	"math"
	"math/bits"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/signature"
)

// Fit finds the parameters of the recorded network: half of the messages, and of the calls, are as
// fast as that, or faster. Only messages count whose receiver waits for them. It is a visitor.
type Fit struct {
	messages uint64
	sends    median // what sending a small message takes
	small    median // what small messages take
	// What large messages take for each byte, in fractions of a ns, by the power of two below their
	// size: until they are received, and until their sender goes on.
	large, handing [64]median
	// eager is the size of the largest message whose sender went on before its receive was posted.
	eager uint64
}

// Small messages are those whose bytes do not count, large ones those whose bytes do.
const (
	small = 1 << 12
	large = 1 << 14
)

// A fraction is the unit of times per byte, 1/1024 ns.
const fractions = 1 << 10

// leastSamples is how many messages of a size are needed for the time per byte.
const leastSamples = 3

// Enter implements match.Visitor.
func (f *Fit) Enter(*match.Call) {}

// Exit implements match.Visitor.
func (f *Fit) Exit(c *match.Call) {
	f.sent(c)
	if len(c.Posted) == 1 && c.Posted[0].Kind == match.SendMessage {
		f.send(c, c.Posted[0])
	}
	s := lastSent(c)
	if s == nil || s.Enter >= c.Exit || s.Bytes == 0 {
		return
	}
	f.messages++
	switch took := c.Exit - s.Enter; {
	case s.Bytes <= small:
		f.small.add(took)
	case s.Bytes >= large:
		addPerByte(&f.large, s.Bytes, took)
	}
}

// lastSent is the message that was sent last of those that a call receives; nil if it may have
// waited for anything else after that.
func lastSent(c *match.Call) *match.Operation {
	var last *match.Operation
	posted := c.Began // receives that its sends may have waited for
	for _, o := range c.Done {
		switch s := o.Partner; {
		case o.Kind == match.SendMessage && s != nil:
			posted = max(posted, s.Enter)
		case o.Kind == match.SendMessage:
		case o.Kind != match.ReceiveMessage || s == nil:
			return nil
		case last == nil || s.Enter > last.Enter:
			last = s
		}
	}
	if last == nil || last.Enter < posted {
		return nil
	}
	return last
}

// sent notes the messages whose sender goes on although they are not received yet. Those in buffers of
// the program tell nothing.
func (f *Fit) sent(c *match.Call) {
	for _, o := range c.Done {
		if o.Kind == match.SendMessage && (o.Partner == nil || o.Partner.Enter > c.Exit) && mode(o) != signature.BufferedMode {
			f.eager = max(f.eager, o.Bytes)
		}
	}
}

// mode is the send mode of a message, signature.StandardMode if it is not known.
func mode(o *match.Operation) string {
	if p := signature.ProcByID(signature.Header(o.Thread.Signature(o.Node)[0]).Proc()); p != nil {
		return p.Mode
	}
	return signature.StandardMode
}

// send notes what a call takes that sends a message and waits for no receiver.
func (f *Fit) send(c *match.Call, o *match.Operation) {
	if r := o.Partner; r != nil && r.Enter > c.Began {
		return
	}
	switch {
	case o.Bytes <= small:
		f.sends.add(c.Exit - c.Enter)
	case o.Bytes >= large && len(c.Done) > 0:
		addPerByte(&f.handing, o.Bytes, c.Exit-c.Enter)
	}
}

func addPerByte(to *[64]median, bytes uint64, took int64) {
	to[bits.Len64(bytes)-1].add(int64(float64(took) * fractions / float64(bytes)))
}

// Network returns the parameters, and from how many messages they are. What no message tells is 0,
// as on an ideal network.
func (f *Fit) Network() (n Network, messages uint64) {
	n.Overhead = f.sends.value()
	if small := f.small.value(); small > 0 {
		n.Overhead = min(n.Overhead, small/3) // which sender and receiver have, besides the latency
		n.Latency = small - 2*n.Overhead
	}
	perByte, known := slope(&f.large, 2*n.Overhead+n.Latency)
	if !known {
		perByte, _ = slope(&f.handing, n.Overhead)
	}
	n.PerByte = perByte
	return n, f.messages
}

// slope is the least time per byte, in ns, of messages that take some time besides.
func slope(times *[64]median, besides float64) (perByte float64, known bool) {
	for size := range times {
		m := &times[size]
		if m.count < leastSamples {
			continue
		}
		v := max(m.value()/fractions-besides/float64(uint64(1)<<size), 0)
		if !known || v < perByte {
			known, perByte = true, v
		}
	}
	return perByte, known
}

// median counts times by their logarithm, eighths of octaves.
type median struct {
	count uint64
	bins  [64 * 8]uint64
}

func (f *median) add(ns int64) {
	v := uint64(min(max(ns, 1), 1<<60-1))
	octave := bits.Len64(v) - 1
	eighth := v << 3 >> octave & 7
	f.bins[octave*8+int(eighth)]++
	f.count++
}

// value is the time that half of the times do not exceed, 0 if there are none.
func (f *median) value() float64 {
	left := (f.count + 1) / 2
	for i, n := range f.bins {
		if left -= min(n, left); left == 0 && f.count > 0 {
			return math.Ldexp(1+(float64(i%8)+0.5)/8, i/8)
		}
	}
	return 0
}
