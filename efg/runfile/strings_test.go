package runfile_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// A file with very many strings takes memory in proportion to them.
func TestManyStrings(t *testing.T) {
	set := signature.ProcByName("MPI_Info_set")
	encode := func(calls int) uint64 {
		var defs efg.Definitions
		b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
		for i := range calls {
			d := efg.Def{Kind: efg.DefString, Data: fmt.Appendf(nil, "value number %d of very many", 7919*i)}
			d.Word = signature.Ident(signature.HashString(string(d.Data)))
			defs.Add(d)
			w := make([]uint64, len(set.Words))
			w[0], w[1] = uint64(signature.MakeHeader(set.ID, signature.C, false, len(w), 0)), 1
			w[len(w)-1] = d.Word
			if err := b.Add(efg.Input{Words: w}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		procs := []*efg.Process{{Size: 1, Streams: []efg.Stream{*s}, Defs: defs.List}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var file bytes.Buffer
		if err := runfile.EncodeRun(&file, procs, runfile.Meta{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		checkOneProcess(t, file.Bytes(), procs[0])
		return after.TotalAlloc - before.TotalAlloc
	}
	encode(24_000) // allocations that are made once
	few, many := encode(24_000), encode(96_000)
	if each := (many - min(few, many)) / (96_000 - 24_000); each > 2300 {
		t.Errorf("%d bytes for each string", each)
	}
}

func checkOneProcess(t *testing.T, file []byte, want *efg.Process) {
	t.Helper()
	run, err := runfile.NewRun(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.Process(0)
	if err != nil || len(got.Defs) != len(want.Defs) {
		t.Fatalf("%d definitions: %v", len(got.Defs), err)
	}
	if err := got.Streams[0].Verify(got.Defs); err != nil {
		t.Error(err)
	}
}
