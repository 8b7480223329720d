package segment

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// The structs below are the segment's layout. They are its one source: package
// hook/internal/gen writes hook/shim/gen/efg_layout.h from them by reflection, with a
// static assertion for every offset. All integers are little-endian; a "ref" is
// an offset in units of RefUnit bytes, 0 means none. FORMAT.md explains them.

const (
	// Magic opens every segment.
	Magic = 0x0a474553_00474645 // "EFG\0SEG\n"
	// Version is raised when a reader must change.
	Version = 2
	// RefUnit is what a ref counts, and the alignment of every record.
	RefUnit = 16
	// HeaderSize is the size of Header in the file.
	HeaderSize = 4096
	// MaxWords bounds the words of an event.
	MaxWords = signature.MaxWords
	// SeqLevels is the number of folding levels of a sequence.
	SeqLevels = 3
	// MaxTurns is the number of turns that a stream has not entered at their nodes yet.
	MaxTurns = 8
	// Bins is the number of histogram bins of an Interval.
	Bins = 32
	// GroupBins is the number of bins in a BinGroup.
	GroupBins = 8
	// MaxCounters bounds how many counters are read at each call.
	MaxCounters = efg.MaxCounters
	// TallyBins is the number of histogram bins of a Tally.
	TallyBins = efg.TallyBins
)

// Header starts the file.
type Header struct {
	Magic      uint64
	LayoutHash uint64 // of the generated C header: distinguishes builds
	Version    uint32
	HeaderSize uint32
	PID        uint32
	State      uint32 // efg.End of the process
	Rank       int32  // -1: not known yet
	Size       uint32
	World      uint64
	Mapped     uint64 // bytes of the file that are allocated
	Used       uint64 // bytes handed out
	StartReal  uint64 // Unix ns of the start
	TickMult   uint64 // estimated at the start: ns = ticks * TickMult >> 32
	Start      Anchor // taken at the start
	NLater     uint32 // later anchors so far; before them, so that it is read first
	_          uint32
	Later      [2]Anchor // the newest is Later[(NLater-1)&1]
	Dropped    uint64    // events of threads that never got a stream
	TimeMode   uint32    // 0 off, 1 stats, 2 stats and the times of each event
	Options    uint32    // 1 queries, 2 buffers, 4 thread multiple, 8 clock is the TSC, 16 failed polls are only counted
	Demote     uint32    // live nodes at a site that cause a demotion
	NStreams   uint32
	Streams    uint32 // ref: first Stream
	NDefs      uint32
	Defs       uint32 // ref: first Def
	Full       uint32 // recording stopped for lack of space: errno
	CommandLen uint32
	TimeError  uint32 // that the times of each event may have in the run file, parts of 10,000
	Family     [16]byte
	Host       [64]byte
	MPI        [256]byte
	Command    [2048]byte // arguments, each ended by NUL
	Machines   uint32     // on which the world's processes are: 0 unknown, 1, 2 several
	_          uint32
	Job        [128]byte // what distinguishes the launch from others, on all its machines; or empty
	TimeBudget uint64    // bytes that the times of each event may take in the process; 0: no limit
	NCounters  uint32
	Values     uint32 // 1: what they counted in each event is with the times of each event
	Counters   [MaxCounters]Counter
	Forks      uint32   // children that the process forked, and that called MPI, which is not recorded
	ForkPID    uint32   // of the first of them; 0: none
	ForkCall   [48]byte // what that one called first
}

// Counter is one of the values that are read at the start and the end of each call.
type Counter struct {
	Source uint32 // see internal/counters
	State  uint32 // bits of efg.CounterState
	Config uint64
	Error  uint32 // errno with which a thread could not read it
	_      uint32
	Name   [40]byte // name, and perhaps a space and the unit
}

// Anchor relates the clock's ticks to the system's clocks: readings of one moment.
type Anchor struct {
	Tick  uint64
	Mono  uint64 // CLOCK_MONOTONIC ns
	Real  uint64 // Unix ns
	Width uint64 // ticks within which all were read
}

// Stream is one thread's recorder state.
type Stream struct {
	// Events is the number of published events; Pub[Events&1] belongs to it.
	Events  uint64
	Pub     [2]Published
	Dropped uint64
	// CallTick is the start of the call in progress, 0 if there is none; its
	// words are in Words, outputs not valid yet.
	CallTick uint64
	Next     uint32 // ref: next Stream
	Thread   uint32
	Nodes    uint32 // ref: first Node
	State    uint32 // efg.End
	LastTick uint64 // end of the last call
	TID      uint64 // kernel's thread id
	// FirstTick is where the times of each event begin.
	FirstTick uint64
	// TimesEnd is 0, or 1 more than the number of events that have times, the first ones: the
	// others have none.
	TimesEnd uint64
	Times    uint32 // ref: first Chunk of the times of each event
	Inner    uint32 // ref: Inner, calls inside the call in progress
	_        uint64
	_        uint64 // Words are aligned to 64
	Words    [MaxWords]uint64
	// Turns[i%MaxTurns] for i from Entered to Made are not entered at their nodes yet.
	Made, Entered uint64
	Turns         [MaxTurns]Turn
}

