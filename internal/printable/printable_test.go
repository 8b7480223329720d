package printable

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What is unchanged, and what is escaped.
func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		"./a.out -n 3, 'x' \\n":                 "./a.out -n 3, 'x' \\n",
		"Größe λ 漢字 \u00a0🚀 \ufffd":             "Größe λ 漢字 \u00a0🚀 \ufffd",
		"\x1b[2J\a\r\n\t\x00\x7f":               `\x1b[2J\x07\r\n\t\x00\u007f`,
		"\u009b1m\u0085":                        `\u009b1m\u0085`,
		"\u202egnp.exe\u2066\ufeff\u200b\u2028": `\u202egnp.exe\u2066\ufeff\u200b\u2028`,
		"a\xffb\xc3":                            `a\xffb\xc3`,
		"\U000e0041\U0010ffff":                  `\udb40\udc41\udbff\udfff`,
		"\xed\xa0\x80":                          `\xed\xa0\x80`,
	} {
		if got := Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if again := Line(Line(text)); again != Line(text) {
			t.Errorf("%q: the second time %q", text, again)
		}
	}
}

// However a text is divided into writes, the output is that of Line, except for line breaks and
// tabs.
func TestWriter(t *testing.T) {
	const text = "plain ASCII of some length\n\ttab \x1b[31m 漢\u202e🚀\U000e0041 \xff\xc3( \u009b\x7f end \xe6\xbc"
	unbroken := strings.NewReplacer("\n", "<N>", "\t", "<T>")
	want := strings.NewReplacer("<N>", "\n", "<T>", "\t").Replace(Line(unbroken.Replace(text)))
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		w := NewWriter(&b)
		for rest := []byte(text); len(rest) > 0; {
			n, err := w.Write(rest[:min(size, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil || b.String() != want {
			t.Fatalf("in pieces of %d: %q, %v; want %q", size, b.String(), err, want)
		}
	}
}

// FuzzWriter: the output is harmless, and JSON has the same meaning.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("\x1b[31m\u009b\u202e\xff\x7f\U000e0041 abcdefghijklmnop"), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		data, err := json.Marshal(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{text, data} {
			var b bytes.Buffer
			w := NewWriter(&b)
			cut = min(max(cut, 0), len(in))
			w.Write(in[:cut])
			w.Write(in[cut:])
			w.Flush()
			out := b.String()
			if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }) {
				t.Errorf("%q is written as %q", in, out)
			}
			if string(in) != string(data) {
				continue
			}
			var before, after string
			if json.Unmarshal(in, &before) != nil || json.Unmarshal([]byte(out), &after) != nil || before != after {
				t.Errorf("%s is written as %s", in, out)
			}
		}
	})
}

func TestFields(t *testing.T) {
	type inner struct{ Name string }
	type outer struct {
		Text   string
		List   []string
		Inners []inner
		Next   *outer
		Any    any
		Number int
		hidden string
	}
	x := outer{"a\n", []string{"b\x1b"}, []inner{{"c\r"}}, &outer{Text: "d\n"}, &inner{"e\n"}, 5, "f\n"}
	Fields(&x)
	if x.Text != `a\n` || x.List[0] != `b\x1b` || x.Inners[0].Name != `c\r` || x.Next.Text != `d\n` || x.Any.(*inner).Name != `e\n` || x.hidden != "f\n" {
		t.Errorf("%+v", x)
	}
}

func BenchmarkWriter(b *testing.B) {
	line := []byte(strings.Repeat(`{"rank":3,"seq":12345,"op":"MPI_Isend","args":{"count":64,"datatype":"MPI_DOUBLE","dest":4},"site":"halo.c:88"}`+"\n", 500))
	w := NewWriter(&bytes.Buffer{})
	w.to = discard{}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		w.Write(line)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
