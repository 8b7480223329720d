package otf2

import (
	"encoding/binary"

	"github.com/efg-tools/efg/internal/export/otf2/names"
)

// Records of events, by their numbers in OTF2.
const (
	eventEnter                         = 12
	eventLeave                         = 13
	eventMpiSend                       = 14
	eventMpiIsend                      = 15
	eventMpiIsendComplete              = 16
	eventMpiIrecvRequest               = 17
	eventMpiRecv                       = 18
	eventMpiIrecv                      = 19
	eventMpiRequestTest                = 20
	eventMpiRequestCancelled           = 21
	eventMpiCollectiveBegin            = 22
	eventMpiCollectiveEnd              = 23
	eventRmaWinCreate                  = 35
	eventRmaWinDestroy                 = 36
	eventRmaCollectiveBegin            = 37
	eventRmaCollectiveEnd              = 38
	eventRmaGroupSync                  = 39
	eventRmaRequestLock                = 40
	eventRmaReleaseLock                = 43
	eventRmaSync                       = 44
	eventRmaPut                        = 46
	eventRmaGet                        = 47
	eventRmaAtomic                     = 48
	eventRmaOpCompleteNonBlocking      = 50
	eventRmaOpTest                     = 51
	eventRmaOpCompleteRemote           = 52
	eventIoCreateHandle                = 69
	eventIoDestroyHandle               = 70
	eventIoSeek                        = 72
	eventIoDeleteFile                  = 74
	eventIoOperationBegin              = 75
	eventIoOperationTest               = 76
	eventIoOperationIssued             = 77
	eventIoOperationComplete           = 78
	eventNonBlockingCollectiveRequest  = 85
	eventNonBlockingCollectiveComplete = 86
	eventCommCreate                    = 87
	eventCommDestroy                   = 88
)

// Records of global definitions.
const (
	defClockProperties    = 5
	defParadigm           = 6
	defIoParadigm         = 8
	defString             = 10
	defAttribute          = 11
	defSystemTreeNode     = 12
	defLocationGroup      = 13
	defLocation           = 14
	defRegion             = 15
	defGroup              = 18
	defComm               = 22
	defRmaWin             = 24
	defSystemTreeDomain   = 27
	defSourceCodeLocation = 33
	defCallingContext     = 34
	defIoRegularFile      = 38
	defIoHandle           = 40
	defIoPreCreatedState  = 41
)

// Types of attributes' values.
const (
	typeUint8              = 1
	typeUint64             = 4
	typeInt64              = 8
	typeString             = 11
	typeSourceCodeLocation = 20
	typeCallingContext     = 21
)

// reference appends a record with a single number, which has no length.
func reference(b []byte, kind byte, ref uint32) []byte { return u32(append(b, kind), ref) }

// request appends a record that is about a request. Those of OTF2 before 3.0 have no length.
func request(b []byte, kind byte, id uint64) []byte {
	b = append(b, kind)
	if kind != eventNonBlockingCollectiveRequest {
		return u64(b, id)
	}
	start := len(b) + 1
	b = u64(append(b, 0), id)
	b[start-1] = byte(len(b) - start)
	return b
}

// message is what the records of messages have.
type message struct {
	peer, comm, tag uint32
	bytes           uint64
}

// transfer appends a record of a message; id is that of its request, unless it is blocking.
func transfer(b []byte, kind byte, m *message, id uint64) []byte {
	b = append(b, kind, 0)
	start := len(b)
	b = u64(u32(u32(u32(b, m.peer), m.comm), m.tag), m.bytes)
	if kind == eventMpiIsend || kind == eventMpiIrecv {
		b = u64(b, id)
	}
	b[start-1] = byte(len(b) - start)
	return b
}

// collective is what the records of collective calls have.
type collective struct {
	op             byte
	comm, root     uint32
	sent, received uint64
}

// collectiveEnd appends the end of a collective call; id is the request of a nonblocking one.
func collectiveEnd(b []byte, kind byte, c *collective, id uint64) []byte {
	b = append(b, kind, 0)
	start := len(b)
	b = u64(u64(u32(u32(append(b, c.op), c.comm), c.root), c.sent), c.received)
	if kind == eventNonBlockingCollectiveComplete {
		b = u64(b, id)
	}
	b[start-1] = byte(len(b) - start)
	return b
}

// anchorVersion are the format and the version of the library that writes it: 3.0.2.
var anchorVersion = []byte{3, 2, 3, 0, 2}

// anchor is the content of the anchor file.
func anchor(machine, description string, locations, definitions, id uint64, properties [][2]string) []byte {
	b := append([]byte{chunkHeader, littleEndian}, "OTF2\x00"...)
	b = append(b, anchorVersion...)
	b = binary.LittleEndian.AppendUint64(b, eventChunk)
	b = binary.LittleEndian.AppendUint64(b, definitionChunk)
	b = append(b, 1, 1) // POSIX files, not compressed
	b = binary.LittleEndian.AppendUint64(b, locations)
	b = binary.LittleEndian.AppendUint64(b, definitions)
	b = text(text(text(b, machine), names.Creator), description)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(properties)))
	for _, p := range properties {
		b = text(text(b, p[0]), p[1])
	}
	b = binary.LittleEndian.AppendUint64(b, id)
	b = binary.LittleEndian.AppendUint64(b, 0) // snapshots, thumbnails
	return append(b, endOfFile, endOfBuffer, 0)
}
