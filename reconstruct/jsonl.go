package reconstruct

import "strconv"

// AppendJSON appends the event as one line of JSON; docs/jsonl.md describes the format.
func (e *Event) AppendJSON(b []byte) []byte {
	b = append(b, `{"rank":`...)
	b = strconv.AppendInt(b, int64(e.Rank()), 10)
	b = append(b, `,"thread":`...)
	b = strconv.AppendUint(b, uint64(e.Thread()), 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, e.Seq, 10)
	b = e.appendEvent(b, jsonStyle)
	start, end, ok := e.Times()
	if !ok && !e.Header().ByPMPI() && e.Depth() == 0 {
		return b
	}
	b = b[:len(b)-len(jsonStyle.end)]
	if ok {
		b = strconv.AppendInt(append(b, `,"t0":`...), start, 10)
		b = strconv.AppendInt(append(b, `,"t1":`...), end, 10)
	}
	return append(e.appendCounters(e.node.appendDepth(e.node.appendPMPI(b))), jsonStyle.end...)
}

// appendCounters appends, in JSON, what was counted at the event, if anything.
func (e *Event) appendCounters(b []byte) []byte {
	separator := `,"counters":{`
	for i, v := range e.Counters() {
		if !v.Counted || i >= len(e.stream.process.proc.Counters) {
			continue
		}
		b = appendJSONString(append(b, separator...), e.stream.process.proc.Counters[i].Name)
		b = strconv.AppendUint(append(b, `:{"before":`...), v.Before, 10)
		b = append(strconv.AppendUint(append(b, `,"call":`...), v.Call, 10), '}')
		separator = ","
	}
	if separator == "," {
		b = append(b, '}')
	}
	return b
}

// appendDepth appends, in JSON, how many calls the call was made inside of, if any.
func (n *node) appendDepth(b []byte) []byte {
	if d := n.header.Depth(); d > 0 {
		b = strconv.AppendInt(append(b, `,"depth":`...), int64(d), 10)
	}
	return b
}

// AppendJSONArguments appends the object with the event's arguments, "args" in AppendJSON.
func (e *Event) AppendJSONArguments(b []byte) []byte { return e.appendEvent(b, jsonArguments) }

// AppendJSONResults appends the object with the event's results, "out" in AppendJSON.
func (e *Event) AppendJSONResults(b []byte) []byte { return e.appendEvent(b, jsonResults) }

// Constant reports whether AppendJSONArguments and AppendJSONResults append the same for all events
// of the node.
func (e *Event) Constant() bool {
	return len(e.layoutOf(jsonArguments).segments) == 1 && len(e.layoutOf(jsonResults).segments) == 1
}

// appendPMPI appends, in JSON, that the program called the procedure by its PMPI_ name,
// if it did.
func (n *node) appendPMPI(b []byte) []byte {
	if n.header.ByPMPI() {
		b = append(b, `,"pmpi":true`...)
	}
	return b
}

// AppendText appends the event as one human-readable line: rank, thread if the process has
// several, event number, call, results and place.
func (e *Event) AppendText(b []byte) []byte {
	b = appendPadded(b, uint64(max(e.Rank(), 0)), 4)
	if len(e.stream.process.streams) > 1 {
		b = strconv.AppendUint(append(b, '.'), uint64(e.Thread()), 10)
	}
	b = appendPadded(b, e.Seq, 9)
	if start, end, ok := e.Times(); ok {
		b = appendSeconds(append(b, "  "...), start)
		b = appendSeconds(append(b, " +"...), end-start)
	}
	b = append(b, "  "...)
	return e.appendEvent(b, textStyle)
}

// AppendCall appends the call like AppendText, but without rank, number, times and line end.
func (e *Event) AppendCall(b []byte) []byte {
	b = e.appendEvent(b, textStyle)
	return b[:len(b)-len(textStyle.end)]
}

// appendSeconds appends nanoseconds as seconds.
func appendSeconds(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = strconv.AppendInt(b, ns/1e9, 10)
	frac := strconv.AppendInt(nil, 1e9+ns%1e9, 10)
	frac[0] = '.'
	return append(b, frac...)
}

// appendPadded appends v in at least width columns.
func appendPadded(b []byte, v uint64, width int) []byte {
	var room [20]byte
	digits := strconv.AppendUint(room[:0], v, 10)
	for i := len(digits); i < width; i++ {
		b = append(b, ' ')
	}
	return append(b, digits...)
}
