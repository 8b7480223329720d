// Package runfile reads and writes run files: everything recorded of one launch. OpenRun opens
// one and reads ranks on request, WriteRun and MergeRuns write one, Validate checks all of it,
// and Verifier proves that its events are those recorded.
//
// FORMAT.md specifies the file. Readers handle damaged and hostile files: errors say what is
// wrong and where, and memory is bounded by the size of the file.
package runfile

import (
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

const (
	runMagic     = "\x89EFG\r\n\x1a\n"
	trailerMagic = "EFG.END\n"
	// maxMeta bounds the metadata, so that nesting cannot exhaust the decoder's
	// stack.
	maxMeta      = 1 << 20
	headerSize   = 16
	trailerSize  = 32
	shortTrailer = 16 // of files with featureMixed
)

// IsRunFile reports whether a file that begins with these bytes is, or was meant to
// be, a run file.
func IsRunFile(head []byte) bool { return strings.HasPrefix(string(head), runMagic) }

const (
	blockMeta block.Kind = iota + 1
	blockStrings
	blockSites
	blockGroups
	blockStats
	blockIndex
	blockPart
	blockTrace
	blockEvents
	blockTimes
	blockIndexTables // an index with the small tables
	blockCounters
	blockStatsCode
	blockValues   // times and what counters counted
	lastBlockKind = blockValues
)

func kindName(k block.Kind) string {
	names := [...]string{"unknown", "meta", "strings", "sites", "graphs", "statistics", "index", "sequence", "trace", "events", "times", "index", "counters", "statistics", "times"}
	if k > lastBlockKind {
		k = 0
	}
	return names[k]
}

// blockRef is the position of a block in the file.
type blockRef struct {
	block.Ref
	// members is the number of streams' graphs in it, after the index was read.
	members uint64
}

// holdsStats reports whether there are statistics in the block.
func (b *blockRef) holdsStats() bool { return b.Kind == blockStats || b.Kind == blockStatsCode }

// holdsGroups reports whether there are groups of records in the block.
func (b *blockRef) holdsGroups() bool { return b.Kind == blockGroups || b.Kind == blockEvents }

// ProcInfo is what the index says about a process without reading its graphs.
type ProcInfo struct {
	*ProcShared
	Rank    int
	PID     int
	Start   int64
	Gone    uint64 // see efg.Process
	Streams []StreamInfo

	world   int32  // number of the world in the file
	inIts   int32  // rank in it
	defs    int32  // group
	ordinal uint32 // number among the members of that group
	first   int    // number of the first stream in the file
}

// ProcShared is what many processes of a run have in common: what is modified is modified for
// all of them.
type ProcShared struct {
	Size    int
	World   uint64
	Host    string
	Command []string
	MPI     string
	Mono    int64 // see Process
	Anchors []efg.Anchor
}

// InWorld is the process's rank in its own MPI_COMM_WORLD, -1 if unknown.
func (p *ProcInfo) InWorld() int { return int(p.inIts) }

// StreamInfo is what the index says about a stream.
type StreamInfo struct {
	*StreamShared
	hash uint64 // if the file has one for each stream
	// Numbers among the members of the groups.
	member, checkpointMember, pendingMember uint32
}

// StreamShared is what streams with graphs of one shape have in common. It must not be modified.
type StreamShared struct {
	Thread  uint32
	End     efg.End
	Events  uint64
	Dropped uint64
	// Untimed is the number of events, the last ones, that have no times although those before
	// have some.
	Untimed uint64
	Nodes   uint64
	Edges   uint64
	// Words is the number of words of all events, as in a linear trace.
	Words uint64
	// Bytes is the stream's part of the size of the file: an equal share, among its members, of
	// the size of its graph, without times.
	Bytes uint64
	// InCall: the thread was in a call when its recording ended; see Run.Pending.
	InCall bool
	// Class is equal for streams whose graphs have the same shape: the same
	// nodes except for their arguments, and the same edges except for their weights.
	Class int

	group       int
	checkpoints int // group + 1, 0 if there is none
	pending     int // group, if InCall
}

// Complete reports whether the stream is known to contain every event of its thread.
func (s *StreamShared) Complete() bool { return s.Dropped == 0 && s.End != efg.EndOpen }
