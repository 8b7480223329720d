package otf2

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/efg-tools/efg/internal/export/otf2/names"
	"github.com/efg-tools/efg/reconstruct"
)

// arguments are the attributes of the event that enters a call, as a list ready to be written.
func (t *threadWriter) arguments(e *reconstruct.Event, x *plan) []byte {
	a := t.process.archive
	if !a.numbers && !a.callsites && !a.details {
		return nil
	}
	list := attributeList{d: a.defs, b: t.list[:0]}
	t.about(&list, e.Seq, x)
	if a.details {
		if x.action == opens || x.action == closes && len(t.open) > 0 {
			list.add(durationAttribute, typeUint64)
			list.b = u64(list.b, uint64(t.end-t.start))
		}
		t.json = e.AppendJSONArguments(t.json[:0])
		list.object(t.json, "")
	}
	t.list = list.b
	return t.encode(&list)
}

// entered are the attributes of the event that enters a call which had not returned.
func (t *threadWriter) entered(x *plan, c *reconstruct.Pending) []byte {
	list := attributeList{d: t.process.defs, b: t.list[:0]}
	t.about(&list, c.After(), x)
	list.mark(unfinishedAttribute, true)
	if t.process.details {
		t.json = c.AppendJSONArguments(t.json[:0])
		list.object(t.json, "")
	}
	t.list = list.b
	return t.encode(&list)
}

// about adds what is asked for of a call besides its arguments.
func (t *threadWriter) about(list *attributeList, number uint64, x *plan) {
	a := t.process.archive
	if a.numbers {
		list.add(numberAttribute, typeUint64)
		list.b = u64(list.b, number)
	}
	if a.callsites {
		list.add(placeAttribute, typeSourceCodeLocation)
		list.b = u32(list.b, x.place)
		list.text(functionAttribute, x.function)
		if x.path != undefined {
			list.add(pathAttribute, typeCallingContext)
			list.b = u32(list.b, x.path)
		}
	}
	if a.details {
		list.text(languageAttribute, x.language)
		list.text(unusedAttribute, x.unused)
		list.mark(largeAttribute, x.large)
		list.mark(byPMPIAttribute, x.byPMPI)
	}
}

// results are the attributes of the event that leaves a call.
func (t *threadWriter) results(e *reconstruct.Event) []byte {
	if !t.process.details {
		return nil
	}
	list := attributeList{d: t.process.defs, b: t.list[:0]}
	t.json = e.AppendJSONResults(t.json[:0])
	list.object(t.json, names.ResultPrefix)
	t.list = list.b
	return t.encode(&list)
}

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

// text adds an attribute that is a string; 0 is the empty one, which is left out.
func (l *attributeList) text(id uint32, text uint32) {
	if text != 0 {
		l.add(id, typeString)
		l.b = u32(l.b, text)
	}
}

// mark adds an attribute that is 1 if something holds.
func (l *attributeList) mark(id uint32, holds bool) {
	if holds {
		l.add(id, typeUint8)
		l.b = append(l.b, 1)
	}
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
