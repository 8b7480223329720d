package jsondoc

import (
	"encoding"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// The tables of a document are its members that are lists of objects, at any depth. A table is
// named by the members that lead to it: "callsites", "runs.loops".

// Tables returns the names of the tables of a document, in the order of its members.
func Tables(doc any) []string {
	var names []string
	for _, t := range tablesOf(structOf(reflect.TypeOf(doc)), nil) {
		names = append(names, t.name())
	}
	return names
}

// WriteCSV writes a table of a document as comma-separated values (RFC 4180) with a line of names.
// There is a column for each member that is not a table; those of objects within objects are named
// "time.sum". The rows of a table within the rows of another begin with the members of that one:
// the columns "runs.file". Numbers are written as in JSON, in the same units; null is empty, and
// lists are JSON. If the document does not have the table, the error is ErrNoTable.
func WriteCSV(w io.Writer, doc any, name string) error {
	v := reflect.Indirect(reflect.ValueOf(doc))
	for _, t := range tablesOf(v.Type(), nil) {
		if t.name() != name {
			continue
		}
		out := csv.NewWriter(w)
		if err := out.Write(t.heads()); err != nil {
			return err
		}
		if err := t.rows(out, v, 0, nil); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
	return fmt.Errorf("%w %s: want %s", ErrNoTable, name, strings.Join(Tables(doc), ", "))
}

// ErrNoTable is the error of a document that does not have a table.
var ErrNoTable = errors.New("no table")

// docTable is the way from a document to the rows of a table: each step leads to a list, or to
// the objects in the list of the step before.
type docTable []listStep

// listStep is a member that is a list of objects, within objects that are not in lists.
type listStep struct {
	name  string
	index []int // as of reflect.Value.FieldByIndex
	row   reflect.Type
}

func (t docTable) name() string {
	var names []string
	for _, s := range t {
		names = append(names, s.name)
	}
	return strings.Join(names, ".")
}

// tablesOf returns the tables within a type, which is reached by steps.
func tablesOf(typ reflect.Type, steps docTable) []docTable {
	var tables []docTable
	eachMember(typ, nil, "", func(m member) {
		row, isTable := rowOf(m.typ)
		if !isTable {
			return
		}
		t := append(append(docTable{}, steps...), listStep{m.name, m.index, row})
		tables = append(append(tables, t), tablesOf(row, t)...)
	})
	return tables
}

func (t docTable) heads() []string {
	var heads []string
	for i, s := range t {
		prefix := ""
		if i < len(t)-1 {
			prefix = t[:i+1].name() + "."
		}
		eachColumn(s.row, func(m member) { heads = append(heads, prefix+m.name) })
	}
	return heads
}

// rows writes the rows within a value that the steps up to depth have led to.
func (t docTable) rows(out *csv.Writer, v reflect.Value, depth int, before []string) error {
	list, ok := follow(v, t[depth].index)
	if !ok {
		return nil
	}
	for i := range list.Len() {
		row := reflect.Indirect(list.Index(i))
		cells := append([]string{}, before...)
		var err error
		eachColumn(t[depth].row, func(m member) {
			text, failed := cellOf(row, m.index)
			if failed != nil {
				err = failed
			}
			cells = append(cells, text)
		})
		if err == nil && depth == len(t)-1 {
			err = out.Write(cells)
		} else if err == nil {
			err = t.rows(out, row, depth+1, cells)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// member is a member of an object, or of objects within it.
type member struct {
	name  string
	index []int
	typ   reflect.Type
}

// eachColumn yields the members of an object that are columns.
func eachColumn(typ reflect.Type, yield func(member)) {
	eachMember(typ, nil, "", func(m member) {
		if _, isTable := rowOf(m.typ); !isTable {
			yield(m)
		}
	})
}

// eachMember yields the members of an object, and of objects within it, that are not objects. An object within one
// of its own type has none: there could be any number of them inside each other.
func eachMember(typ reflect.Type, index []int, prefix string, yield func(member)) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		at := append(append([]int{}, index...), i)
		inner, isObject := objectOf(f.Type)
		switch {
		case isObject && inner == typ:
		case isObject && f.Anonymous && name == "":
			eachMember(inner, at, prefix, yield)
		case isObject:
			eachMember(inner, at, prefix+name+".", yield)
		default:
			yield(member{prefix + name, at, f.Type})
		}
	}
}

var (
	marshaler = reflect.TypeFor[json.Marshaler]()
	textual   = reflect.TypeFor[encoding.TextMarshaler]()
)

// objectOf returns the structure that a value, or what it points to, has in JSON, if it has one.
func objectOf(typ reflect.Type) (reflect.Type, bool) {
	s := structOf(typ)
	if s.Kind() != reflect.Struct {
		return nil, false
	}
	for _, t := range []reflect.Type{s, reflect.PointerTo(s)} {
		if t.Implements(marshaler) || t.Implements(textual) {
			return nil, false
		}
	}
	return s, true
}

// rowOf returns the structure of the elements of a list of objects.
func rowOf(typ reflect.Type) (reflect.Type, bool) {
	if typ.Kind() != reflect.Slice {
		return nil, false
	}
	return objectOf(typ.Elem())
}

func structOf(typ reflect.Type) reflect.Type {
	if typ.Kind() == reflect.Pointer {
		return typ.Elem()
	}
	return typ
}

// follow returns the member at an index, and false if a pointer on the way to it is nil.
func follow(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, v.Kind() != reflect.Pointer || !v.IsNil()
}

// cellOf returns the text of a member.
func cellOf(row reflect.Value, index []int) (string, error) {
	v, ok := follow(row, index)
	if !ok {
		return "", nil
	}
	v = reflect.Indirect(v)
	switch {
	case v.Kind() == reflect.Slice && v.IsNil():
		return "", nil
	case v.Type().Implements(marshaler) || v.Type().Implements(textual):
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return "", err
	}
	if s := string(text); s != "null" {
		if quoted, err := strconv.Unquote(s); err == nil {
			return quoted, nil
		}
		return s, nil
	}
	return "", nil
}
