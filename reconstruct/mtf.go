package reconstruct

import (
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// AppendMTF appends the event in terms of the MPI Trace Format: for each operation of the call
// an object of the metamodel's class, one JSON object per line. docs/mtf.md describes them.
// Options.Issues must be set, so that a wait refers to the operations that it completes.
func (e *Event) AppendMTF(b []byte) []byte {
	if e.node.proc == nil {
		return e.appendClass(b, signature.OtherOps)
	}
	for _, class := range e.node.proc.MTF {
		b = e.appendClass(b, class)
	}
	return b
}

func (e *Event) appendClass(b []byte, class string) []byte {
	m := &mtf{e: e, b: b}
	m.begin(class)
	switch class {
	case "Send", "NonBlockingSend":
		m.send()
	case "Receive", "NonBlockingReceive":
		m.receive(class == "Receive")
	case "WaitOperation", "TestOperation":
		m.completion(class == "TestOperation")
	case "ProbeOperation":
		m.probe()
	case "MPI_Init", "MPI_Finalize", signature.OtherOps:
		m.annotation()
	default:
		m.collective()
	}
	if e.Failed() {
		m.name("Error")
		m.b = jsonStyle.appendString(m.b, ErrorName(e.node.header.ErrorClass()))
	}
	return append(m.b, "}\n"...)
}

// mtf writes one object.
type mtf struct {
	e *Event
	b []byte
}

func (m *mtf) name(attribute string) { m.b = jsonStyle.appendName(m.b, attribute) }

// begin appends what all operations have: MPOperation and TraceableUnit.
func (m *mtf) begin(class string) {
	e := m.e
	m.b = append(m.b, '{')
	m.name("Class")
	m.b = jsonStyle.appendString(m.b, class)
	m.name("TraceableUnitID")
	m.b = append(m.b, '"')
	m.b = strconv.AppendInt(m.b, int64(e.Rank()), 10)
	m.b = strconv.AppendUint(append(m.b, '.'), uint64(e.Thread()), 10)
	m.b = strconv.AppendUint(append(m.b, '.'), e.Seq, 10)
	m.b = append(m.b, '"')
	m.name("MPOperationName")
	m.b = jsonStyle.appendString(m.b, e.Op())
	if start, end, ok := e.Times(); ok {
		m.name("StartTime")
		m.b = strconv.AppendInt(m.b, start, 10)
		m.name("EndTime")
		m.b = strconv.AppendInt(m.b, end, 10)
	}
	if p := e.node.proc; p != nil && p.ObjectKind() == signature.Comm {
		m.word("Communicator", signature.ObjectWord)
	}
}

// annotation appends what a program says by efg.h: the name, and the value of an attribute.
func (m *mtf) annotation() {
	p := m.e.node.proc
	if !p.Annotates() {
		return
	}
	for i := signature.FirstWord; i < len(p.Words); i++ {
		if w := &p.Words[i]; w.Part != signature.Low {
			q := &p.Params[w.Param]
			name := strings.ToUpper(q.Name[:1]) + q.Name[1:]
			m.b = m.e.appendField(m.b, &field{name: name, form: formOf(q, w), word: i, param: q}, jsonStyle)
		}
	}
}

// word appends word i, unless it is absent or the procedure has none.
func (m *mtf) word(attribute string, i int) {
	if i == 0 {
		return
	}
	p := m.e.node.proc
	form := oneWord
	if p.Vector(i) {
		form = vector
	}
	m.b = m.e.appendField(m.b, &field{name: attribute, form: form, word: i, param: &p.Params[p.Words[i].Param]}, jsonStyle)
}

func (m *mtf) roles() *signature.Roles { return &m.e.node.proc.Roles }

func (m *mtf) number(attribute string, v uint64) {
	m.name(attribute)
	m.b = strconv.AppendUint(m.b, v, 10)
}

var sendTypes = map[string]string{
	signature.StandardMode: "Standard", signature.BufferedMode: "Buffered", signature.SynchronousMode: "Synchronous",
	signature.ReadyMode: "Ready",
}

func (m *mtf) send() {
	r := m.roles()
	m.word("SendDataAddress", r.Send.Buffer)
	m.word("SendDataSize", r.Send.Count)
	m.word("SendDataType", r.Send.Type)
	m.word("Tag", r.SendTag)
	m.name("SendType")
	m.b = jsonStyle.appendString(m.b, sendTypes[m.e.node.proc.Mode])
	m.word("Process", r.Dest)
	m.request()
}

func (m *mtf) receive(blocking bool) {
	r := m.roles()
	m.word("RcvDataAddress", r.Recv.Buffer)
	m.word("RcvDataSize", r.Recv.Count)
	m.word("RcvDataType", r.Recv.Type)
	m.word("Tag", r.RecvTag)
	m.word("Process", r.Source)
	m.word("MatchedMessage", r.Message)
	m.request()
	if i := r.StatusSource; blocking && i != 0 {
		m.message(m.e.oneStatus(&field{word: i, datatype: m.e.node.receivedType()}))
	}
}

// request appends the request that the operation issues.
func (m *mtf) request() {
	n := m.e.node
	if n.request == 0 {
		return
	}
	f := field{name: "Request", word: n.request, param: &n.proc.Params[n.proc.Words[n.request].Param]}
	m.b = m.e.appendNewObject(m.b, &f, jsonStyle)
}

// message appends the message that a receive received. From MPI_PROC_NULL there is none.
func (m *mtf) message(s status) {
	if !s.known || s.source == signature.ProcNull {
		return
	}
	m.name("Message")
	m.b = append(m.b, '{')
	m.messageFields(s)
	m.b = append(m.b, '}')
}

func (m *mtf) messageFields(s status) {
	value := func(name string, q *signature.Param, w uint64) {
		if w != signature.Absent {
			m.name(name)
			m.b = m.e.appendValue(m.b, q, w, jsonStyle)
		}
	}
	value("DataType", typeParam, s.datatype)
	if s.whole {
		m.number("DataSize", s.count)
	} else if s.sized {
		m.number("Bytes", s.bytes)
	}
	value("Tag", tagParam, s.tag)
	value("Sender", sourceParam, s.source)
	m.name("Receiver")
	m.b = strconv.AppendInt(m.b, int64(m.e.Rank()), 10)
}

var typeParam = &signature.Param{Kind: signature.Type}

// completion appends the operations that a call completes, by the numbers of
// their events, and the messages of the receives among them.
func (m *mtf) completion(test bool) {
	n := m.e.node
	if test {
		m.flag()
	}
	if n.requests == 0 {
		m.word("Request", m.roles().Requests)
		return
	}
	done := m.e.Completed()
	for _, class := range []string{"NonBlockingSend", "NonBlockingReceive", "Operation"} {
		m.operations(class, done)
	}
	m.messages()
}

// flag appends whether a test or probe found something.
func (m *mtf) flag() {
	n := m.e.node
	switch {
	case n.flag != 0:
		m.b = m.e.appendField(m.b, &field{name: "Flag", word: n.flag, param: &signature.Param{}}, jsonStyle)
	case n.completes == completesSome:
		m.number("Flag", uint64(min(len(m.e.Completed()), 1)))
	}
}

// operations appends the completed operations of a class.
func (m *mtf) operations(class string, done []int) {
	open := false
	for _, i := range done {
		w := m.e.Request(i)
		if operationClass(m.e.stream.process.issuer(w)) != class {
			continue
		}
		if open {
			m.b = append(m.b, ',')
		} else {
			m.name(class)
			m.b = append(m.b, '[')
			open = true
		}
		if seq, ok := m.e.Issuer(w); ok {
			m.b = strconv.AppendUint(m.b, seq, 10)
			continue
		}
		m.b = append(m.b, '"')
		m.b = m.e.stream.process.names.appendHandle(m.b, signature.Req, w, m.e.Thread())
		m.b = append(m.b, '"')
	}
	if open {
		m.b = append(m.b, ']')
	}
}

// operationClass is the class by which the operation that a node issues is referred to.
func operationClass(n *node) string {
	if n == nil || n.proc == nil || n.proc.Sends() == n.proc.Receives() {
		return "Operation"
	}
	if n.proc.Sends() {
		return "NonBlockingSend"
	}
	return "NonBlockingReceive"
}

// messages appends the messages of the receives that the call completed.
func (m *mtf) messages() {
	if i := m.roles().Statuses; i != 0 {
		list := m.e.track.statuses(nil, m.e, i)
		m.list(slices.DeleteFunc(list, func(s status) bool { return s.source == signature.ProcNull }))
		return
	}
	if i := m.roles().StatusSource; i != 0 {
		m.message(m.e.oneStatus(&field{word: i}))
	}
}

func (m *mtf) list(messages []status) {
	if len(messages) == 0 {
		return
	}
	m.name("Messages")
	m.b = append(m.b, '[')
	for k, s := range messages {
		if k > 0 {
			m.b = append(m.b, ',')
		}
		m.b = append(m.b, '{')
		m.messageFields(s)
		m.b = append(m.b, '}')
	}
	m.b = append(m.b, ']')
}

func (m *mtf) probe() {
	r := m.roles()
	m.word("Tag", r.RecvTag)
	m.flag()
	m.word("Process", r.Source)
	if i := r.StatusSource; i != 0 {
		m.message(m.e.oneStatus(&field{word: i}))
	}
}

// collective appends root, operation and data of a collective operation.
func (m *mtf) collective() {
	r := m.roles()
	m.word("Process", r.Root)
	if r.Send.Present() || r.Recv.Present() {
		m.name("CollectiveData")
		m.b = append(m.b, '{')
		m.word("SendAddress", r.Send.Buffer)
		m.word("SendSize", r.Send.Count)
		m.word("SendDataType", r.Send.Type)
		m.word("RcvAddress", r.Recv.Buffer)
		m.word("RcvSize", r.Recv.Count)
		m.word("RcvDataType", r.Recv.Type)
		m.b = append(m.b, '}')
	}
	m.word("OpType", r.Op)
	m.request()
}
