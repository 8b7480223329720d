package reconstruct

import (
	"bytes"
	"sort"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// style is a format for writing events.
type style struct {
	index  int // of node.layouts
	quote  string
	assign string // between name and value
	sep    string // between fields
	args   [2]string
	outs   [2]string
	end    string // after the callsite
}

var (
	jsonStyle = &style{
		index: 0, quote: `"`, assign: `":`, sep: `,"`,
		args: [2]string{`"args":{`, `}`}, outs: [2]string{`,"out":{`, `}`}, end: "}\n",
	}
	textStyle = &style{
		index: 1, assign: "=", sep: ", ",
		args: [2]string{"(", ")"}, outs: [2]string{" {", "}"}, end: "\n",
	}
	jsonArguments = &style{index: 2, quote: `"`, assign: `":`, sep: `,"`, args: [2]string{"{", "}"}}
	jsonResults   = &style{index: 3, quote: `"`, assign: `":`, sep: `,"`, outs: [2]string{"{", "}"}}
)

// layout is how events of a node are written: constant text with fields in between that vary
// between events.
type layout struct {
	segments []segment
}

type segment struct {
	text  []byte
	field *field // nil after the last text
}

// field is an argument or result.
type field struct {
	name  string
	out   bool
	form  fieldForm
	word  int
	param *signature.Param
	// datatype is the word of the datatype of the received elements; 0 means that of the
	// completed request.
	datatype int
}

type fieldForm uint8

const (
	oneWord fieldForm = iota
	newObject
	vector
	requestVector
	oneStatus
	fileStatus
	manyStatuses
	wideValue
)

// fields returns the arguments and results of the node's procedure, each in the order of the C
// binding. As in the binding, the request that a call issues is shown with the arguments; other
// new handles are shown with the results.
func (n *node) fields() (args, outs []field) {
	if n.proc == nil {
		return nil, nil
	}
	for i := signature.ObjectWord; i < len(n.proc.Words); i++ {
		w := &n.proc.Words[i]
		if w.Param < 0 || w.Part == signature.MessageTag || w.Part == signature.Low || w.Part == signature.Bytes && n.isStatus(w) {
			continue
		}
		q := &n.proc.Params[w.Param]
		f := field{name: q.Name, out: w.Out, form: formOf(q, w), word: i, param: q}
		if f.form == oneStatus || f.form == fileStatus {
			f.datatype = n.receivedType()
		}
		if f.out && i != n.request {
			outs = append(outs, f)
		} else {
			args = append(args, f)
		}
	}
	order := func(l []field) {
		sort.SliceStable(l, func(i, j int) bool {
			return n.proc.Words[l[i].word].Param < n.proc.Words[l[j].word].Param
		})
	}
	order(args)
	order(outs)
	return args, outs
}

func (n *node) isStatus(w *signature.Word) bool {
	return n.proc.Params[w.Param].Kind == signature.Status
}

func formOf(q *signature.Param, w *signature.Word) fieldForm {
	switch {
	case q.Kind == signature.Status:
		return oneStatus
	case q.Kind == signature.FStatus:
		return fileStatus
	case q.Kind == signature.Statuses:
		return manyStatuses
	case q.Kind.Wide():
		return wideValue
	case w.Form == signature.SlotForm:
		return newObject
	case w.Form == signature.VecForm && q.Kind == signature.Req:
		return requestVector
	case w.Form == signature.VecForm:
		return vector
	}
	return oneWord
}

// receivedType is the word of the datatype of the elements that a status counts.
func (n *node) receivedType() int {
	if n.proc.Completes != "" || n.proc.Peeks != "" {
		return 0
	}
	if r := &n.proc.Roles; !r.Recv.Present() {
		return r.Send.Type // of a write
	}
	return n.proc.Roles.Recv.Type
}

// constant reports whether a field is equal for all events of the node.
func (n *node) constant(f *field) bool {
	if n.demoted(f.word) {
		return false
	}
	switch f.form {
	case requestVector:
		return n.words[f.word] != signature.Same
	case oneStatus:
		absent := n.words[f.word] == signature.Absent && n.words[f.word+2] == signature.Absent
		return absent && !n.demoted(f.word+1) && !n.demoted(f.word+2) ||
			f.datatype != 0 && !n.demoted(f.word+1) && !n.demoted(f.word+2) && !n.demoted(f.datatype)
	case fileStatus:
		return !n.demoted(f.datatype)
	case manyStatuses:
		return n.words[f.word] == signature.Absent
	case wideValue:
		return !n.demoted(f.word + 1)
	}
	return true
}

// layoutOf returns the node's layout, which is created at the first event.
func (e *Event) layoutOf(st *style) *layout {
	if l := e.node.layouts[st.index]; l != nil {
		return l
	}
	l := e.makeLayout(st)
	e.node.layouts[st.index] = l
	return l
}

func (e *Event) makeLayout(st *style) *layout {
	args, outs := e.node.fields()
	l := &layout{}
	switch st {
	case jsonArguments:
		text := e.layFields(l, []byte(st.args[0]), args, st)
		l.segments = append(l.segments, segment{text: append(text, st.args[1]...)})
		return l
	case jsonResults:
		text := e.layResults(l, []byte(st.outs[0]), outs, st)
		l.segments = append(l.segments, segment{text: append(text, st.outs[1]...)})
		return l
	}
	text := e.appendOp(nil, st)
	text = append(text, st.args[0]...)
	text = e.layFields(l, text, args, st)
	text = append(text, st.args[1]...)
	text = append(text, st.outs[0]...)
	text = e.layResults(l, text, outs, st)
	if brief := bytes.TrimSuffix(text, []byte(textStyle.outs[0])); len(brief) < len(text) && st == textStyle {
		text = brief // no results
	} else {
		text = append(text, st.outs[1]...)
	}
	text = e.appendSite(text, st)
	l.segments = append(l.segments, segment{text: append(text, st.end...)})
	return l
}

// layResults adds the results to the layout, and the error of a call that failed.
func (e *Event) layResults(l *layout, text []byte, outs []field, st *style) []byte {
	text = e.layFields(l, text, outs, st)
	if e.Failed() {
		text = st.appendName(text, "error")
		text = st.appendString(text, ErrorName(e.node.header.ErrorClass()))
	}
	return text
}

// layFields adds fields to the layout. text has not been added yet.
func (e *Event) layFields(l *layout, text []byte, fields []field, st *style) []byte {
	for i := range fields {
		f := &fields[i]
		if e.node.constant(f) {
			text = e.appendField(text, f, st)
			continue
		}
		l.segments = append(l.segments, segment{text, f})
		text = nil
	}
	return text
}

func (e *Event) appendOp(b []byte, st *style) []byte {
	if st == jsonStyle {
		b = append(b, `,"op":"`...)
		return append(append(b, e.Op()...), `",`...)
	}
	return append(b, e.node.called()...)
}

func (e *Event) appendSite(b []byte, st *style) []byte {
	if st == jsonStyle {
		return e.appendPath(appendJSONString(append(b, `,"site":`...), e.Site()))
	}
	return append(append(b, "  "...), e.names().Callsite(e.node.words[1])...)
}

// appendPath appends, in JSON, the call path, if it was recorded.
func (e *Event) appendPath(b []byte) []byte {
	if path := e.Path(); path != nil {
		b = AppendJSONPath(append(b, `,"path":`...), path)
	}
	return b
}

// AppendJSONPath appends a call path as an array.
func AppendJSONPath(b []byte, path []string) []byte {
	sep := byte('[')
	for _, call := range path {
		b = appendJSONString(append(b, sep), call)
		sep = ','
	}
	return append(b, ']')
}

// appendEvent appends all of an event except what precedes the procedure.
func (e *Event) appendEvent(b []byte, st *style) []byte {
	for _, s := range e.layoutOf(st).segments {
		b = st.appendText(b, s.text)
		if s.field != nil {
			b = e.appendField(b, s.field, st)
		}
	}
	return b
}

// appendText appends constant text. A leading separator is omitted if no field precedes it.
func (st *style) appendText(b, text []byte) []byte {
	if len(text) > 0 && text[0] == ',' && opens(b) {
		text = text[len(st.sep)-len(st.quote):]
	}
	return append(b, text...)
}

// opens reports whether b ends with the opening bracket of a list of fields.
func opens(b []byte) bool {
	return len(b) > 0 && (b[len(b)-1] == '{' || b[len(b)-1] == '(')
}

// appendName appends the name of a field, and the separator if it is not the
// first one.
func (st *style) appendName(b []byte, name string) []byte {
	if opens(b) {
		b = append(b, st.quote...)
	} else {
		b = append(b, st.sep...)
	}
	return append(append(b, name...), st.assign...)
}

func (st *style) appendString(b []byte, s string) []byte {
	if st.quote == "" {
		return append(b, s...)
	}
	return append(append(append(b, '"'), s...), '"')
}

// ErrorName is the name of an error class in a header.
func ErrorName(class uint16) string {
	if class&signature.UserErrorClass != 0 {
		return "MPI_ERR_LASTCODE+" + strconv.Itoa(int(class&^signature.UserErrorClass))
	}
	return constantName(int(class))
}

func constantName(k int) string {
	if c := signature.ConstantByID(k); c != nil {
		return strings.TrimPrefix(c.Name, "EFG_") // "NULL", "FREED", "UNKNOWN"
	}
	return "constant " + strconv.Itoa(k)
}
