package segment

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/efg-tools/efg/signature"
)

// Sample is a snapshot of a segment taken by a Watch.
type Sample struct {
	Header     Header
	Activities []Activity
	// Calls, if requested. A call has the same index in all later samples.
	Calls []CallTime
}

// CallTime sums the events of a node: calls of one procedure at one callsite, with the same
// arguments.
type CallTime struct {
	Thread int
	Header signature.Header
	Site   uint64
	Count  uint64
	Dur    uint64 // ns
}

// sampler reads a segment repeatedly. It reads only once what does not change, and skips the
// counters of a thread that has done nothing since.
type sampler struct {
	reader
	found   Sample
	text    bool // the header's texts were read since the last change
	threads []*sampledThread
	nodes   uint64 // of all threads
}

// sampledThread is the known state of a thread.
type sampledThread struct {
	ref   uint32
	tail  uint32 // ref of the last known node of its list, 0 if there is none
	nodes []sampledNode
	words [MaxWords]uint64
	// Of the last sample: the state of the thread, and whether the counters of nodes were read
	// in that state, and not the first time that it was seen. What belongs to an event is
	// counted shortly after it.
	events, call, last uint64
	settled            bool
}

// sampledNode is a node whose counters are sampled.
type sampledNode struct {
	stats uint64 // offset of its NodeStats
	call  int    // in Sample.Calls
}

// maxStreams is the maximum number of threads of a recorder.
const maxStreams = 4096

// look reads the header, the activities and, if calls is set, the counters of nodes.
func (k *sampler) look(calls bool) error {
	if err := k.header(); err != nil {
		return err
	}
	h := &k.found.Header
	ref, n := h.Streams, 0
	for ; ref != 0; n++ {
		if n > maxStreams {
			return k.corrupt("stream", ref, errors.New("too many"))
		}
		if n == len(k.threads) {
			k.threads = append(k.threads, &sampledThread{ref: ref})
			k.found.Activities = append(k.found.Activities, Activity{})
		}
		t := k.threads[n]
		if t.ref != ref {
			return k.corrupt("stream", ref, errors.New("it was replaced"))
		}
		b, err := k.bytes("stream", ref, 0, uint64(unsafe.Sizeof(Stream{})))
		if err != nil {
			return err
		}
		live := view[Stream](b)
		k.found.Activities[n].read(live, h, t.words[:0])
		if err := k.inner(&k.found.Activities[n], live, h); err != nil {
			return err
		}
		if calls {
			if err := k.counters(n, t, live); err != nil {
				return err
			}
		}
		ref = atomic.LoadUint32(&live.Next)
	}
	if n < len(k.threads) {
		return k.corrupt("stream", h.Streams, errors.New("there were more"))
	}
	return nil
}

// header reads the header. Its texts, which are written together with some of the numbers, are
// read whenever these have changed, and once more afterwards.
func (k *sampler) header() error {
	const numbers = unsafe.Offsetof(Header{}.Family)
	if len(k.data) < HeaderSize || binary.LittleEndian.Uint64(k.data) != Magic {
		return ErrNotSegment
	}
	h := &k.found.Header
	rank, size, world := h.Rank, h.Size, h.World
	decodeWords(k.data[:numbers], unsafe.Pointer(h))
	changed := rank != h.Rank || size != h.Size || world != h.World
	if changed || !k.text {
		decode(k.data, h)
		k.text = !changed
	}
	return k.checkHeader(h)
}

// counters reads the counters of a thread's nodes.
func (k *sampler) counters(thread int, t *sampledThread, live *Stream) error {
	events, call, last := atomic.LoadUint64(&live.Events), atomic.LoadUint64(&live.CallTick), atomic.LoadUint64(&live.LastTick)
	same := events == t.events && call == t.call && last == t.last
	if same && t.settled {
		return nil
	}
	t.events, t.call, t.last, t.settled = events, call, last, same
	if err := k.newNodes(thread, t, live); err != nil {
		return err
	}
	clock := k.found.Header.clock()
	for _, n := range t.nodes {
		c, st := &k.found.Calls[n.call], view[NodeStats](k.data[n.stats:])
		c.Count, c.Dur = atomic.LoadUint64(&st.Count), clock.Since(atomic.LoadUint64(&st.DurSum), 0)
	}
	return nil
}

// newNodes reads the nodes that were added to a thread's list.
func (k *sampler) newNodes(thread int, t *sampledThread, live *Stream) error {
	const size = uint64(unsafe.Sizeof(Node{}))
	ref := atomic.LoadUint32(&live.Nodes)
	if t.tail != 0 {
		b, err := k.bytes("node", t.tail, 0, size)
		if err != nil {
			return err
		}
		ref = atomic.LoadUint32(&view[Node](b).Next)
	}
	most := uint64(len(k.data)) / size // more do not fit
	for ; ref != 0; k.nodes++ {
		b, err := k.bytes("node", ref, 0, size+2*8)
		if err != nil {
			return err
		}
		node := view[Node](b)
		n := uint64(node.N)
		if k.nodes == most || n < signature.FirstWord || n > MaxWords {
			return k.corrupt("node", ref, errors.New("an endless list, or a node of no or too many words"))
		}
		if k.found.Header.TimeMode != timesOff {
			if _, err = k.bytes("node", ref, size+8*n, uint64(unsafe.Sizeof(NodeStats{}))); err != nil {
				return err
			}
			t.nodes = append(t.nodes, sampledNode{uint64(ref)*RefUnit + size + 8*n, len(k.found.Calls)})
		}
		k.found.Calls = append(k.found.Calls, CallTime{
			Thread: thread, Header: signature.Header(binary.LittleEndian.Uint64(b[size:])), Site: binary.LittleEndian.Uint64(b[size+8:]),
		})
		t.tail = ref
		ref = atomic.LoadUint32(&node.Next)
	}
	return nil
}
