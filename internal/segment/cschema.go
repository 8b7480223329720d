package segment

import (
	"bytes"
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// CSchema returns the C table of the kinds of each procedure's words, for the recorder.
func CSchema() []byte {
	var b bytes.Buffer
	b.WriteString("/* Generated from signature's procedure table by hook/internal/gen/layout. Do not edit. */\n")
	b.WriteString("#include \"../core_internal.h\"\n\nconst efg_schema efg_schemas[] = {\n")
	b.WriteString("    {0, 0, 0, 0, {0}},\n")
	for i := range signature.Procs() {
		p := &signature.Procs()[i]
		slot, results := 0, 0
		kinds := "0"
		for j, w := range p.Words {
			if w.Form == signature.SlotForm {
				slot = j
			}
			if w.Out || w.Form == signature.SlotForm {
				results |= 1 << j
			}
			if j == 0 {
				kinds = fmt.Sprint(uint8(w.Form))
			} else {
				kinds += fmt.Sprintf(",%d", uint8(w.Form))
			}
		}
		fmt.Fprintf(&b, "    {%d, %d, %d, %#x, {%s}}, /* %s */\n", len(p.Words), slot, p.PollWord(), results, kinds, p.Name)
	}
	b.WriteString("};\n\nconst unsigned efg_nschemas = sizeof efg_schemas / sizeof *efg_schemas;\n")
	return b.Bytes()
}