// Inner is the call in progress of a thread at one depth, inside the one around it.
type Inner struct {
	CallTick uint64 // as in Stream
	Inner    uint32 // ref: that of the next depth
	_        uint32
	Words    [MaxWords]uint64
}

// Turn is the end of a branch run, and the begin of the next one, at a node with many
// edges.
type Turn struct {
	Run  uint64 // length of the one that ended
	Runs uint64 // how many branch runs the node had before the next one
	From uint32 // ref: the node
	To   uint32 // ref: where the next one leads to
}

// Published is what belongs to an event count.
type Published struct {
	Hash uint64
	Node uint32 // ref: node of the last event
	_    uint32
}

// Node is a signature; its words (N of them; those in Mask mean nothing) follow
// it, then a NodeStats if time is recorded.
type Node struct {
	Run   uint64 // length of the current branch run; number of polls that are only counted
	Hash  uint64 // XXH64 of the words, demoted ones zero
	Mask  uint32 // demoted words
	Pred  uint32 // ref: node that the current run leads to
	Cur   uint32 // ref: edge of the current run
	Live  uint16 // N, or 0 once the site has a wider mask
	N     uint16
	Index uint32 // number in the stream
	Next  uint32 // ref: next node of the stream
	Edges uint32 // ref: first edge
	Runs  uint32 // ref: Seq of edge numbers, one a branch run, the current one included
	Attrs uint32 // ref: one Attr for each bit of Mask
	// Counts is the ref of a Seq: the lengths of closed branch runs, in order, as
	// far as their edges do not fix them.
	Counts uint32
	Priv   uint64 // the recorder's own; no meaning elsewhere
}

// NodeStats are a node's times, clock ticks. A bin's number is Low, and 256 times what its
// BinGroup has: bins that stay small take a byte.
type NodeStats struct {
	Count                  uint64
	DurSum, DurMin, DurMax uint64
	GapSum, GapMin, GapMax uint64
	High                   uint32 // ref: HighBins; 0: no bin came to half of 256
	_                      uint32
	Low                    [2 * Bins]uint8 // of the calls, of the gaps
}

// NodeCounter is what a counter counted at a node. NodeCounters follow the NodeStats.
type NodeCounter struct {
	Count        uint64 // events that are in the numbers below
	_            uint64
	Call, Before Tally // of the calls; from the calls before to these
}

// Tally sums up values. Bin i counts those of i bits; the last one longer ones, too.
type Tally struct {
	Sum, Min, Max uint64
	Bins          [TallyBins]uint32
}

// HighBins finds the high parts of bins. While Carry is not 0 the bin Carry-1 is
// at 255 and its high part may have been raised to CarryTo, or it is at 0 and
// that has been done.
type HighBins struct {
	Groups  [2 * Bins / GroupBins]uint32 // refs: BinGroup, or 0
	Carry   uint32
	CarryTo uint32
	_       uint64
}

// BinGroup holds the high parts of eight neighbouring bins.
type BinGroup struct {
	High [GroupBins]uint32
}

// Edge is a step to another node.
type Edge struct {
	To     uint32 // ref: node
	Next   uint32 // ref: the node's next edge
	Index  uint32 // number at the node
	Varies uint32 // ref: Varies; 0: all closed runs are Steps long
	Runs   uint64 // closed branch runs
	Steps  uint64 // in each closed run, or, if they vary, in all of them
}

// Varies says about an edge whose runs vary that the first Fixed are Count long.
type Varies struct {
	Fixed, Count uint64
}

// Attr is the attribute stream of a demoted word.
type Attr struct {
	Values uint32 // ref: Seq
	Elems  uint32 // ref: Seq of vector elements, or 0
}

// Seq is a folded sequence; see efg/FORMAT.md for its code.
type Seq struct {
	Sel   uint32 // which State is current
	Flags uint32 // 1: values are differences, zigzag
	First uint32 // ref: first Chunk
	Turns uint32 // how often the State that is not current was begun to be written
	Priv  uint64
	State [2]SeqState
}

// SeqState is a sequence's state: NBytes of code in the chunks, then for each
// level, highest first, a pending repeat of M symbols at distance D.
type SeqState struct {
	N      uint64 // values
	NBytes uint64
	D      [SeqLevels]uint32
	_      uint32
	M      [SeqLevels]uint64
}

// Chunk holds Cap bytes of code, which follow it.
type Chunk struct {
	Next uint32 // ref
	Cap  uint32
}

// Def is a definition; NWords words and then NBytes bytes follow it.
type Def struct {
	Next   uint32 // ref
	Kind   uint32
	Word   uint64
	NWords uint32
	NBytes uint32
	_      uint64
}
