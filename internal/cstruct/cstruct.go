// Package cstruct writes C declarations of the structs that Go and C share in memory, with static
// assertions of their layout.
package cstruct

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Write writes the declaration of a struct's type. Names of types begin with prefix.
func Write(b *bytes.Buffer, prefix string, t reflect.Type) {
	name := prefix + snake(t.Name())
	fmt.Fprintf(b, "\ntypedef struct %s {\n", name)
	names := fieldNames(t)
	for i := range t.NumField() {
		base, dims := cType(prefix, t.Field(i).Type)
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

func cType(prefix string, t reflect.Type) (base, dims string) {
	switch t.Kind() {
	case reflect.Array:
		base, dims = cType(prefix, t.Elem())
		return base, fmt.Sprintf("[%d]", t.Len()) + dims
	case reflect.Struct:
		return prefix + snake(t.Name()), ""
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
