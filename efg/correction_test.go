package efg

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// warpOracle is a Warp as a plain list.
type warpOracle []Knot

func (w warpOracle) time(at, position int64) int64 {
	i := sort.Search(len(w), func(i int) bool { return position < w[i].Position }) - 1
	if i < 0 {
		return at
	}
	if i+1 < len(w) {
		return w[i].time(at, true, w[i+1].Point)
	}
	return w[i].Fade(at)
}

// randomWarp makes knots of a stream with an event each µs or so.
func randomWarp(r *rand.Rand, knots int) (*Warp, warpOracle) {
	w, o := &Warp{}, warpOracle{}
	k := Knot{Position: r.Int64N(3)}
	for range knots {
		k.Position += 1 + r.Int64N(20)
		gap := r.Int64N(5000)
		k.At += gap
		k.Shift = max(k.Shift-gap>>FadeBits, 0) + r.Int64N(300)
		k.Stretch = false
		w.Append(k)
		o = append(o, k)
		if r.IntN(2) == 0 {
			w.Stretch()
			o[len(o)-1].Stretch = true
		}
	}
	return w, o
}

// A Warp maps times as the list of its knots does, from one position to the next and at random, and
// never to an earlier time.
func TestWarp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, knots := range []int{0, 1, 2, 3, 63, 64, 65, 66, 127, 128, 129, 130, 500} {
		w, o := randomWarp(r, knots)
		if w.Knots() != knots || knots > 0 && w.Last() != o[knots-1] {
			t.Fatalf("%d knots: %d, the last %+v", knots, w.Knots(), w.Last())
		}
		if all := slices.Collect(w.All()); !slices.Equal(all, []Knot(o)) {
			t.Fatalf("%d knots: %+v, want %+v", knots, all, o)
		}
		var reader warpReader
		last, at := int64(-1), int64(0)
		for position := int64(-1); position < int64(knots)*20+10; position++ {
			i := sort.Search(len(o), func(i int) bool { return position < o[i].Position })
			if i > 0 {
				at = max(at, o[i-1].At)
			}
			if i < len(o) {
				at = min(at+r.Int64N(500), o[i].At)
			}
			got := reader.time(w, at, position)
			if want := o.time(at, position); got != want || got < at || got < last {
				t.Fatalf("%d knots, position %d: %d becomes %d, want %d; before that %d", knots, position, at, got, want, last)
			}
			last = got
		}
		for range 200 {
			position, at := r.Int64N(int64(knots)*20+10)-1, r.Int64N(1_000_000)
			fresh := warpReader{}
			if got, again, want := reader.time(w, at, position), fresh.time(w, at, position), o.time(at, position); got != want || again != want {
				t.Fatalf("%d knots, position %d: %d becomes %d, %d, want %d", knots, position, at, got, again, want)
			}
		}
	}
}

// A knot takes a few bytes.
func TestWarpSize(t *testing.T) {
	w, _ := randomWarp(rand.New(rand.NewPCG(2, 2)), 10_000)
	if size := len(w.code) + 48*len(w.blocks); size > 9*10_000 {
		t.Errorf("10,000 knots take %d bytes", size)
	}
}

// A Line passes through its points, is straight between and after them, and rounds down.
func TestLine(t *testing.T) {
	for _, x := range []struct {
		line     Line
		at, want int64
	}{
		{nil, 7, 7}, {Line{{100, -3}}, 7, 4}, {Line{{0, 0}, {100, 10}}, 50, 55}, {Line{{0, 0}, {100, 10}}, -50, -55}, {Line{{0, 0}, {100, 10}}, 200, 220},
		{Line{{0, 0}, {100, 10}, {200, 0}}, 150, 155}, {Line{{0, 0}, {100, 10}, {200, 0}}, 300, 290}, {Line{{0, 0}, {100, 10}}, 9, 9}, {Line{{0, 0}, {100, -10}}, 9, 8},
		{Line{{0, 0}, {1 << 40, 1 << 62}}, 1 << 62, 1 << 62}, {Line{{5, 1}, {5, 2}}, 9, 10},
	} {
		if got := x.line.Time(x.at); got != x.want {
			t.Errorf("%v at %d: %d, want %d", x.line, x.at, got, x.want)
		}
	}
}
