package segment

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/internal/cstruct"
)

//go:generate go run ../../hook/internal/gen/layout ../../hook/shim/gen

// CFiles are the generated C files, by name in hook/shim/gen.
func CFiles() map[string][]byte {
	return map[string][]byte{"efg_layout.h": CHeader(), "schema.c": CSchema()}
}

// layoutTypes are the structs that C shares, inner ones first.
var layoutTypes = []any{
	Anchor{}, Counter{}, Header{}, Published{}, Turn{}, Stream{}, Inner{}, Node{}, NodeStats{}, Tally{}, NodeCounter{}, HighBins{}, BinGroup{}, Edge{}, Varies{}, Attr{},
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
		{"GROUP_BINS", GroupBins}, {"MAX_COUNTERS", MaxCounters}, {"TALLY_BINS", TallyBins},
	} {
		fmt.Fprintf(&b, "#define SEG_%s %#x\n", c.name, c.value)
	}
	for _, t := range layoutTypes {
		cstruct.Write(&b, "seg_", reflect.TypeOf(t))
	}
	return b.Bytes()
}
