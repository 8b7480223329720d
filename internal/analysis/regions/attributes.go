package regions

import (
	"math"
	"strconv"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// ValueKind is the type of an attribute's value.
type ValueKind uint8

const (
	NoValue ValueKind = iota
	IntValue
	DoubleValue
	TextValue
)

// Value is a value that the program gave an attribute by efg_attribute.
type Value struct {
	Kind   ValueKind
	Int    int64
	Double float64
	Text   string
}

// String is the value as text; "" if there is none.
func (v Value) String() string {
	switch v.Kind {
	case IntValue:
		return strconv.FormatInt(v.Int, 10)
	case DoubleValue:
		return strconv.FormatFloat(v.Double, 'g', -1, 64)
	}
	return v.Text
}

// maxAttributes bounds the attributes of a region that are kept; a program may give each a name of its own.
const maxAttributes = 1 << 12

// attributes are the values that hold for the regions that are open: those outside of all regions first.
type attributes struct {
	scopes []map[string]Value // by depth
	nodes  []valueWord        // by node
}

// valueWord says where the value of an attribute is in the words of a node's events.
type valueWord struct {
	word int // 0: none
	kind signature.Kind
}

func valueWordOf(n *efg.Node) (v valueWord) {
	p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	if !p.Annotates() || p.Opens || p.Closes || len(p.Words) != len(n.Words) {
		return v
	}
	for i := nameWord + 1; i < len(p.Words); i++ {
		q := &p.Params[p.Words[i].Param]
		if q.Name == "value" {
			return valueWord{i, q.Kind}
		}
	}
	return v
}

// Attributed reports whether attributes have values in a stream.
func Attributed(s *efg.Stream) bool {
	for k := range s.Nodes {
		if valueWordOf(&s.Nodes[k]).word != 0 {
			return true
		}
	}
	return false
}

// NewAttributeFollower is like NewFollower; the follower also knows the attributes. It returns nil if there
// are neither regions nor attributes.
func NewAttributeFollower(p *efg.Process, i int) *Follower {
	s := &p.Streams[i]
	if !Attributed(s) {
		return NewFollower(p, i)
	}
	f := &Follower{actions: actionsOf(s), stack: newStack(), names: namesOf(p)}
	f.attributes = &attributes{scopes: []map[string]Value{nil}, nodes: make([]valueWord, len(s.Nodes))}
	words := masks(f.actions)
	for k := range s.Nodes {
		v := valueWordOf(&s.Nodes[k])
		if v.word == 0 {
			continue
		}
		f.attributes.nodes[k] = v
		f.actions[k] = gives
		words[k] = 1<<nameWord | 1<<v.word
		if v.kind.Wide() {
			words[k] |= 1 << (v.word + 1)
		}
	}
	f.walk = s.WalkWords(p.Defs, words)
	return f
}

// Attribute returns the value of an attribute at the event that At was asked for last: the one given last in
// the innermost region in which it was given. Its Kind is NoValue if there is none, and if the follower
// does not know attributes.
func (f *Follower) Attribute(name string) Value {
	if f == nil || f.attributes == nil {
		return Value{}
	}
	for k := len(f.attributes.scopes) - 1; k >= 0; k-- {
		if v, ok := f.attributes.scopes[k][name]; ok {
			return v
		}
	}
	return Value{}
}

// give notes the value of an attribute.
func (f *Follower) give(words []uint64) {
	a := f.attributes
	at := a.nodes[f.walk.Node()]
	v := Value{Kind: TextValue}
	switch {
	case at.kind == signature.Int64:
		v = Value{Kind: IntValue, Int: int64(signature.JoinWide(words[at.word], words[at.word+1]))}
	case at.kind == signature.Double:
		v = Value{Kind: DoubleValue, Double: math.Float64frombits(signature.JoinWide(words[at.word], words[at.word+1]))}
	default:
		v.Text = f.names.text(words[at.word])
	}
	top := len(a.scopes) - 1
	name := f.names.text(words[nameWord])
	if _, ok := a.scopes[top][name]; !ok && len(a.scopes[top]) >= maxAttributes {
		return
	}
	if a.scopes[top] == nil {
		a.scopes[top] = map[string]Value{}
	}
	a.scopes[top][name] = v
}

// fit opens and closes the scopes of regions that were begun or ended.
func (a *attributes) fit(depth int32) {
	for len(a.scopes) <= int(depth) {
		a.scopes = append(a.scopes, nil)
	}
	clear(a.scopes[depth+1:])
	a.scopes = a.scopes[:depth+1]
}
