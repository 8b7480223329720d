package reconstruct

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/efg-tools/efg/signature"
)

// appendField appends a field of the current event; nothing if it is absent.
func (e *Event) appendField(b []byte, f *field, st *style) []byte {
	switch f.form {
	case vector, requestVector:
		return e.appendVector(b, f, st)
	case newObject:
		return e.appendNewObject(b, f, st)
	case oneStatus:
		return e.appendStatus(b, e.oneStatus(f), st)
	case fileStatus:
		return e.appendFileStatus(b, f, st)
	case manyStatuses:
		return e.appendStatuses(b, f, st)
	case wideValue:
		return e.appendWide(st.appendName(b, f.name), f, st)
	}
	w := e.Word(f.word)
	if w == signature.Absent || w == 0 && f.param.Kind == signature.Buf {
		return b
	}
	return e.appendValue(st.appendName(b, f.name), f.param, w, st)
}

// appendValue appends the value of a word.
func (e *Event) appendValue(b []byte, q *signature.Param, w uint64, st *style) []byte {
	if k, ok := signature.ConstNumber(w); ok {
		if w == signature.Absent {
			return append(b, "null"...)
		}
		return st.appendString(b, constantName(k))
	}
	names := e.stream.process.names
	switch {
	case q.Kind == signature.Bits:
		return appendFlags(b, q.Set, w, st)
	case q.Kind.Integer():
		return strconv.AppendInt(b, int64(w), 10)
	case q.Kind == signature.Str:
		return appendJSONString(b, names.strings[w])
	case q.Kind == signature.Buf:
		return names.appendRegion(b, w, st)
	}
	b = append(b, st.quote...)
	b = names.appendHandle(b, q.Kind, w, e.Thread())
	return append(b, st.quote...)
}

// appendWide appends an integer or a floating-point number of two words.
func (e *Event) appendWide(b []byte, f *field, st *style) []byte {
	v := signature.JoinWide(e.Word(f.word), e.Word(f.word+1))
	if f.param.Kind == signature.Int64 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return appendDouble(b, math.Float64frombits(v), st)
}

// appendDouble appends the shortest text from which the number can be read again, and which shows
// that it is not an integer. JSON has no infinities and no NaN: they become strings.
func appendDouble(b []byte, v float64, st *style) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return st.appendString(b, strconv.FormatFloat(v, 'g', -1, 64))
	}
	from := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	if !bytes.ContainsAny(b[from:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// appendFlags appends flags by name, "MPI_MODE_CREATE|MPI_MODE_RDWR".
func appendFlags(b []byte, set string, w uint64, st *style) []byte {
	flags, rest := signature.FlagNames(set, w)
	if len(flags) == 0 {
		return strconv.AppendUint(b, w, 10)
	}
	b = append(b, st.quote...)
	for i, f := range flags {
		if i > 0 {
			b = append(b, '|')
		}
		b = append(b, f...)
	}
	if rest != 0 {
		b = strconv.AppendUint(append(b, "|0x"...), rest, 16)
	}
	return append(b, st.quote...)
}

// appendRegion appends a buffer's address as region and offset.
func (n *Names) appendRegion(b []byte, w uint64, st *style) []byte {
	name, ok := n.regions[w>>48]
	if !ok {
		name = "region" + strconv.FormatUint(w>>48, 10)
	}
	text := name + "+0x" + strconv.FormatUint(w&(1<<48-1), 16)
	if st.quote != "" {
		return appendJSONString(b, text)
	}
	return append(b, text...)
}

// appendNewObject appends an object that the call created: its word is the slot.
func (e *Event) appendNewObject(b []byte, f *field, st *style) []byte {
	w := e.Word(f.word)
	if w == signature.Absent {
		return b
	}
	if signature.IsPlain(w) {
		w = signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(w)}.Word()
	}
	return e.appendValue(st.appendName(b, f.name), f.param, w, st)
}

func (e *Event) appendVector(b []byte, f *field, st *style) []byte {
	elems, constant := e.Vec(f.word)
	if constant != 0 {
		if constant == signature.Absent {
			return b
		}
		return e.appendValue(st.appendName(b, f.name), f.param, constant, st)
	}
	b = append(st.appendName(b, f.name), '[')
	for i, w := range elems {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.appendValue(b, f.param, w, st)
	}
	return append(b, ']')
}

// oneStatus reads the status of the current event's only completion.
func (e *Event) oneStatus(f *field) status {
	source, tag, bytes := e.Word(f.word), e.Word(f.word+1), e.Word(f.word+2)
	datatype := signature.Absent
	switch {
	case source == signature.Absent && bytes == signature.Absent:
	case f.datatype != 0:
		datatype = e.Word(f.datatype)
	case e.node.requests != 0:
		return e.receivedStatus(source, tag, bytes)
	}
	return e.track.statusOf(source, tag, bytes, datatype)
}

// receivedStatus completes the status of the current event's only completion, that of a
// receive, with the arguments with which it was posted.
func (e *Event) receivedStatus(source, tag, bytes uint64) status {
	position := 0
	if e.node.index != 0 {
		position = int(e.Word(e.node.index))
	}
	p, _ := e.track.postedWith(e.Request(position))
	if source == signature.AsPosted {
		source = p.source
	}
	if tag == signature.AsPosted {
		tag = p.tag
	}
	if bytes == signature.AsPosted {
		return e.track.sizeAsPosted(source, tag, p)
	}
	return e.track.statusOf(source, tag, bytes, p.datatype)
}

var (
	sourceParam = &signature.Param{Kind: signature.Peer}
	tagParam    = &signature.Param{Kind: signature.Tag}
)

// appendStatus appends source, tag and received count, if known; bytes if the count is not a
// whole number of elements.
func (e *Event) appendStatus(b []byte, s status, st *style) []byte {
	if !s.known {
		return b
	}
	if s.source != signature.Absent {
		b = e.appendValue(st.appendName(b, "source"), sourceParam, s.source, st)
	}
	if s.tag != signature.Absent {
		b = e.appendValue(st.appendName(b, "tag"), tagParam, s.tag, st)
	}
	return appendCount(b, s, st)
}

func appendCount(b []byte, s status, st *style) []byte {
	switch {
	case s.whole:
		return strconv.AppendUint(st.appendName(b, "count"), s.count, 10)
	case s.sized:
		return strconv.AppendUint(st.appendName(b, "bytes"), s.bytes, 10)
	}
	return b
}

func (e *Event) appendFileStatus(b []byte, f *field, st *style) []byte {
	bytes := e.Word(f.word)
	if signature.IsConst(bytes) {
		return b
	}
	datatype := signature.Absent
	if f.datatype != 0 {
		datatype = e.Word(f.datatype)
	}
	return appendCount(b, e.track.statusOf(signature.Absent, signature.Absent, bytes, datatype), st)
}

// appendStatuses appends the statuses of the completed receives.
func (e *Event) appendStatuses(b []byte, f *field, st *style) []byte {
	var room [16]status
	list := e.track.statuses(room[:0], e, f.word)
	if len(list) == 0 {
		return b
	}
	b = append(st.appendName(b, "statuses"), '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = st.appendName(append(b, '{'), "index")
		b = strconv.AppendInt(b, int64(s.position), 10)
		b = append(e.appendStatus(b, s, st), '}')
	}
	return append(b, ']')
}

// appendJSONString appends s as a JSON string. Bytes that are not UTF-8 become
// the replacement character.
func appendJSONString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
