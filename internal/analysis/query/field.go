package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/signature"
)

// item is an operation, or several equal ones, for which conditions are evaluated.
type item struct {
	rank, thread int
	node         *nodeFacts
	op           *analysis.Operation
	seq          uint64
	start, end   int64    // nanoseconds since the run began
	inside       int64    // ns, of the calls immediately inside it
	timed        bool     // start and end are known
	region       []string // the names of the regions that it is in, the outermost first

	attributes *regions.Follower // that knows the attributes of the event; nil if they are not needed
}

// value is a number or a text.
type value struct {
	text   string
	number int64
}

// field is an attribute of operations.
type field struct {
	name  string
	names []string // alternative names
	text  bool     // its values are text
	// number and word return the value; false if there is none or it is unknown.
	number func(*item) (int64, bool)
	word   func(*item) string
	// parts returns the texts one of which a condition has to hold for, if that is not word.
	parts func(*item) []string
	needs analysis.Fields
	// event is set if it differs between events of a node and the graph does not say how.
	event, clock bool
	region       bool   // the graph says it of the nodes that are in one region only
	total, group bool   // may be summed, may be grouped by
	unit         string // of numbers: bytes, time
	attribute    string // the name of the attribute whose value it is; empty: it is not one
}

func known(v uint64, ok bool) (int64, bool) { return int64(min(v, math.MaxInt64)), ok }

func rankOrNone(r int) (int64, bool) { return int64(r), r >= 0 }

func size(i *item) (int64, bool) {
	o := i.op
	return known(max(o.Sent, o.Received), o.Known && o.Moves && o.Kind != analysis.OtherOperation)
}

func sender(i *item) (int64, bool) {
	switch i.op.Kind {
	case analysis.SendOperation:
		return rankOrNone(i.rank)
	case analysis.ReceiveOperation:
		return rankOrNone(i.op.Peer)
	}
	return 0, false
}

func receiver(i *item) (int64, bool) {
	switch i.op.Kind {
	case analysis.SendOperation:
		return rankOrNone(i.op.Peer)
	case analysis.ReceiveOperation:
		return rankOrNone(i.rank)
	}
	return 0, false
}

func tag(i *item) (int64, bool) {
	return int64(i.op.Tag), !signature.IsConst(i.op.Tag)
}

var timeField = field{name: "TIME", unit: "time"}

var fields = []*field{
	{name: "SIZE", names: []string{"BYTES"}, number: size, needs: analysis.BytesField, total: true, group: true, unit: "bytes"},
	{name: "SENT", number: func(i *item) (int64, bool) { return known(i.op.Sent, i.op.Known && i.op.Moves) }, needs: analysis.BytesField, total: true, unit: "bytes"},
	{name: "RECEIVED", number: func(i *item) (int64, bool) { return known(i.op.Received, i.op.Known && i.op.Moves) }, needs: analysis.BytesField, total: true, unit: "bytes"},
	{name: "RANK", names: []string{"PROCESS"}, number: func(i *item) (int64, bool) { return int64(i.rank), true }, group: true},
	{name: "THREAD", number: func(i *item) (int64, bool) { return int64(i.thread), true }, group: true},
	{name: "DEPTH", number: func(i *item) (int64, bool) { return int64(i.node.depth), true }, group: true},
	{name: "PEER", number: func(i *item) (int64, bool) { return rankOrNone(i.op.Peer) }, needs: analysis.BytesField, group: true},
	{name: "SENDER", number: sender, needs: analysis.BytesField, group: true},
	{name: "RECEIVER", number: receiver, needs: analysis.BytesField, group: true},
	{name: "TAG", number: tag, needs: analysis.TagField, group: true},
	{name: "OP", names: []string{"PROCEDURE"}, text: true, word: func(i *item) string { return i.node.op }, group: true},
	{name: "CLASS", text: true, word: func(i *item) string { return i.op.Class }, group: true},
	{name: "SITE", text: true, word: func(i *item) string { return i.node.site }, group: true},
	{name: "PATH", text: true, word: func(i *item) string { return i.node.path }, parts: func(i *item) []string { return i.node.calls }, group: true},
	{name: "COMM", text: true, word: commText, needs: analysis.CommField, group: true},
	{name: "ERROR", text: true, word: func(i *item) string { return i.node.failure }, group: true},
	{name: "REGION", text: true, word: func(i *item) string { return regions.PathText(i.region) }, parts: regionParts, group: true, region: true},
	{name: "SEQ", number: func(i *item) (int64, bool) { return int64(i.seq), true }, event: true},
	{name: "START", number: func(i *item) (int64, bool) { return i.start, i.timed }, event: true, clock: true, unit: "time"},
	{name: "END", number: func(i *item) (int64, bool) { return i.end, i.timed }, event: true, clock: true, unit: "time"},
	{name: "DURATION", number: func(i *item) (int64, bool) { return i.end - i.start, i.timed }, event: true, clock: true, unit: "time"},
	{name: "TIME", total: true, unit: "time"},
}

