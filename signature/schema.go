package signature

// Form is the kind of a word; it decides how a demoted word is stored.
type Form uint8

const (
	ScalarForm Form = iota // a number, a constant, or the id of an existing object
	IdentForm              // a content hash with a definition, or a constant
	VecForm                // the hash of an array's elements, or a constant
	SlotForm               // the slot of a new local object; always demoted
)

// Part is a field of a status.
type Part uint8

const (
	Whole Part = iota
	Source
	MessageTag
	Bytes
	High // 32 bits of a wide value, sign-extended
	Low
)

// Word describes a word of an event.
type Word struct {
	Name  string // displayed name: the parameter's; for parts of a status with ".source" …
	Param int    // index into Proc.Params; -1 for header and callsite
	Form  Form
	Out   bool // a result of the call, not an argument
	Part  Part
}

// schema computes p.Object, and appends p.Words to words, by the rules of the package comment.
func (p *Proc) schema(words []Word) []Word {
	p.Object = -1
	if p.Class == Pass {
		return words
	}
	object := Word{Param: -1}
	for i := range p.Params {
		if q := &p.Params[i]; q.Kind.Object() && q.Dir&In != 0 && q.Len == nil {
			p.Object = i
			object = Word{Name: q.Name, Param: i}
			break
		}
	}
	words = append(words, Word{Name: "op", Param: -1}, Word{Name: "site", Param: -1}, object)
	for i := range p.Params {
		if i != p.Object {
			words = p.Params[i].words(words, i)
		}
	}
	return words
}

// words appends the words of parameter number i.
func (q *Param) words(list []Word, i int) []Word {
	switch q.Kind {
	case StrOut, Opaque:
		return list
	case Status:
		if q.Dir != Out {
			return list
		}
		return append(list,
			Word{q.Name + ".source", i, ScalarForm, true, Source},
			Word{q.Name + ".tag", i, ScalarForm, true, MessageTag},
			Word{q.Name + ".bytes", i, ScalarForm, true, Bytes})
	case FStatus:
		return append(list, Word{q.Name + ".bytes", i, ScalarForm, true, Bytes})
	case Buf:
		return append(list, Word{Name: q.Name, Param: i})
	case Int64, Double:
		return append(list, Word{Name: q.Name + ".high", Param: i, Part: High}, Word{Name: q.Name + ".low", Param: i, Part: Low})
	}
	form := q.form()
	if q.Kind.Integer() && q.Dir == InOut {
		list = append(list, Word{Name: q.Name, Param: i, Form: form})
		return append(list, Word{Name: q.Name, Param: i, Form: form, Out: true})
	}
	return append(list, Word{Name: q.Name, Param: i, Form: form, Out: q.Dir == Out})
}

func (q *Param) form() Form {
	switch {
	case q.Len != nil:
		return VecForm
	case q.Kind.Ident():
		return IdentForm
	case q.Kind.Local() && q.Dir == Out:
		return SlotForm
	}
	return ScalarForm
}

// JoinWide returns the 64 bits of a wide value from its two words.
func JoinWide(high, low uint64) uint64 { return high<<32 | low&(1<<32-1) }

// SplitWide returns the two words of a wide value.
func SplitWide(bits uint64) (high, low uint64) { return uint64(int64(bits) >> 32), bits & (1<<32 - 1) }

// PollWord returns the index of the word that is 0 after an unsuccessful poll; 0 if the
// procedure is not a poll.
func (p *Proc) PollWord() int {
	for i := FirstWord; p.Poll && i < len(p.Words); i++ {
		if w := &p.Words[i]; w.Out && (w.Name == "flag" || w.Name == "outcount") {
			return i
		}
	}
	return 0
}
