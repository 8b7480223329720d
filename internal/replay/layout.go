package replay

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/efg-tools/efg/internal/cstruct"
)

// Magic begins the file: "efgrply" and its version.
const Magic = uint64(1)<<56 | 0x796c_7072_6766_65

// Header is the begin of the file. Offsets are from there, in bytes.
type Header struct {
	Magic   uint64
	Size    uint64 // of the file
	Options uint32 // OptionPlaces …
	State   uint32 // 0; StateFree once a process has left the recording
	Worlds  uint32 // how many World follow
	Streams uint32 // how many Stream follow these
	Names   uint32 // how many procedures have names
	_       uint32
	// NameTable is the offset of the offsets of the procedures' names, by number.
	NameTable uint64
}

// World is an MPI_COMM_WORLD. They are in the order in which they began.
type World struct {
	Size  uint32
	First uint32 // rank in the run of its first process
	// Name is the launcher's name of the world that follows it, written by the first of its processes that looks
	// for one; 0: there is none yet.
	Name uint64
}

// Stream is a thread of a rank.
type Stream struct {
	World, Rank uint32 // Rank is that in the world
	Thread      uint32
	CommandSize uint32
	Command     uint64 // offset of the arguments of the process, each ended by NUL
	Events      uint64
	Calls       uint64 // offset and size of the sequence of the calls' rows
	CallsSize   uint64
	Rows        uint64 // offset of the rows
	RowCount    uint32
	Whole       uint32 // 1: the thread made no more calls than were recorded
	// What the thread has done, written by its process.
	Followed uint64 // calls that were as recorded
	Forced   uint64 // calls whose outcome was forced
	State    uint32 // StreamUnseen …
	_        uint32
}

// Row is a node: calls of a procedure from a callsite with the same words.
type Row struct {
	Call   uint64 // the header of its events, without an error class
	Site   uint64 // word of the callsite
	Object uint64 // word of the communicator, window or file
	Text   uint64 // offset of the text that names it
	// Values are the offset and size of the sequence of outcomes; 0 if there is none to force.
	Values, ValuesSize, ValueCount uint64
	Words                          uint64 // offset of its words
	Compared                       uint64 // bit i is set if word i is that of an argument that is compared
	Names                          uint64 // offset of the offsets of the names of the words' parameters
}

// Options of a replay.
const (
	OptionPlaces    = 1 << iota // callsites are compared
	OptionTotals                // polls that found nothing were only counted
	OptionStop                  // a process that leaves the recording is stopped
	OptionAbort                 // it is aborted
	OptionStopAtEnd             // a process at the end of a recording that is not whole is stopped
	OptionGenerated             // polls that found nothing are left out, as programs of efg generate do
)

// States of the run and of its streams.
const (
	StateFree = 1

	StreamUnseen   = 0 // made no call yet
	StreamFollows  = 1
	StreamEnded    = 2 // made all the recorded calls
	StreamDiverged = 3 // made another call than was recorded
	StreamFreed    = 4 // goes on free because another one diverged
)

// CHeader returns the C declarations of the layout.
func CHeader() []byte {
	var b bytes.Buffer
	b.WriteString("/* Generated from internal/replay/layout.go by hook/internal/gen/layout. Do not edit. */\n")
	b.WriteString("#ifndef EFG_REPLAY_LAYOUT_H\n#define EFG_REPLAY_LAYOUT_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n")
	for _, c := range []struct {
		name  string
		value uint64
	}{
		{"MAGIC", Magic}, {"OPTION_PLACES", OptionPlaces}, {"OPTION_TOTALS", OptionTotals}, {"OPTION_STOP", OptionStop},
		{"OPTION_ABORT", OptionAbort}, {"OPTION_STOP_AT_END", OptionStopAtEnd}, {"STATE_FREE", StateFree},
		{"FOLLOWS", StreamFollows}, {"ENDED", StreamEnded}, {"DIVERGED", StreamDiverged}, {"FREED", StreamFreed},
		{"FREE", Free}, {"UNDEFINED", Undefined}, {"NOTHING", Nothing}, {"FOUND", Found},
	} {
		fmt.Fprintf(&b, "#define RPL_%s UINT64_C(%#x)\n", c.name, c.value)
	}
	for _, t := range []any{Header{}, World{}, Stream{}, Row{}} {
		cstruct.Write(&b, "rpl_", reflect.TypeOf(t))
	}
	b.WriteString("\n#endif\n")
	return b.Bytes()
}
