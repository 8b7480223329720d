package gxl

import "slices"

// The metamodel: MTF's classes with their attributes and associations. Names that begin with
// "efg." are not part of MTF: they hold what is needed to restore the run file. Where MTF has
// an integer and MPI also a constant or an array, NAME holds the integer, NAMESymbol the
// constant's name, and NAMEList the array.

type domain string

const (
	domBool   domain = "Bool"
	domInt    domain = "Int"
	domString domain = "String"
	domSeq    domain = "Seq"
)

// class is a class of nodes.
type class struct {
	name     string
	parent   string // "" if none
	abstract bool
	attrs    []attribute
}

type attribute struct {
	name   string
	domain domain
}

// association is a class of edges. The limits of an end say with how many objects of its class
// an object at the other end is associated; a maximum of -1 means any number.
type association struct {
	name               string
	from, to           string
	fromLimit, toLimit [2]int
}

// traceClass is the class of the graph that holds the trace.
var traceClass = class{name: "MPITrace", parent: "Trace", attrs: []attribute{
	{"efg.version", domInt}, {"efg.tool", domString}, {"efg.command", domSeq}, {"efg.launcher", domSeq}, {"efg.status", domInt}, {"efg.status_unknown", domBool}, {"efg.time", domString},
	{"efg.polls", domString}, {"efg.queries", domBool}, {"efg.buffers", domBool}, {"efg.callpath", domInt},
	{"efg.forks", domSeq}, {"efg.energy", domSeq}, {"efg.processors", domSeq},
}}

var classes = []class{
	{name: "Scenario", attrs: []attribute{{"desc", domString}}},
	{name: "Trace", abstract: true, attrs: []attribute{
		{"TraceID", domString}, {"StartTime", domInt}, {"EndTime", domInt}, {"Comments", domString},
	}},
	{name: "TracePattern", attrs: []attribute{{"desc", domString}}},
	{name: "PatternOccurrence"},
	{name: "Processor", attrs: []attribute{{"ProcessorID", domInt}, {"ProcessorName", domString}}},
	{name: "Process", attrs: []attribute{
		{"ProcessID", domString}, {"Rank", domInt}, {"ProcessName", domString},
	}},
	{name: "Communicator", attrs: []attribute{{"CommID", domString}}},
	{name: "TraceableUnit", abstract: true, attrs: []attribute{
		{"TraceableUnitID", domString}, {"StartTime", domInt}, {"EndTime", domInt},
	}},
	{name: "Message", parent: "TraceableUnit", attrs: []attribute{
		{"DataType", domString}, {"DataSize", domInt}, {"Bytes", domInt}, {"Tag", domInt}, {"TagSymbol", domString},
		{"Source", domInt}, {"SourceSymbol", domString},
	}},
	{name: "MPOperation", parent: "TraceableUnit", abstract: true, attrs: []attribute{
		{"MPOperationName", domString}, {"Error", domString}, {"Request", domString},
		{"efg.signature", domString}, {"efg.values", domSeq}, {"efg.times", domString},
	}},
	{name: "MPI_Init", parent: "MPOperation"},
	{name: "MPI_Finalize", parent: "MPOperation"},
	{name: "MPI_OtherOps", parent: "MPOperation"},
	{name: "PointToPointOperation", parent: "MPOperation", abstract: true, attrs: []attribute{
		{"Tag", domInt}, {"TagSymbol", domString}, {"Peer", domInt}, {"PeerSymbol", domString},
	}},
	{name: "Send", parent: "PointToPointOperation", attrs: []attribute{
		{"SendDataAddress", domString}, {"SendDataSize", domInt}, {"SendDataSizeSymbol", domString}, {"SendDataType", domString},
		{"SendType", domString},
	}},
	{name: "NonBlockingSend", parent: "Send"},
	{name: "Receive", parent: "PointToPointOperation", attrs: []attribute{
		{"RcvDataAddress", domString}, {"RcvDataSize", domInt}, {"RcvDataSizeSymbol", domString}, {"RcvDataType", domString},
		{"MatchedMessage", domString},
	}},
	{name: "NonBlockingReceive", parent: "Receive"},
	{name: "WaitOperation", parent: "MPOperation", attrs: []attribute{{"Requests", domSeq}}},
	{name: "TestOperation", parent: "MPOperation", attrs: []attribute{{"Flag", domInt}, {"FlagSymbol", domString}, {"Requests", domSeq}}},
	{name: "ProbeOperation", parent: "MPOperation", attrs: []attribute{
		{"Tag", domInt}, {"TagSymbol", domString}, {"Peer", domInt}, {"PeerSymbol", domString}, {"Flag", domInt}, {"FlagSymbol", domString},
	}},
	{name: "CollectiveOperation", parent: "MPOperation", attrs: []attribute{
		{"Peer", domInt}, {"PeerSymbol", domString}, {"OpType", domString},
	}},
	{name: "Barrier", parent: "CollectiveOperation"},
	{name: "Broadcast", parent: "CollectiveOperation"},
	{name: "Gather", parent: "CollectiveOperation"},
	{name: "Scatter", parent: "CollectiveOperation"},
	{name: "Reduce", parent: "CollectiveOperation"},
	{name: "Allgather", parent: "CollectiveOperation"},
	{name: "AllToAll", parent: "CollectiveOperation"},
	{name: "ReduceScatter", parent: "CollectiveOperation"},
	{name: "Scan", parent: "CollectiveOperation"},
	{name: "CollectiveData", attrs: []attribute{
		{"SendAddress", domString}, {"SendSize", domInt}, {"SendSizeSymbol", domString}, {"SendSizeList", domSeq},
		{"SendDataType", domString}, {"SendDataTypeList", domSeq},
		{"RcvAddress", domString}, {"RcvSize", domInt}, {"RcvSizeSymbol", domString}, {"RcvSizeList", domSeq},
		{"RcvDataType", domString}, {"RcvDataTypeList", domSeq},
	}},
	{name: "efg.Site", attrs: []attribute{
		{"word", domString}, {"module", domString}, {"offset", domInt}, {"place", domString}, {"function", domString},
	}},
	{name: "efg.Process", attrs: []attribute{
		{"ProcessID", domString}, {"rank", domInt}, {"size", domInt}, {"world", domString}, {"pid", domInt}, {"host", domString},
		{"mpi", domString}, {"command", domSeq}, {"start", domInt}, {"began", domInt}, {"mono", domInt}, {"gone", domInt}, {"anchors", domSeq},
	}},
	{name: "efg.Definition", attrs: []attribute{
		{"kind", domString}, {"word", domString}, {"words", domSeq}, {"data", domString},
	}},
	{name: "efg.Stream", attrs: []attribute{
		{"thread", domInt}, {"events", domInt}, {"end", domString}, {"dropped", domInt}, {"hash", domString},
		{"error", domInt}, {"bound", domInt}, {"begin", domInt}, {"untimed", domInt}, {"entered", domSeq}, {"since", domInt}, {"inside", domSeq},
	}},
	{name: "efg.Signature", attrs: []attribute{
		{"operation", domString}, {"place", domString}, {"words", domSeq}, {"counted", domInt},
		{"timed", domInt}, {"durations", domString}, {"gaps", domString},
	}},
}

