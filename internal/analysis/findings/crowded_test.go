package findings

import (
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
)

// What is said of processors is about the host with most ranks for each.
func TestMoreRanksThanProcessors(t *testing.T) {
	run := &runfile.Run{}
	for i, host := range []string{"a", "b", "b", "b", "c", "c", "d", "d"} {
		run.Procs = append(run.Procs, runfile.ProcInfo{ProcShared: &runfile.ProcShared{Host: host}, Rank: i})
	}
	for _, c := range []struct {
		processors []string
		want       string
		ranks      []int
	}{
		{nil, "", nil},
		{[]string{"1 a", "3 b", "2 c", "8 e"}, "", nil},
		{[]string{"1 a", "2 b", "1 c"}, "2 ranks share a processor of c, and so on 2 hosts in all: computation and waiting may in part be waiting for a processor.", []int{4, 5}},
		{[]string{"2 b", "2 c"}, "3 ranks share 2 processors of b: computation and waiting may in part be waiting for a processor.", []int{1, 2, 3}},
	} {
		run.Meta.Processors = c.processors
		f := crowded(run)
		if f == nil {
			f = &Finding{}
		}
		if f.Text != c.want || !slices.Equal(f.Ranks, c.ranks) {
			t.Errorf("%v: %q of ranks %v, want %q of %v", c.processors, f.Text, f.Ranks, c.want, c.ranks)
		}
	}
}
