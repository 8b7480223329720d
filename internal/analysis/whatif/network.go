package whatif

import (
	"math/bits"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/signature"
)

// Network has the LogGPS parameters of a network: latency L and overhead o in ns, PerByte, G, in
// ns. The gap between messages counts as overhead; the threshold S is as recorded.
type Network struct{ Latency, Overhead, PerByte float64 }

// transfer is what a message takes after its send was called, ns.
func (n *Network) transfer(bytes uint64) float64 {
	return n.Overhead + n.Latency + n.PerByte*payload(bytes)
}

// payload is how many bytes follow the first one.
func payload(bytes uint64) float64 { return float64(max(bytes, 1) - 1) }

// carries is what the network takes from when an operation's counterpart is posted until it is
// there, ns.
func (n *Network) carries(o *match.Operation) float64 {
	switch {
	case o.Collective != nil:
		return n.collective(o)
	case o.Kind == match.ReceiveMessage && o.Partner != nil:
		return n.transfer(o.Partner.Bytes)
	}
	return n.Latency
}

// collective is what a collective takes after those have entered who have to.
func (n *Network) collective(o *match.Operation) float64 {
	c := o.Collective
	p := c.Proc
	send, receive := &p.Roles.Send, &p.Roles.Recv
	rounds, others := float64(bits.Len(uint(c.Members-1))), float64(c.Members-1)
	switch {
	case p.Shape == signature.Neighbours || p.Shape == signature.NoData:
		return rounds * n.transfer(0)
	case p.Shape == signature.AllToAll && send.Blocks: // each has a block for each
		return n.Latency + others*(n.Overhead+n.PerByte*payload(o.Bytes))
	case receive.Blocks || send.Blocks: // the blocks of all come together, or come from one
		return rounds*n.transfer(0) + others*n.PerByte*payload(o.Bytes)
	}
	return rounds * n.transfer(o.Bytes)
}

// calls is what a call takes besides waiting: handing on what is sent, and taking what has come.
func (n *Network) calls(c *match.Call) float64 {
	sum := 0.0
	for _, o := range c.Posted {
		if o.Kind == match.SendMessage {
			sum += n.Overhead + n.PerByte*payload(o.Bytes)
		}
	}
	for _, o := range c.Done {
		if o.Kind != match.SendMessage {
			sum += n.Overhead
		}
	}
	return sum
}
