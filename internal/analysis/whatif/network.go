package whatif

import (
	"math/bits"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/signature"
)

// Network has the LogGPS parameters of a network: latency L and overhead o in ns, PerByte, G, in
// ns. The gap between messages counts as overhead; the threshold S is as recorded.
type Network struct {
	Latency, Overhead, PerByte float64
	// Between has those between hosts; nil: they are the same.
	Between *Network
}

// between reports whether an operation is with a process of another host, or, of a collective, in a
// run of several.
func (x *Simulation) between(o *match.Operation) bool {
	if o.Collective != nil {
		return x.hosts > 1
	}
	return o.Partner != nil && o.Partner.Thread.Process.Facts.Data.Host != o.Thread.Process.Facts.Data.Host
}

// part is the part of the network that an operation uses.
func (x *Simulation) part(n *Network, o *match.Operation) *Network {
	if n.Between != nil && x.between(o) {
		return n.Between
	}
	return n
}

// carries is what a network takes for an operation, ns; see Network.carries.
func (x *Simulation) carries(n *Network, o *match.Operation) float64 { return x.part(n, o).carries(o) }

// hostsOf is on how many hosts the processes of a run were.
func hostsOf(t *match.Trace) int {
	hosts := map[string]bool{}
	for _, p := range t.Processes {
		hosts[p.Facts.Data.Host] = true
	}
	return len(hosts)
}

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
func (x *Simulation) calls(of *Network, c *match.Call) float64 {
	sum := 0.0
	for _, o := range c.Posted {
		if n := x.part(of, o); o.Kind == match.SendMessage {
			sum += n.Overhead + n.PerByte*payload(o.Bytes)
		}
	}
	for _, o := range c.Done {
		if o.Kind != match.SendMessage {
			sum += x.part(of, o).Overhead
		}
	}
	return sum
}
