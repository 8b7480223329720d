package segment

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"github.com/cespare/xxhash/v2"
)

//go:generate go run ../../hook/internal/gen/layout ../../hook/shim/gen

// CFiles are the generated C files, by name in hook/shim/gen.
func CFiles() map[string][]byte {
	return map[string][]byte{"efg_layout.h": CHeader(), "schema.c": CSchema()}
}

// layoutTypes are the structs that C shares, inner ones first.
var layoutTypes = []any{
	Anchor{}, Header{}, Published{}, Turn{}, Stream{}, Node{}, NodeStats{}, HighBins{}, BinGroup{}, Edge{}, Varies{}, Attr{},
	SeqState{}, Seq{}, Chunk{}, Def{},
}

// CHeader returns the C header of the layout: constants, structs, and a static
// assertion for each field's offset and each struct's size.
func CHeader() []byte {
	body := cBody()
	var b bytes.Buffer
	b.WriteString("/* Generated from internal/segment/layout.go by hook/internal/gen/layout. Do not edit. */\n")
	b.WriteString("#ifndef EFG_LAYOUT_H\n#define EFG_LAYOUT_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n")
	fmt.Fprintf(&b, "#define EFG_LAYOUT_HASH UINT64_C(%#x)\n", LayoutHash())
	b.Write(body)
	b.WriteString("\n#endif\n")
	return b.Bytes()
}

// LayoutHash identifies the layout: a hash of the C declarations.
func LayoutHash() uint64 { return layoutHash() }

var layoutHash = sync.OnceValue(func() uint64 { return xxhash.Sum64(cBody()) })

func cBody() []byte {
	var b bytes.Buffer
	for _, c := range []struct {
		name  string
		value uint64
	}{
		{"MAGIC", Magic}, {"VERSION", Version}, {"REF_UNIT", RefUnit}, {"HEADER_SIZE", HeaderSize},
		{"MAXW", MaxWords}, {"SEQ_LEVELS", SeqLevels}, {"MAX_TURNS", MaxTurns}, {"BINS", Bins},
		{"GROUP_BINS", GroupBins},
	} {
		fmt.Fprintf(&b, "#define SEG_%s %#x\n", c.name, c.value)
	}
	for _, t := range layoutTypes {
		cStruct(&b, reflect.TypeOf(t))
	}
	return b.Bytes()
}

func cStruct(b *bytes.Buffer, t reflect.Type) {
	name := "seg_" + snake(t.Name())
	fmt.Fprintf(b, "\ntypedef struct %s {\n", name)
	names := fieldNames(t)
	for i := range t.NumField() {
		base, dims := cType(t.Field(i).Type)
		fmt.Fprintf(b, "    %s %s%s;\n", base, names[i], dims)
	}
	fmt.Fprintf(b, "} %s;\n", name)
	fmt.Fprintf(b, "_Static_assert(sizeof(%s) == %d, \"%s\");\n", name, t.Size(), name)
	for i, field := range names {
		fmt.Fprintf(b, "_Static_assert(offsetof(%s, %s) == %d, \"%s.%s\");\n", name, field, t.Field(i).Offset, name, field)
	}
}

// fieldNames are the C names of a struct's fields. Blank ones are padding: pad0, or
// pad1, pad2 … if there are several.
func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	var blank []int
	for i := range names {
		if names[i] = snake(t.Field(i).Name); names[i] == "_" {
			blank = append(blank, i)
		}
	}
	for k, i := range blank {
		names[i] = fmt.Sprintf("pad%d", k+min(len(blank)-1, 1))
	}
	return names
}

func cType(t reflect.Type) (base, dims string) {
	switch t.Kind() {
	case reflect.Array:
		base, dims = cType(t.Elem())
		return base, fmt.Sprintf("[%d]", t.Len()) + dims
	case reflect.Struct:
		return "seg_" + snake(t.Name()), ""
	case reflect.Uint8:
		return "uint8_t", ""
	default:
		return t.Kind().String() + "_t", ""
	}
}

// snake turns a Go name into the C one: NodeStats → node_stats, NDefs → ndefs.
func snake(s string) string {
	var out strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