var (
	one     = [2]int{1, 1}
	maybe   = [2]int{0, 1}
	many    = [2]int{0, -1}
	several = [2]int{1, -1}
)

var associations = []association{
	{"process", "TraceableUnit", "Process", many, one},
	{"processor", "Process", "Processor", many, maybe},
	{"member", "Communicator", "Process", many, several},
	{"communicator", "MPOperation", "Communicator", many, maybe},
	{"receiver", "Send", "Process", many, maybe},
	{"sender", "Receive", "Process", many, maybe},
	{"source", "ProbeOperation", "Process", many, maybe},
	{"root", "CollectiveOperation", "Process", many, maybe},
	{"collectiveData", "CollectiveOperation", "CollectiveData", one, maybe},
	{"message", "MPOperation", "Message", one, many},
	{"messageSender", "Message", "Process", many, maybe},
	{"messageReceiver", "Message", "Process", many, one},
	{"waitsFor", "WaitOperation", "MPOperation", many, many},
	{"tests", "TestOperation", "MPOperation", many, many},
	{"patternOccurrence", "TracePattern", "PatternOccurrence", one, many},
	{"unit", "PatternOccurrence", "TraceableUnit", maybe, many},
}

// classOf returns a class of nodes by its name, nil if there is none.
func classOf(name string) *class {
	i := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &classes[i]
}

// isA reports whether a class is another one or inherits from it.
func (c *class) isA(name string) bool {
	for ; c != nil; c = classOf(c.parent) {
		if c.name == name {
			return true
		}
	}
	return false
}

// attribute returns the attribute of a class with a name, its own or inherited.
func (c *class) attribute(name string) (attribute, bool) {
	for ; c != nil; c = classOf(c.parent) {
		for _, a := range c.attrs {
			if a.name == name {
				return a, true
			}
		}
	}
	return attribute{}, false
}
