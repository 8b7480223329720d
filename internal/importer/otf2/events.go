package otf2

// Kind is the kind of an event.
type Kind byte

// Kinds of events that have fields here. The fields are in the order of the OTF2 specification.
const (
	Enter                         Kind = 12 // region
	Leave                         Kind = 13 // region
	MpiSend                       Kind = 14 // receiver, communicator, tag, bytes
	MpiIsend                      Kind = 15 // receiver, communicator, tag, bytes, request
	MpiIsendComplete              Kind = 16 // request
	MpiIrecvRequest               Kind = 17 // request
	MpiRecv                       Kind = 18 // sender, communicator, tag, bytes
	MpiIrecv                      Kind = 19 // sender, communicator, tag, bytes, request
	MpiRequestTest                Kind = 20 // request
	MpiRequestCancelled           Kind = 21 // request
	MpiCollectiveBegin            Kind = 22
	MpiCollectiveEnd              Kind = 23 // operation, communicator, root, bytes sent, bytes received
	RmaWinCreate                  Kind = 35 // window
	RmaWinDestroy                 Kind = 36 // window
	RmaCollectiveBegin            Kind = 37
	RmaCollectiveEnd              Kind = 38 // operation, level, window, root, bytes sent, bytes received
	RmaGroupSync                  Kind = 39 // level, window, group
	RmaRequestLock                Kind = 40 // window, target, id of the lock, type
	RmaAcquireLock                Kind = 41 // likewise
	RmaTryLock                    Kind = 42 // likewise
	RmaReleaseLock                Kind = 43 // window, target, id of the lock
	RmaSync                       Kind = 44 // window, target, type
	RmaPut                        Kind = 46 // window, target, bytes, id
	RmaGet                        Kind = 47 // window, target, bytes, id
	RmaAtomic                     Kind = 48 // window, target, type, bytes sent, bytes received, id
	RmaOpCompleteBlocking         Kind = 49 // window, id
	RmaOpCompleteNonBlocking      Kind = 50 // window, id
	RmaOpTest                     Kind = 51 // window, id
	RmaOpCompleteRemote           Kind = 52 // window, id
	CallingContextEnter           Kind = 66 // region
	CallingContextLeave           Kind = 67 // region
	IoCreateHandle                Kind = 69 // handle, mode, flags of creation, flags of status
	IoDestroyHandle               Kind = 70 // handle
	IoSeek                        Kind = 72 // handle, offset, from where, result
	IoDeleteFile                  Kind = 74 // paradigm, file
	IoOperationBegin              Kind = 75 // handle, mode, flags, bytes, id
	IoOperationTest               Kind = 76 // handle, id
	IoOperationIssued             Kind = 77 // handle, id
	IoOperationComplete           Kind = 78 // handle, bytes, id
	NonBlockingCollectiveRequest  Kind = 85 // request
	NonBlockingCollectiveComplete Kind = 86 // as MpiCollectiveEnd, request
	CommCreate                    Kind = 87 // communicator
	CommDestroy                   Kind = 88 // communicator
)

// shape is the layout of a record.
type shape struct {
	// fields has a letter for each: n a number of 32 bits, N of 64, b a byte, r a region, c a
	// communicator, g a group, w a window, f a file, h an open one, x a calling context, of which the region is
	// returned.
	fields string
	// short: the record has no length. Of others a reader skips what it does not know.
	short bool
}

var shapes = [256]shape{
	Enter: {"r", true}, Leave: {"r", true}, MpiSend: {"ncnN", false}, MpiIsend: {"ncnNN", false},
	MpiIsendComplete: {"N", true}, MpiIrecvRequest: {"N", true}, MpiRecv: {"ncnN", false}, MpiIrecv: {"ncnNN", false},
	MpiRequestTest: {"N", true}, MpiRequestCancelled: {"N", true},
	MpiCollectiveBegin: {"", false}, MpiCollectiveEnd: {"bcnNN", false},
	CallingContextEnter: {"x", false}, CallingContextLeave: {"x", false},
	NonBlockingCollectiveRequest: {"N", false}, NonBlockingCollectiveComplete: {"bcnNNN", false},
	CommCreate: {"c", false}, CommDestroy: {"c", false},
	RmaWinCreate: {"w", false}, RmaWinDestroy: {"w", false}, RmaCollectiveBegin: {"", false}, RmaCollectiveEnd: {"bnwnNN", false},
	RmaPut: {"wnNN", false}, RmaGet: {"wnNN", false}, RmaAtomic: {"wnbNNN", false},
	RmaGroupSync: {"nwg", false}, RmaRequestLock: {"wnNb", false}, RmaAcquireLock: {"wnNb", false}, RmaTryLock: {"wnNb", false},
	RmaReleaseLock: {"wnN", false}, RmaSync: {"wnb", false},
	RmaOpCompleteBlocking: {"wN", false}, RmaOpCompleteNonBlocking: {"wN", false}, RmaOpTest: {"wN", false}, RmaOpCompleteRemote: {"wN", false},
	IoCreateHandle: {"hbnn", false}, IoDestroyHandle: {"h", false}, IoSeek: {"hNbN", false}, IoDeleteFile: {"bf", false},
	IoOperationBegin: {"hbnNN", false}, IoOperationTest: {"hN", false}, IoOperationIssued: {"hN", false}, IoOperationComplete: {"hNN", false},
	24: {"n", true}, 28: {"N", true}, 29: {"N", true}, 30: {"N", true}, // of OpenMP, in OTF2 1.0
}

// Event is an event of a location. It is valid until the next one is read.
type Event struct {
	Kind       Kind
	Time       uint64 // ticks, corrected
	Offset     int64  // of its record in the file
	Fields     []uint64
	Attributes []Value
}

