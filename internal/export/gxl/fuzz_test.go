package gxl

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// FuzzRead replaces lines of a document: the result is rejected, with its position, or yields a
// valid file whose document yields the same file.
func FuzzRead(f *testing.F) {
	var bases [][]string
	files := testrun.Texts(f, "../../../efg/text/testdata")
	for _, name := range []string{"fail", "traced", "polls"} {
		r := testrun.Decode(f, files[name])
		sel := all(r)
		sel.Procs = sel.Procs[:1]
		if name != "fail" {
			sel.From, sel.To = 2, 30
		}
		_, trace, _ := strings.Cut(write(f, r, sel), `<graph id="trace"`)
		bases = append(bases, strings.Split(`<gxl><graph id="trace"`+trace, "\n"))
	}
	for b, lines := range bases {
		for i := 0; i < len(lines); i += 11 {
			f.Add(uint8(b), uint16(i), uint8(1), lines[i])
		}
	}
	f.Fuzz(func(t *testing.T, base uint8, at uint16, drop uint8, insert string) {
		lines := bases[int(base)%len(bases)]
		from := int(at) % len(lines)
		changed := append([]string{}, lines[:from]...)
		changed = append(changed, insert)
		changed = append(changed, lines[min(len(lines), from+int(drop)):]...)
		checkDocument(t, strings.Join(changed, "\n"))
	})
}

func checkDocument(t *testing.T, doc string) {
	run, err := read(doc)
	if err != nil {
		var place *text.Error
		if !errors.As(err, &place) || place.Line < 1 || strings.Contains(err.Error(), "\n") {
			t.Fatalf("an error without a place: %v", err)
		}
		return
	}
	var b bytes.Buffer
	if err := runfile.EncodeRun(&b, run.Procs, run.Meta); err != nil {
		t.Fatalf("read, but: %v", err)
	}
	r := testrun.Decode(t, b.Bytes())
	if err := runfile.Validate(r); err != nil {
		t.Fatalf("read, but: %v", err)
	}
	if !bytes.Equal(again(t, write(t, r, all(r))), b.Bytes()) {
		t.Error("the document of the file makes another file")
	}
}
