package importer

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Languages are the interfaces of MPI by their names.
var Languages = map[string]signature.Language{"c": signature.C, "mpif.h": signature.Fortran, "mpi_f08": signature.F08}

// Words makes the words of a call in C by what is known of it, the words of its procedure. All
// others are absent.
type Words struct {
	efg.Input
	Proc *signature.Proc
}

// Reset begins the words of a call, of the large-count variant or not.
func (w *Words) Reset(p *signature.Proc, large bool, site uint64) {
	w.Proc, w.Vecs = p, w.Vecs[:0]
	w.Words = append(w.Words[:0], uint64(signature.MakeHeader(p.ID, signature.C, large, len(p.Words), 0)), site)
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		word := signature.Absent
		if p.Words[i].Param < 0 {
			word = 0
		}
		w.Words = append(w.Words, word)
	}
}

// SetDepth sets the number of calls that the call was made inside of.
func (w *Words) SetDepth(depth int) {
	w.Words[0] = uint64(signature.Header(w.Words[0]).AtDepth(depth))
}

// Set sets a word, if the procedure has it and only one.
func (w *Words) Set(word int, value uint64) {
	if word != 0 && !w.Proc.Vector(word) {
		w.Words[word] = value
	}
}

// WordNamed is the word of an argument, 0 if there is none.
func (w *Words) WordNamed(name string) int {
	for i := range w.Proc.Words {
		if w.Proc.Words[i].Name == name && !w.Proc.Words[i].Out {
			return i
		}
	}
	return 0
}

// Issue says that the call issues a request that is known by later calls.
func (w *Words) Issue() { w.Set(w.Proc.Roles.Request, 0) }

// SetVector sets the content of an array, if the procedure has it.
func (w *Words) SetVector(word int, elems []uint64) {
	if w.Proc.Vector(word) {
		setVec(&w.Input, word, elems)
	}
}

// SetBytes sets a payload by its size, unless it has no count, or a count or a type for each peer.
func (w *Words) SetBytes(d *signature.Payload, bytes uint64) {
	if d.Present() && d.Count != 0 && d.Parts == 0 && !w.Proc.Vector(d.Count) && !w.Proc.Vector(d.Type) {
		w.Set(d.Type, signature.TypeByte)
		w.Set(d.Count, bytes)
	}
}

// Finish sets what follows from the other words.
func (w *Words) Finish() { setBuffers(w.Proc, &w.Input) }

// setBuffers sets the words of buffers of which nothing is known as the recorder does without
// addresses.
func setBuffers(p *signature.Proc, in *efg.Input) {
	for i := signature.FirstWord; i < len(p.Words); i++ {
		if w := &p.Words[i]; w.Param >= 0 && p.Params[w.Param].Kind == signature.Buf && in.Words[i] == signature.Absent {
			in.Words[i] = 0
		}
	}
}

// SetLength sets the parameter that is the length of an array.
func (w *Words) SetLength(word int, n uint64) {
	length := w.Proc.Params[w.Proc.Words[word].Param].Len
	if length == nil || length.Op != "param" {
		return
	}
	for i := signature.FirstWord; i < len(w.Proc.Words); i++ {
		if w.Proc.Words[i].Name == length.Name && !w.Proc.Words[i].Out {
			w.Set(i, n)
		}
	}
}
