package generate

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// str is a string, or an array of them.
func (e *emitter) str(q *signature.Param, word int) string {
	p := e.call.procs[0]
	text := func(w uint64) string {
		if special(w) {
			return "NULL"
		}
		return literal(p.strings[w])
	}
	list := e.values(word)
	switch {
	case q.FileName():
		return e.fileName(q, word)
	case q.Command():
		return e.command(q, word)
	case q.PortName():
		if text, ok := e.port(q, word); ok {
			return text
		}
	}
	if q.Len != nil {
		return e.stringArray(q.Name, list, text)
	}
	if w, ok := list[0].constant(); ok && alike(list) {
		return text(w)
	}
	return e.strings(q.Name, list)
}

// stringArray is an array of strings, with NULL at its end.
func (e *emitter) stringArray(name string, list []*value, text func(uint64) string) string {
	if w, ok := list[0].constant(); ok && special(w) {
		return "NULL"
	}
	if elems, ok := list[0].vec(); ok && len(list) == 1 {
		parts := make([]string, len(elems), len(elems)+1)
		for i, w := range elems {
			parts[i] = text(w)
		}
		return "(char *[]){" + strings.Join(append(parts, "NULL"), ", ") + "}"
	}
	var elems []string
	offsets := map[string]uint64{}
	at := make([]*value, len(list))
	for i, v := range list {
		p := e.call.procs[i]
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) {
			var parts []string
			if !special(w) {
				for _, x := range v.vecs[w] {
					parts = append(parts, literal(p.strings[x]))
				}
			}
			key := strings.Join(parts, ", ")
			o, ok := offsets[key]
			if !ok {
				o = uint64(len(elems))
				offsets[key] = o
				elems = append(append(elems, parts...), "NULL")
			}
			return o, nil
		})
		at[i] = &value{series: s}
	}
	offset := e.scalar(name, "int", at, func(w uint64) string { return fmt.Sprint(w) })
	return e.table("char *", name+"_lists", elems) + " + " + offset
}

// strings is the expression of a string that differs between visits or ranks.
func (e *emitter) strings(name string, list []*value) string {
	var elems []string
	index := map[string]uint64{}
	numbered := make([]*value, len(list))
	for i, v := range list {
		p := e.call.procs[i]
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) {
			t := literal(p.strings[w])
			k, ok := index[t]
			if !ok {
				k = uint64(len(elems))
				index[t] = k
				elems = append(elems, t)
			}
			return k, nil
		})
		numbered[i] = &value{series: s}
	}
	at := e.scalar(name, "int", numbered, func(w uint64) string { return fmt.Sprint(w) })
	return e.table("const char *const", name+"_strings", elems) + "[" + at + "]"
}
