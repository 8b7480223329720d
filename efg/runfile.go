package efg

// The run file holds everything recorded of one launch; FORMAT.md specifies
// it. WriteRun makes it, OpenRun reads it in part, Validate checks all of it.

const (
	runMagic     = "\x89EFG\r\n\x1a\n"
	trailerMagic = "EFG.END\n"
	// runVersion goes up when a reader of the version before cannot read the
	// file any more.
	runVersion = 1
	// maxMeta bounds the metadata, so that nesting cannot exhaust the decoder's
	// stack.
	maxMeta     = 1 << 20
	headerSize  = 16
	trailerSize = 32
)

// blockKind tells what is in a block.
type blockKind uint8

const (
	blockMeta blockKind = iota + 1
	blockStrings
	blockDefs
	blockSignatures
	blockSites
	blockDefList
	blockGraph
	blockStats
	blockIndex
	lastBlockKind = blockIndex
)

func (k blockKind) String() string {
	names := [...]string{"unknown", "meta", "strings", "definitions", "signatures", "sites",
		"definition list", "graph", "statistics", "index"}
	if k > lastBlockKind {
		k = 0
	}
	return names[k]
}

// blockRef is a block's place in the file.
type blockRef struct {
	kind   blockKind
	offset uint64
	length uint64
}

// none marks an absent block number.
const none = ^uint32(0)

// ProcInfo is what the index tells about a process without reading its graphs.
type ProcInfo struct {
	Rank    int
	Size    int
	World   uint64
	PID     int
	Host    string
	Command []string
	MPI     string
	Start   int64
	Streams []StreamInfo

	defList uint32
}

// StreamInfo is what the index tells about a stream.
type StreamInfo struct {
	Thread  uint32
	End     End
	Events  uint64
	Hash    uint64
	Dropped uint64
	Nodes   uint64
	Edges   uint64
	// Words is the number of words of all events: what a linear trace would hold.
	Words uint64
	// Bytes is the size in the file of the stream's graph, which streams may
	// share, and of its statistics.
	Bytes uint64
	// Graph is the number of the block that holds the graph: equal for streams
	// that share one.
	Graph uint32

	stats uint32
}

// Complete says whether the stream is known to hold every event of its thread.
func (s *StreamInfo) Complete() bool { return s.Dropped == 0 && s.End != EndOpen }
