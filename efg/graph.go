package efg

import (
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// Stream is the event flow graph of one thread of one process.
type Stream struct {
	// Thread is the ordinal of the thread in its process, in the order of first
	// recorded calls, counted from 0.
	Thread uint32
	// Events is the number of events the stream reconstructs to.
	Events uint64
	// Hash is the recorder's rolling hash after Events events; see Roll.
	Hash uint64
	// Dropped counts events that occurred after the recorder had stopped for lack of space.
	Dropped uint64
	// End says how the stream ended.
	End End
	// Trace says how the times of each event were recorded; nil if they were not.
	Trace *Trace
	// Nodes in the order of their first event. The first one that is not Counted is
	// the start.
	Nodes []Node
	// Checkpoints are positions from which a walk can begin; nil means only the start.
	Checkpoints *Checkpoints
	// Pending is the call that the thread was in when its recording ended; nil: none.
	Pending *Pending

	parts PartReader // times of a long stream, which are not in the nodes
}

// End is how a stream ended.
type End uint8

const (
	// EndOpen: the process was still running, or it was killed. Every event before the one in
	// progress is recorded; that one is Pending.
	EndOpen End = iota
	// EndThread: the thread ended by itself.
	EndThread
	// EndFinalized: MPI_Finalize (or the last session's end) was seen.
	EndFinalized
	// EndExit: the process ran its exit handlers without MPI_Finalize.
	EndExit
)

// Node is a distinct signature of a stream.
type Node struct {
	// Words is the signature, with demoted words zero.
	Words []uint64
	// Mask has bit i set where Words[i] was demoted to an attribute stream.
	Mask uint64
	// Edges in the order in which they were first taken. Empty only at the
	// stream's last node.
	Edges []Edge
	// Runs is the sequence of branch runs, as indexes into Edges; nil if there
	// are fewer than two edges.
	Runs *seq.Seq
	// Counts are the lengths of the branch runs whose edge does not fix them, in
	// the order of Runs; nil if there are none.
	Counts *seq.Seq
	// Attrs holds one attribute stream for each set bit of Mask, lowest bit
	// first, with one value for each event at the node.
	Attrs []Attr
	// Counted is the number of failed polls at a node where these are only counted. They are
	// not among the stream's events: the node has no edges, and no attribute streams whatever
	// its Mask. Its header says so.
	Counted uint64
	// Stats are the node's times; nil if time was not recorded.
	Stats *Stats
	// Times are the times of each event; nil if they were not recorded.
	Times *Times
	// Counters are what each of the process's counters counted; nil if there are none.
	Counters []NodeCounter
}

// isCounted reports, by a node's words, whether its events are only counted.
func isCounted(words []uint64) bool {
	return len(words) > 0 && signature.Header(words[0]).Counted()
}

// start is the node of the first event, -1 if there is none.
func start(nodes []Node) int {
	return slices.IndexFunc(nodes, func(n Node) bool { return !isCounted(n.Words) })
}

// Start is the node of the stream's first event, -1 if there is none.
func (s *Stream) Start() int { return start(s.Nodes) }

// Edge is an observed step from one node to another.
type Edge struct {
	// To is the number of the successor.
	To uint32
	// Weight is how often the step was taken.
	Weight uint64
	// The first Fixed branch runs of the edge have length Count. The lengths of later ones are
	// in the node's Counts; if Fixed*Count == Weight there are none.
	Count, Fixed uint64
}

// Varies reports whether the edge has branch runs of other lengths than Count.
func (e *Edge) Varies() bool { return e.Fixed*e.Count != e.Weight }

// Attr is the attribute stream of one demoted word at one node.
type Attr struct {
	// Values has a value for each event: the word itself for scalars and slots. For identities
	// and arrays it is twice the number of a constant plus 1, or otherwise twice the number of
	// a definition or the length of an array.
	Values *seq.Seq
	// Elems are the elements of arrays, one after another; nil for other words.
	Elems *seq.Seq
}

// AttrWord returns the word that a value of the attribute stream of word i of n stands for. It
// is 0 for missing definitions, and for arrays, whose content is in Elems.
func (p *Process) AttrWord(n *Node, i int, value uint64) uint64 {
	switch f := signature.Header(n.Words[0]).Form(i); {
	case f == signature.ScalarForm || f == signature.SlotForm:
		return value
	case value&1 != 0:
		return signature.ConstBit | value>>1
	case f != signature.VecForm && value>>1 < uint64(len(p.Defs)):
		return p.Defs[value>>1].Word
	}
	return 0
}

// Visits returns the number of events of each node: the number of steps that lead to it, plus
// one for the first node. Polls that are only counted are not events.
func (s *Stream) Visits() []uint64 { return VisitsOf(s.Nodes) }

// Stats are the times of a node's events in nanoseconds: of the calls, and of
// the gaps between the previous call's end and the call's start.
type Stats struct {
	Count    uint64
	Dur, Gap Interval
	// Shared: minima, maxima and bins are those of all nodes that differ from this one in their call paths alone.
	// A run file has them like that.
	Shared bool
}

// Interval summarises durations in nanoseconds. Bins[i] counts those in [2^(i+3), 2^(i+4)); the
// first and last bin include what lies outside.
type Interval struct {
	Sum, Min, Max uint64
	Bins          [32]uint32
}

// DefKind is the kind of a definition.
type DefKind uint8

const (
	DefUnknown DefKind = iota // an identity word without a definition
	DefString                 // Data: bytes
	DefVec                    // Words: elements
	DefType                   // Words: combiner constant, size in bytes, then contents as in package signature
	DefGroup                  // Words: members (world ranks) as ranges: first, count, stride, repeated
	DefOp                     // Words: site word of the function, commute
	DefComm                   // Word is hash38<<24, of a family. Words: parent word, kind constant, size, number of local range words, local ranges, remote ranges
	DefWin                    // as DefComm: comm word, kind
	DefFile                   // as DefComm: comm word, string word of the name
	DefSite                   // Words: the module's word, offset of the call instruction's last byte in it, and of a call path its parent
	DefModule                 // Data: path, NUL, build-id in hex
	DefRegion                 // Words: region number; Data: name (--buffers)
)

// Def defines the content of an identity word.
type Def struct {
	Kind  DefKind
	Word  uint64
	Words []uint64
	Data  []byte
}

// Process is everything recorded of one process.
type Process struct {
	Rank    int    // in its MPI_COMM_WORLD plus the ranks of earlier worlds; -1 if unknown
	Size    int    // of its MPI_COMM_WORLD
	World   uint64 // equal for the processes of one MPI_COMM_WORLD
	PID     int    // 0 in files of many processes
	Host    string
	Command []string
	MPI     string // library version line
	Start   int64  // Unix nanoseconds of the first recorded call; 0 in files without times
	// Anchors relate the clock of the machine to its system clocks: the first when the process
	// began, the last when it ended or was last seen. nil: ticks are ns of CLOCK_MONOTONIC, or
	// there are no times. Files keep them only with traced times.
	Anchors []Anchor
	// Mono is what CLOCK_MONOTONIC was behind the time of day when the process
	// began, ns; 0: not known. Files keep it only with traced times.
	Mono int64
	// Clock is the time since the run began minus CLOCK_MONOTONIC in ns, the same for all
	// processes of a machine; only from a file.
	Clock int64
	Began int64 // Start of the first process of the world, if Start is 0
	// Gone is when the process was seen to have ended, ns after Start, if it was killed in a call and that was seen; otherwise 0.
	Gone uint64
	// Sum replaces the streams' hashes in files of many processes: it is the sum of the
	// process's group, stored with the group's first process, and 0 with the others.
	Sum *uint64
	// Counters were read at each call; nil: none.
	Counters []Counter
	// Defs in the order in which the process made them; ident attribute values
	// count into it.
	Defs    []Def
	Streams []Stream
	// WorldBase is the rank of the first process of the world among those of the run; 0 in
	// the first world.
	WorldBase int
	// SiteDepth is how many calls of a call path tell callsites apart in what is summed by callsite;
	// 0: the last one alone. It is that of the Run that the process is read from.
	SiteDepth int
}

// WorldRank is the rank in the process's MPI_COMM_WORLD.
func (p *Process) WorldRank() int {
	if p.Rank < 0 {
		return p.Rank
	}
	return p.Rank - p.WorldBase
}

// WordCount is the number of words of all events, without counted polls.
func (s *Stream) WordCount() uint64 {
	nodes := s.Nodes
	total := uint64(0)
	if i := start(nodes); i >= 0 {
		total = uint64(len(nodes[i].Words)) // the first event; edges lead to the others
	}
	for i := range nodes {
		for _, e := range nodes[i].Edges {
			if int(e.To) < len(nodes) {
				total += e.Weight * uint64(len(nodes[e.To].Words))
			}
		}
	}
	return total
}

// VisitsOf is Stream.Visits for the nodes of a graph.
func VisitsOf(nodes []Node) []uint64 {
	v := make([]uint64, len(nodes))
	if i := start(nodes); i >= 0 {
		v[i] = 1
	}
	for i := range nodes {
		for _, e := range nodes[i].Edges {
			if int(e.To) < len(v) {
				v[e.To] += e.Weight
			}
		}
	}
	return v
}

// AttrStreams is the number of attribute streams of a node.
func AttrStreams(header, mask uint64) int {
	if signature.Header(header).Counted() {
		return 0
	}
	return bits.OnesCount64(mask)
}
