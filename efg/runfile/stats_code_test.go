package runfile

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// recordedStats returns the processes of the recordings in testdata/statistics.
func recordedStats(t testing.TB) (all [][]*efg.Process) {
	t.Helper()
	paths, err := filepath.Glob("testdata/statistics/*.efg")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range paths {
		r, err := OpenRun(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var procs []*efg.Process
		for i := range r.Procs {
			p, err := r.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			procs = append(procs, p)
		}
		all = append(all, procs)
	}
	return all
}

// writtenStats returns the processes of a file that was written with such times.
func writtenStats(t testing.TB, procs []*efg.Process, time string) ([]*efg.Process, []byte) {
	t.Helper()
	data := encode(t, procs, Meta{Time: time})
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(r); err != nil {
		t.Fatal(err)
	}
	var got []*efg.Process
	for i := range r.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	return got, data
}

// eachStats calls f with the statistics of each stream.
func eachStats(procs []*efg.Process, f func(proc, stream int, list []*efg.Stats)) {
	for i, p := range procs {
		for j := range p.Streams {
			f(i, j, ownStats(p.Streams[j].Nodes))
		}
	}
}

// Statistics come back as they were recorded, and another reader finds the same.
func TestRecordedStatistics(t *testing.T) {
	for k, procs := range recordedStats(t) {
		got, data := writtenStats(t, procs, "stats")
		eachStats(procs, func(i, j int, want []*efg.Stats) {
			if list := ownStats(got[i].Streams[j].Nodes); !reflect.DeepEqual(list, want) {
				t.Errorf("process %d, stream %d: other statistics", i, j)
			}
		})
		if k > 0 {
			continue // it takes seconds
		}
		if got, want := independently(t, data), shown(t, data); got != want {
			t.Errorf("the independent reader disagrees: %s", firstDifference(got, want))
		}
	}
}

// Rounded statistics are within what FORMAT.md says, stay as they are when they are written again, and take less space.
func TestRoundedStatistics(t *testing.T) {
	for k, procs := range recordedStats(t) {
		_, exact := writtenStats(t, procs, "stats")
		got, data := writtenStats(t, procs, RoundedStats)
		if len(data) >= len(exact) {
			t.Errorf("%d bytes, %d exact", len(data), len(exact))
		}
		if again := encode(t, got, Meta{Time: RoundedStats}); !bytes.Equal(again, data) {
			t.Error("they change when they are written again")
		}
		eachStats(procs, func(i, j int, want []*efg.Stats) {
			checkRounded(t, ownStats(got[i].Streams[j].Nodes), want)
		})
		if k > 0 {
			continue // it takes seconds
		}
		if got, want := independently(t, data), shown(t, data); got != want {
			t.Errorf("the independent reader disagrees: %s", firstDifference(got, want))
		}
	}
}

// Another reader finds the same in a file whose codes are not short.
func TestLongStatisticsCode(t *testing.T) {
	data, err := os.ReadFile("testdata/old/coded.efg")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(blocksOfKind(t, data, blockStatsCode)); n != 1 {
		t.Fatalf("%d codes of statistics", n)
	}
	if got, want := independently(t, data), shown(t, data); got != want {
		t.Errorf("the independent reader disagrees: %s", firstDifference(got, want))
	}
}

func checkRounded(t *testing.T, got, want []*efg.Stats) {
	t.Helper()
	all, off := [2]int64{}, [2]int64{}
	for k := range want {
		for i, v := range intervals(want[k]) {
			all[0] += int64(v.Sum)
			off[i] += int64(intervals(got[k])[i].Sum) - int64(v.Sum)
		}
	}
	for k := range want {
		if got[k].Count != want[k].Count {
			t.Fatalf("node %d: %d events, not %d", k, got[k].Count, want[k].Count)
		}
		for i, v := range intervals(want[k]) {
			r := intervals(got[k])[i]
			d := int64(r.Sum) - int64(v.Sum)
			if d = max(d, -d); d > all[0]>>roundingPart || 8*d > int64(v.Sum) {
				t.Errorf("node %d: the sum %d became %d, of %d", k, v.Sum, r.Sum, all[0])
			}
			if got[k].Count > 1 && (r.Min > v.Min || 8*(v.Min-r.Min) > v.Min || r.Max < v.Max || 8*(r.Max-v.Max) > v.Max) {
				t.Errorf("node %d: %d to %d became %d to %d", k, v.Min, v.Max, r.Min, r.Max)
			}
			if !fits(r, got[k].Count) {
				t.Errorf("node %d: statistics that contradict themselves: %+v", k, r)
			}
		}
	}
	for _, d := range off {
		if max(d, -d) > all[0]>>roundingPart {
			t.Errorf("all sums together are off by %d, of %d", d, all[0])
		}
	}
}

// statsCodes returns the codes of the statistics of the recordings in testdata/statistics.
func statsCodes(tb testing.TB) (list [][]byte, features []uint32) {
	tb.Helper()
	for _, procs := range recordedStats(tb) {
		_, data := writtenStats(tb, procs, "stats")
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			tb.Fatal(err)
		}
		for _, ref := range r.blocks {
			if ref.Kind != blockStatsCode {
				continue
			}
			code, err := block.ReadCode(r.r, ref.Ref, "recording")
			if err != nil {
				tb.Fatal(err)
			}
			list, features = append(list, code), append(features, r.features)
		}
	}
	if list == nil {
		tb.Fatal("no file has a code of statistics")
	}
	return list, features
}

// No code makes the decoder fail but with an error, or take more memory than its length allows.
func FuzzStatsCode(f *testing.F) {
	list, features := statsCodes(f)
	for i, code := range list {
		f.Add(code, features[i])
		f.Add(code, features[i]&^featureShortStats)
		f.Add(code[:len(code)/2], features[i])
	}
	f.Fuzz(func(t *testing.T, code []byte, features uint32) {
		cols, err := decodeStats(code, features)
		if err != nil {
			return
		}
		for _, c := range cols {
			if len(c) > block.MaxValues(len(code)) {
				t.Errorf("%d values from %d bytes", len(c), len(code))
			}
		}
	})
}

// Without its end, or with more behind it, a code is refused. A few bytes, which the decoder reads ahead, only the
// checksum of the block finds.
func TestStatsCodeCut(t *testing.T) {
	list, features := statsCodes(t)
	for i, code := range list {
		if _, err := decodeStats(code, features[i]); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(code)-8; n += 1 + len(code)/40 {
			if _, err := decodeStats(code[:n], features[i]); err == nil {
				t.Errorf("%d of %d bytes are a code", n, len(code))
			}
		}
		if _, err := decodeStats(append(slices.Clone(code), code...), features[i]); err == nil {
			t.Error("bytes behind the code are ignored")
		}
	}
}
