package check

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// message is a blocking send or receive between ranks 0 and 1 with tag 5; a receive may
// take any tag.
func message(op string, datatype uint64, wild bool) efg.Input {
	p := signature.ProcByName(op)
	w := make([]uint64, len(p.Words))
	w[0], w[signature.ObjectWord] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0)), signature.CommWorld
	for i := 3; i < len(w); i++ {
		switch p.Words[i].Name {
		case "count":
			w[i] = 1
		case "datatype":
			w[i] = datatype
		case "dest":
			w[i] = 1
		case "tag":
			if w[i] = 5; wild {
				w[i] = signature.AnyTag
			}
		}
		switch p.Words[i].Part {
		case signature.MessageTag:
			w[i] = 5
		}
	}
	return efg.Input{Words: w}
}

// Datatypes that vary are compared in order.
func TestTypeOrder(t *testing.T) {
	types := []uint64{constant("MPI_INT"), constant("MPI_FLOAT"), constant("MPI_DOUBLE")}
	found := 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 5))
		var list []uint64
		for range 1 + r.IntN(3) {
			var body []uint64
			for range 1 + r.IntN(4) {
				body = append(body, types[r.IntN(3)])
			}
			for range 1 + r.IntN(40) {
				list = append(list, body...)
			}
		}
		in := slices.Clone(list)
		k := r.IntN(len(list))
		if seed%2 == 0 {
			in[k] = types[r.IntN(3)]
		}
		var sends, receives []efg.Input
		for i := range list {
			sends = append(sends, message("MPI_Send", list[i], false))
			receives = append(receives, message("MPI_Recv", in[i], r.IntN(4) == 0))
		}
		got := checkInputs(t, [][]efg.Input{sends, receives}).Findings
		switch {
		case in[k] == list[k] && len(got) > 0:
			t.Fatalf("seed %d: %+v", seed, got)
		case in[k] != list[k]:
			found++
			alike := len(slices.Compact(slices.Sorted(slices.Values(list)))) == 1 && len(list) == 1
			if len(got) != 1 || got[0].Kind != OtherTypes || got[0].Rank != 0 || !alike && got[0].Event != uint64(k)+1 {
				t.Fatalf("seed %d, message %d of %d: %+v", seed, k, len(list), got)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d orders that differ", found)
	}
}
