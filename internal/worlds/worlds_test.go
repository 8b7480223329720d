package worlds

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// names returns, for each process, the name and the size of its world.
func names(procs []Process) (list [][2]uint64) {
	found, places := Split(procs)
	list = make([][2]uint64, len(procs))
	for _, p := range places {
		w := &found[p.World]
		list[p.Process] = [2]uint64{w.Name(), uint64(w.Size)}
	}
	return list
}

func TestSplit(t *testing.T) {
	second, third := (&World{Nth: 1}).Name(), (&World{Nth: 2}).Name()
	if second == 0 || second == third {
		t.Fatalf("names %#x and %#x", second, third)
	}
	for _, c := range []struct {
		what  string
		procs []Process
		want  [][2]uint64
	}{
		{"two of one name, one of another", []Process{
			{0, 0, 2, 30, "", 0}, {0, 1, 2, 11, "", 0}, {0, 0, 2, 10, "", 0}, {0, 1, 2, 29, "", 0}, {5, 0, 2, 12, "", 0},
		}, [][2]uint64{{second, 2}, {0, 2}, {0, 2}, {second, 2}, {5, 2}}},
		{"different sizes", []Process{
			{0, 0, 2, 10, "", 0}, {0, 1, 2, 11, "", 0},
			{0, 0, 4, 20, "", 0}, {0, 1, 4, 21, "", 0}, {0, 2, 4, 22, "", 0}, {0, 3, 4, 23, "", 0},
			{0, 1, 2, 30, "", 0},
		}, [][2]uint64{{0, 2}, {0, 2}, {second, 4}, {second, 4}, {second, 4}, {second, 4}, {third, 2}}},
		{"unknown ranks are of the first that fits", []Process{
			{0, -1, 0, 1, "", 0}, {0, 0, 2, 10, "", 0}, {0, 0, 4, 20, "", 0}, {0, -1, 4, 2, "", 0}, {7, -1, 0, 40, "", 0},
		}, [][2]uint64{{0, 2}, {0, 2}, {second, 4}, {second, 4}, {7, 0}}},
		{"more ranks than the size says", []Process{{0, 5, 2, 1, "", 0}}, [][2]uint64{{0, 6}}},
		{"none", nil, [][2]uint64{}},
	} {
		if got := names(c.procs); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// The order in which processes are listed does not matter; the result is ordered by world and
// rank.
func TestSplitOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var procs []Process
	for pid := range 200 {
		size := 2 + 2*rng.IntN(3)
		procs = append(procs, Process{uint64(rng.IntN(3)), rng.IntN(size+1) - 1, size, int64(rng.IntN(40)), "", pid})
	}
	inOrder := func() (list []Process) {
		found, places := Split(procs)
		last := Place{-1, -1}
		for _, at := range places {
			p := procs[at.Process]
			if w := &found[at.World]; w.ID != p.World || w.Size != p.Size || w.Began > p.Began {
				t.Fatalf("%+v in %+v", p, w)
			}
			if last.Process >= 0 && at.World == last.World && p.Rank >= 0 && p.Rank <= procs[last.Process].Rank {
				t.Fatalf("world %d: %+v after %+v", at.World, p, procs[last.Process])
			}
			last, list = at, append(list, p)
		}
		return list
	}
	want := inOrder()
	for range 20 {
		rng.Shuffle(len(procs), func(i, j int) { procs[i], procs[j] = procs[j], procs[i] })
		if got := inOrder(); !reflect.DeepEqual(got, want) {
			t.Fatal("another order of processes gives another order of ranks")
		}
	}
}
