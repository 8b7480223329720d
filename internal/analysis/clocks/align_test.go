package clocks

import (
	"math/rand/v2"
	"testing"
)

// pairs are random machines that have exchanged something, often in one direction only.
func pairs(r *rand.Rand, machines int) map[[2]int]*passages {
	found := map[[2]int]*passages{}
	for range machines * 3 {
		key := [2]int{r.IntN(machines), r.IntN(machines)}
		if key[0] != key[1] {
			found[key] = &passages{count: 1 + uint64(r.IntN(4))}
		}
	}
	return found
}

// The machine that is aligned next is that of the pair that says most, as a search among all pairs finds it.
func TestNext(t *testing.T) {
	aligned := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(20)
		found := pairs(r, n)
		a := &aligner{passages: found, near: neighbours(n, found), placed: make([]bool, n)}
		of := make([]int, n) // the reference of each machine
		for first := range n {
			if a.placed[first] {
				continue
			}
			of[first] = first
			a.reach(first)
			for {
				most, want := uint64(0), [2]int{-1, -1}
				for m := range n {
					for c := range n {
						if k := a.count(m, c); a.placed[m] && of[m] == first && !a.placed[c] && k > most {
							most, want = k, [2]int{m, c}
						}
					}
				}
				parent, child := a.next()
				if want != [2]int{parent, child} {
					t.Fatalf("seed %d: %d from %d, want %d from %d", seed, child, parent, want[1], want[0])
				}
				if child < 0 {
					break
				}
				of[child] = first
				a.reach(child)
				aligned++
			}
		}
	}
	if aligned < 500 {
		t.Errorf("only %d machines were aligned", aligned)
	}
}

// BenchmarkAlign aligns 4,000 machines, of which each has exchanged something with 8 others.
func BenchmarkAlign(b *testing.B) {
	const machines = 4000
	found := map[[2]int]*passages{}
	for m := range machines {
		for _, d := range []int{1, 20, 400, 2000} {
			for _, pair := range [][2]int{{m, (m + d) % machines}, {(m + d) % machines, m}} {
				p := &passages{}
				for i := range int64(20) {
					p.add(passage{1000 * i, 1000*i + 100})
				}
				found[pair] = p
			}
		}
	}
	for b.Loop() {
		if _, list := align(machines, found); !list[machines-1].Aligned {
			b.Fatal("not aligned")
		}
	}
}