// Value is the value of an attribute.
type Value struct {
	Attribute uint64
	Type      byte
	// Number is an integer (of signed types extended), the bits of a floating-point number, or a
	// reference.
	Number uint64
}

// Types of attributes' values.
const (
	TypeUint8      = 1
	TypeUint16     = 2
	TypeUint32     = 3
	TypeUint64     = 4
	TypeInt8       = 5
	TypeInt16      = 6
	TypeInt32      = 7
	TypeInt64      = 8
	TypeFloat      = 9
	TypeDouble     = 10
	TypeString     = 11
	TypeLocation   = 13
	TypeComm       = 17
	TypeSourceLine = 20
	TypeContext    = 21
)

// EventReader reads the events of a location.
type EventReader struct {
	archive *Archive
	chunks  *chunks
	local   *local
	event   Event
	time    uint64 // ticks, not corrected
}

// Events opens the events of a location. They must be closed.
func (a *Archive) Events(location uint64) (*EventReader, error) {
	l, err := a.readLocal(location)
	if err != nil {
		return nil, err
	}
	path, shown := a.local(location, ".evt")
	c, err := openChunks(path, shown, a.eventChunk)
	if err != nil {
		return nil, err
	}
	return &EventReader{archive: a, chunks: c, local: l}, nil
}

// Close closes the files.
func (r *EventReader) Close() { r.chunks.close() }

// Next returns the next event, nil at the end. Records of unknown kinds are events without fields.
func (r *EventReader) Next() (*Event, error) {
	e, c := &r.event, r.chunks
	e.Attributes = e.Attributes[:0]
	for {
		kind, ok := c.more()
		if !ok {
			return nil, c.err
		}
		switch kind {
		case timestampMark:
			r.stamp()
		case attributeMark:
			r.attributes()
		case chunkHeader:
			c.failf("a header within a chunk")
		default:
			r.record(Kind(kind))
			if c.err != nil {
				return nil, c.err
			}
			return e, nil
		}
		if c.err != nil {
			return nil, c.err
		}
	}
}

func (r *EventReader) stamp() {
	c := r.chunks
	t := c.full()
	if c.err == nil && t < r.time {
		c.failf("time %d after %d", t, r.time)
		return
	}
	r.time = t
	r.event.Time = max(r.event.Time, r.local.correct(t))
}

// record reads the record of an event.
func (r *EventReader) record(kind Kind) {
	e, c := &r.event, r.chunks
	e.Kind, e.Offset, e.Fields = kind, c.base+int64(c.at)-1, e.Fields[:0]
	s := shapes[kind]
	if s.short {
		r.fields(s.fields, &c.cursor)
		return
	}
	body := c.record(c.length())
	r.fields(s.fields, &body)
	if c.err == nil {
		c.err = body.err
	}
}

func (r *EventReader) fields(letters string, c *cursor) {
	e, l := &r.event, r.local
	for _, letter := range letters {
		var v uint64
		switch letter {
		case 'n':
			v = c.u32()
		case 'N':
			v = c.u64()
		case 'b':
			v = uint64(c.byte())
		case 'r':
			v = l.maps[mapRegion].global(c.u32())
		case 'c':
			v = l.maps[mapComm].global(c.u32())
		case 'g':
			v = l.maps[mapGroup].global(c.u32())
		case 'f':
			v = l.maps[mapFile].global(c.u32())
		case 'w':
			v = l.maps[mapWindow].global(c.u32())
		case 'h':
			v = l.maps[mapHandle].global(c.u32())
		case 'x':
			v = r.regionOf(l.maps[mapContext].global(c.u32()))
		}
		e.Fields = append(e.Fields, v)
	}
}

// regionOf returns the region of a calling context.
func (r *EventReader) regionOf(context uint64) uint64 {
	if x, ok := r.archive.Definitions.CallingContexts[context]; ok {
		return x.Region
	}
	return Undefined
}

// attributes reads the attributes of the next event.
func (r *EventReader) attributes() {
	if len(r.event.Attributes) > 0 {
		r.chunks.failf("a second list of attributes of an event")
		return
	}
	body := r.chunks.record(r.chunks.length())
	l := r.local
	for range body.u32() {
		if body.err != nil {
			break
		}
		v := Value{Attribute: l.maps[mapAttribute].global(body.u32()), Type: body.byte()}
		v.Number = body.value(v.Type)
		switch v.Type {
		case TypeString:
			v.Number = l.maps[mapString].global(v.Number)
		case TypeComm:
			v.Number = l.maps[mapComm].global(v.Number)
		case TypeSourceLine:
			v.Number = l.maps[mapSource].global(v.Number)
		case TypeContext:
			v.Number = l.maps[mapContext].global(v.Number)
		}
		r.event.Attributes = append(r.event.Attributes, v)
	}
	if r.chunks.err == nil {
		r.chunks.err = body.err
	}
}

// value reads the value of an attribute.
func (c *cursor) value(kind byte) uint64 {
	switch kind {
	case TypeUint8:
		return uint64(c.byte())
	case TypeInt8:
		return uint64(int64(int8(c.byte())))
	case TypeUint16:
		return c.number(2)
	case TypeInt16:
		return uint64(int64(int16(c.number(2))))
	case TypeInt32:
		return uint64(int64(int32(c.number(4))))
	case TypeUint64, TypeInt64, TypeLocation:
		return c.number(8)
	case TypeFloat:
		return uint64(c.full32())
	case TypeDouble:
		return c.full()
	}
	if kind < TypeUint8 || kind > 25 {
		c.failf("an attribute of type %d", kind)
		return 0
	}
	return c.number(4)
}
