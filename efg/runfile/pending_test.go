package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// killedRing is a ring of processes with one graph that were killed in their receives from the
// left; every seventh was in a barrier instead, and rank 0 in no call.
func killedRing(t *testing.T, n int) []*efg.Process {
	t.Helper()
	var procs []*efg.Process
	for rank := range n {
		defs := &efg.Definitions{}
		b := efg.NewBuilder(0, efg.DefaultDemote, defs)
		call := func(name string, args ...uint64) []uint64 {
			p := signature.ProcByName(name)
			w := make([]uint64, len(p.Words))
			copy(w, append([]uint64{uint64(signature.MakeHeader(p.ID, 0, false, len(w), 0)), 77, signature.ConstBit | 3}, args...))
			return w
		}
		left, right := uint64((rank+n-1)%n), uint64((rank+1)%n)
		for range 20 {
			for _, w := range [][]uint64{call("MPI_Send", 0, 1, signature.ConstBit|9, right, 4), call("MPI_Recv", 0, 1, signature.ConstBit|9, left, 4)} {
				if err := b.Add(efg.Input{Words: w}); err != nil {
					t.Fatal(err)
				}
			}
		}
		s, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case rank%7 == 3:
			s.Pending = efg.NewPending(call("MPI_Barrier"), 5)
		case rank > 0:
			s.Pending = efg.NewPending(call("MPI_Recv", 0, 1, signature.ConstBit|9, left, 4), 5)
		}
		procs = append(procs, &efg.Process{Rank: rank, Size: n, World: 3, Host: "node", Defs: defs.List, Streams: []efg.Stream{*s}})
	}
	return procs
}

