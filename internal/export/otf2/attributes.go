package otf2

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/efg-tools/efg/reconstruct"
)

// arguments are the attributes of the event that enters a call, as a list ready to be written.
func (t *threadWriter) arguments(e *reconstruct.Event, x *plan) []byte {
	a := t.process.archive
	if !a.numbers && !a.callsites && !a.details {
		return nil
	}
	list := attributeList{d: a.defs, b: t.list[:0]}
	if a.numbers {
		list.add(numberAttribute, typeUint64)
		list.b = u64(list.b, e.Seq)
	}
	if a.callsites {
		list.add(placeAttribute, typeSourceCodeLocation)
		list.b = u32(list.b, x.place)
	}
	if a.details {
		t.json = e.AppendJSONArguments(t.json[:0])
		list.object(t.json, "")
	}
	t.list = list.b
	return t.encode(&list)
}

// results are the attributes of the event that leaves a call.
func (t *threadWriter) results(e *reconstruct.Event) []byte {
	if !t.process.details {
		return nil
	}
	list := attributeList{d: t.process.defs, b: t.list[:0]}
	t.json = e.AppendJSONResults(t.json[:0])
	list.object(t.json, resultPrefix)
	t.list = list.b
	return t.encode(&list)
}

// resultPrefix begins the names of attributes that are results: an argument may have the same name.
const resultPrefix = "out."

func (t *threadWriter) encode(list *attributeList) []byte {
	if list.n == 0 {
		return nil
	}
	t.extra = record(t.extra[:0], attributeMark, func(b []byte) []byte {
		return append(u32(b, list.n), list.b...)
	})
	return t.extra
}

// attributeList collects attributes.
type attributeList struct {
	d *definitions
	b []byte
	n uint32
}

// add begins an attribute; its value is to be appended.
func (l *attributeList) add(id uint32, kind byte) {
	l.n++
	l.b = append(u32(l.b, id), kind)
}

// object adds the members of an object of JSON Lines: numbers as they are, strings, and the text of
// arrays and objects.
func (l *attributeList) object(b []byte, prefix string) {
	for b = b[1:]; len(b) > 0 && b[0] != '}'; {
		var name, value []byte
		name, b = cutValue(bytes.TrimPrefix(b, []byte(",")))
		value, b = cutValue(b[1:])
		l.member(prefix+string(name[1:len(name)-1]), value)
	}
}

func (l *attributeList) member(name string, value []byte) {
	if v, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		l.add(l.d.attribute(name, typeInt64), typeInt64)
		l.b = i64(l.b, v)
		return
	}
	text := string(value)
	if value[0] == '"' && json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	l.add(l.d.attribute(name, typeString), typeString)
	l.b = u32(l.b, l.d.text(text))
}

// cutValue cuts the value off with which JSON without spaces begins.
func cutValue(b []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth < 0 {
			return b[:i], b[i:]
		}
		if depth == 0 && i+1 < len(b) && (b[i+1] == ',' || b[i+1] == ':' || b[i+1] == '}') {
			return b[:i+1], b[i+1:]
		}
	}
	return b, nil
}
