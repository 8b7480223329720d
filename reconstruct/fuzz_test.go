package reconstruct

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// source makes events from arbitrary bytes.
type source struct{ b []byte }

func (s *source) byte() byte {
	if len(s.b) == 0 {
		return 0
	}
	v := s.b[0]
	s.b = s.b[1:]
	return v
}

// word returns a word of any form; small values are the most frequent.
func (s *source) word() uint64 {
	k, v := s.byte(), uint64(s.byte())
	switch k % 8 {
	case 0:
		return signature.Const(int(v) * 2)
	case 1:
		return signature.ID{Thread: uint32(v & 1), Node: uint32(v >> 4), Slot: uint32(v >> 1 & 3)}.Word()
	case 2:
		return -v
	case 3:
		return v << (k >> 2)
	case 4:
		return []uint64{signature.Same, signature.AsPosted, signature.RequestNull, signature.Absent}[v&3]
	}
	return v & 3
}

// event returns an event of any procedure, or with a header of none.
func (s *source) event(defs *efg.Definitions) efg.Input {
	procs := signature.Procs()
	p := &procs[(int(s.byte())|int(s.byte())<<8)%len(procs)]
	n := max(len(p.Words), 3)
	in := efg.Input{Words: make([]uint64, n)}
	class := uint16(0)
	if k := s.byte(); k > 250 {
		class = uint16(k) << (k & 7)
	}
	in.Words[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, n, class))
	in.Words[1] = uint64(s.byte() & 3)
	for i := signature.ObjectWord; i < n; i++ {
		in.Words[i] = s.word()
		if i >= len(p.Words) {
			continue
		}
		switch p.Words[i].Form {
		case signature.VecForm:
			if signature.IsConst(in.Words[i]) {
				break
			}
			v := make([]uint64, s.byte()%6)
			for k := range v {
				v[k] = s.word()
			}
			in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: v})
			in.Words[i] = signature.Ident(signature.Hash(v...))
		case signature.IdentForm:
			if !signature.IsConst(in.Words[i]) {
				in.Words[i] = signature.Ident(in.Words[i])
				defs.Add(efg.Def{Kind: efg.DefType, Word: in.Words[i], Words: []uint64{0, in.Words[i] & 7}})
			}
		}
	}
	return in
}

// FuzzReconstruct: arbitrary events, made into graphs, written to a file and read back, come
// out unchanged, and every format can represent them.
func FuzzReconstruct(f *testing.F) {
	f.Add([]byte("event flow graphs"))
	f.Add(bytes.Repeat([]byte{3, 1, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 40))
	every := make([]byte, 0, 1<<14)
	for i := range 1 << 13 {
		every = append(every, byte(i*7), byte(i>>5))
	}
	f.Add(every)
	f.Fuzz(func(t *testing.T, data []byte) {
		var defs efg.Definitions
		var want []efg.Input
		b := efg.NewBuilder(0, 4, &defs)
		for s := (&source{data}); len(s.b) > 0; {
			in := s.event(&defs)
			if err := b.Add(in); err != nil {
				t.Fatal(err)
			}
			want = append(want, in)
		}
		p := throughFile(t, b, &defs)
		n := 0
		var out []byte
		for e, err := range p.Events(0, Options{Issues: true}) {
			if err != nil {
				t.Fatal(err)
			}
			compareEvent(t, n, e, want[n])
			out = e.AppendText(e.AppendJSON(out[:0]))
			line, _, _ := bytes.Cut(out, []byte("\n"))
			if !json.Valid(line) {
				t.Fatalf("not JSON: %s", line)
			}
			for one := range bytes.Lines(e.AppendMTF(nil)) {
				if !json.Valid(one) {
					t.Fatalf("not JSON: %s", one)
				}
			}
			n++
		}
		if n != len(want) {
			t.Fatalf("%d events of %d", n, len(want))
		}
		for i := range p.Data().Streams[0].Nodes {
			p.Describe(0, i)
		}
	})
}

// throughFile writes a recording to a file and reads it back.
func throughFile(t *testing.T, b *efg.Builder, defs *efg.Definitions) *Process {
	t.Helper()
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	err = runfile.EncodeRun(&file, []*efg.Process{{Streams: []efg.Stream{*s}, Defs: defs.List}}, runfile.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runfile.NewRun(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if err := runfile.Validate(r); err != nil {
		t.Fatal(err)
	}
	run, err := NewRun(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.proc.Streams[0].Verify(p.proc.Defs); err != nil {
		t.Fatal(err)
	}
	return p
}

func compareEvent(t *testing.T, n int, e *Event, want efg.Input) {
	t.Helper()
	if got := e.Words(); !slices.Equal(got, want.Words) {
		t.Fatalf("event %d (%s):\n%x\nwant\n%x", n, e.Op(), got, want.Words)
	}
	for _, v := range want.Vecs {
		if got, _ := e.vec(v.Word); !slices.Equal(got, v.Elems) {
			t.Fatalf("event %d (%s): word %d holds %x, want %x", n, e.Op(), v.Word, got, v.Elems)
		}
	}
}