func openBytes(t *testing.T, data []byte) *Run {
	t.Helper()
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Ranks that were killed in different calls share their graph, and those that were in the same
// call share that.
func TestCallsInProgressAreShared(t *testing.T) {
	const n = 60
	procs := killedRing(t, n)
	data := encode(t, procs, Meta{})
	r := openBytes(t, data)
	if err := Validate(r); err != nil {
		t.Fatal(err)
	}
	if got := len(r.groups); got != 4 { // definitions, the graph, and two calls
		t.Errorf("%d groups, want 4", got)
	}
	for i, p := range procs {
		got, defs, err := r.Pending(i, 0)
		if err != nil || len(defs) != len(p.Defs) && got != nil {
			t.Fatal(err)
		}
		if g, w := fmt.Sprint(got), fmt.Sprint(p.Streams[0].Pending); g != w {
			t.Errorf("rank %d: %s, want %s", i, g, w)
		}
		if r.Procs[i].Streams[0].InCall != (p.Streams[0].Pending != nil) {
			t.Errorf("rank %d: the index differs", i)
		}
		p.Streams[0].Pending = nil
	}
	if less := len(encode(t, procs, Meta{})); len(data)-less > 130 {
		t.Errorf("%d bytes with calls in progress, %d without", len(data), less)
	}
}

// The header says whether there may be calls in progress.
func TestVersionTellsOfCallsInProgress(t *testing.T) {
	procs := killedRing(t, 4)
	if head := encode(t, procs, Meta{})[8:16]; !bytes.Equal(head, []byte{3, 0, 0, 0, featurePending | featureEvents, featureMixed >> 8, 0, 0}) {
		t.Errorf("version and features % x", head)
	}
	for _, p := range procs {
		p.Streams[0].Pending = nil
	}
	if head := encodeWith(t, procs, Meta{}, packing{openLimit: openLimit})[8:16]; !bytes.Equal(head, []byte{2, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("version and features % x", head)
	}
	if head := encode(t, procs, Meta{})[8:16]; !bytes.Equal(head, []byte{3, 0, 0, 0, featureEvents, featureMixed >> 8, 0, 0}) {
		t.Errorf("version and features % x", head)
	}
}

// Files merged in any grouping equal that of all processes at once.
func TestCallsInProgressMerge(t *testing.T) {
	procs := killedRing(t, 24)
	want := encode(t, procs, Meta{})
	dir := t.TempDir()
	part := func(name string, procs ...*efg.Process) string {
		path := filepath.Join(dir, name)
		err := writeFile(path, func(w io.Writer) error { return EncodePart(w, procs, Meta{}) })
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	parts := []string{part("c", procs[11:]...), part("a", procs[:1]...), part("b", procs[1:11]...)}
	var got bytes.Buffer
	if err := new(Writer).EncodeMerged(&got, parts); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("the merged file differs")
	}
}

// nestedRing is killedRing in which some ranks were in calls inside others.
func nestedRing(t *testing.T, n int) []*efg.Process {
	procs := killedRing(t, n)
	for i, p := range procs {
		for k := range i % 3 {
			call := efg.NewPending(p.Streams[0].Nodes[0].Words, uint64(6+k))
			call.Words[len(call.Words)-2] = uint64((i + k) % n)
			if p.Streams[0].Pending != nil {
				p.Streams[0].Pending.Inside(call)
			}
		}
	}
	return procs
}

// Calls inside calls in progress are read as they were written, and merged in any grouping.
func TestCallsInsideCallsInProgress(t *testing.T) {
	procs := nestedRing(t, 24)
	data := encode(t, procs, Meta{})
	r := openBytes(t, data)
	if err := Validate(r); err != nil {
		t.Fatal(err)
	}
	deepest := 0
	for i, p := range procs {
		got, _, err := r.Pending(i, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.Streams[0].Pending; !reflect.DeepEqual(got, want) {
			t.Errorf("rank %d: %+v, want %+v", i, got.Calls(), want.Calls())
		}
		deepest = max(deepest, len(got.Calls()))
	}
	if deepest != 3 || r.features&featureInner == 0 {
		t.Errorf("%d calls inside each other, features %#x", deepest, r.features)
	}
	dir := t.TempDir()
	var parts []string
	for i, list := range [][]*efg.Process{procs[5:], procs[1:5], procs[:1]} {
		parts = append(parts, filepath.Join(dir, fmt.Sprint(i)))
		if err := writeFile(parts[i], func(w io.Writer) error { return EncodePart(w, list, Meta{}) }); err != nil {
			t.Fatal(err)
		}
	}
	var merged bytes.Buffer
	if err := new(Writer).EncodeMerged(&merged, parts); err != nil || !bytes.Equal(merged.Bytes(), data) {
		t.Errorf("the merged file differs, or %v", err)
	}
	old := openBytes(t, data)
	old.features &^= featureInner
	if _, _, err := old.Pending(2, 0); !errors.As(err, new(*CorruptError)) {
		t.Errorf("without the feature: %v", err)
	}
}

// No more calls than the format has are kept inside each other: the innermost one always is.
func TestMostCallsInProgress(t *testing.T) {
	p := nestedRing(t, 2)[1]
	first := p.Streams[0].Pending
	for since := range uint64(50) {
		first.Inside(efg.NewPending(first.Words, since+1))
	}
	calls := first.Calls()
	if last := calls[len(calls)-1]; len(calls) != efg.MaxPending || last.Since != 50 || signature.Header(last.Words[0]).Depth() != signature.MaxDepth || calls[30].Since >= 50 {
		t.Errorf("%d calls, the last one since %d", len(calls), last.Since)
	}
	if got, _, err := openBytes(t, encode(t, []*efg.Process{p}, Meta{})).Pending(0, 0); err != nil || !reflect.DeepEqual(got, first) {
		t.Errorf("%v: %d calls", err, len(got.Calls()))
	}
	calls[len(calls)-1].Inner = efg.NewPending(first.Words, 1)
	if err := EncodeRun(io.Discard, []*efg.Process{p}, Meta{}); err == nil {
		t.Error("33 calls inside each other are written")
	}
}

// Calls that are not valid are rejected.
func TestImpossibleCallsInProgress(t *testing.T) {
	for name, words := range map[string][]uint64{
		"short": {7 | 2<<24, 0}, "another length": {7 | 5<<24, 0, 0, 0}, "long": append([]uint64{7 | 33<<24}, make([]uint64, 32)...),
		"counted": {uint64(signature.MakeHeader(7, 0, false, 3, 0).AsCounted()), 0, 0},
	} {
		p := &efg.Process{Streams: []efg.Stream{{Pending: &efg.Pending{Words: words}}}}
		var b bytes.Buffer
		if err := EncodeRun(&b, []*efg.Process{p}, Meta{}); err == nil || !strings.Contains(err.Error(), "call in progress") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := efg.CheckStream(&p.Streams[0]); err == nil {
			t.Errorf("%s: valid", name)
		}
	}
}

// A file says when processes were gone, with and without times of each call, and through a merge; times that no process can
// have are refused.
func TestWhenProcessesWereGone(t *testing.T) {
	procs := goneRing(t)
	data := encode(t, procs, Meta{})
	r := openBytes(t, data)
	if err := Validate(r); err != nil {
		t.Fatal(err)
	}
	if r.features&featureGone == 0 {
		t.Errorf("features %#x", r.features)
	}
	for i, p := range procs {
		got, err := r.Process(i)
		if err != nil || got.Gone != p.Gone || r.Procs[i].Gone != p.Gone {
			t.Errorf("rank %d: %d, %v, want %d", i, r.Procs[i].Gone, err, p.Gone)
		}
	}
	procs[1].Gone = math.MaxUint64
	var b bytes.Buffer
	if err := EncodeRun(&b, procs, Meta{}); err == nil {
		_, err = NewRun(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if !errors.As(err, new(*CorruptError)) {
			t.Errorf("gone after %d ns: %v", procs[1].Gone, err)
		}
	}
	procs[1].Gone, procs[4].Gone = 0, 0
	if r := openBytes(t, encode(t, procs, Meta{})); r.features&featureGone != 0 {
		t.Errorf("features %#x of a file without the property", r.features)
	}
}