// holds reports whether a condition holds for the text of an operation, or for one of its texts.
func (f *field) holds(i *item, condition func(string) bool) bool {
	if f.parts != nil {
		return slices.ContainsFunc(f.parts(i), condition)
	}
	return condition(f.word(i))
}

// regionParts are the texts of the regions that an operation is in: their names, and those with the names
// of the regions around them. Of an operation in none it is the empty text.
func regionParts(i *item) (list []string) {
	for n := range i.region {
		list = append(list, i.region[n], regions.PathText(i.region[:n+1]))
	}
	if list == nil {
		list = []string{""}
	}
	return list
}

// commText is the name of the communicator, window or file.
func commText(i *item) string {
	kind, ok := i.node.object(i.op)
	if !ok {
		return ""
	}
	return i.node.names.Handle(kind, i.op.Comm)
}

// object is the kind of an operation's communicator, window or file.
func (n *nodeFacts) object(o *analysis.Operation) (signature.Kind, bool) {
	if o.Proc == nil || o.Proc.Object < 0 {
		return 0, false
	}
	return o.Proc.Params[o.Proc.Object].Kind, true
}

func fieldNamed(name string) *field {
	for _, f := range fields {
		for _, n := range append([]string{f.name}, f.names...) {
			if strings.EqualFold(n, name) {
				return f
			}
		}
	}
	return nil
}

func fieldList(of func(*field) bool) string {
	var names []string
	for _, f := range fields {
		if of(f) {
			names = append(names, f.name)
		}
	}
	if of(&attributeUse) {
		names = append(names, attributeName+"(…)")
	}
	return strings.Join(names, ", ")
}

var byteUnits = map[string]float64{
	"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
	"kb": 1e3, "mb": 1e6, "gb": 1e9,
}

var timeUnits = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}

// value parses a number of a field, with a unit that fits the field, or a text.
func (p *parser) value(f *field) (v value, err error) {
	at, t := p.tok.at, p.tok
	switch {
	case f.text && (t.kind == wordToken || t.kind == textToken):
		return value{text: t.text}, p.advance()
	case f.text:
		return v, p.errorAt(at, "want a text, not %v", t)
	}
	minus, err := p.accept("-")
	if err != nil {
		return v, err
	}
	if p.tok.kind != numberToken {
		return v, p.errorAt(p.tok.at, "want a number%s, not %v", map[string]string{"time": " with its unit, as 1.5s or 20us,"}[f.unit], p.tok)
	}
	if v.number, err = parseNumber(p.tok.text, f); err != nil {
		return v, p.errorAt(p.tok.at, "%v", err)
	}
	if minus {
		v.number = -v.number
	}
	return v, p.advance()
}

// parseNumber parses 4096, 4KiB, 1.5s.
func parseNumber(text string, f *field) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && f.unit != "time" {
		return n, nil
	}
	cut := strings.LastIndexAny(text, "0123456789.") + 1
	number, err := strconv.ParseFloat(text[:cut], 64)
	unit := strings.ToLower(text[cut:])
	factor, ok := 0.0, false
	switch f.unit {
	case "bytes":
		factor, ok = byteUnits[unit]
	case "time":
		if unit == "" {
			return 0, fmt.Errorf("%s has no unit: want ns, us, ms, s or min", text)
		}
		factor, ok = timeUnits[unit]
	}
	if err != nil || !ok || number*factor >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is no number of %s", text, strings.ToLower(f.name))
	}
	return int64(math.Round(number * factor)), nil
}
