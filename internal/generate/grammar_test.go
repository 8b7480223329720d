package generate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// flat are the calls that statements make.
func flat(body []stmt, parts [][]stmt) []int {
	var out []int
	for i := range body {
		switch s := &body[i]; {
		case s.part > 0:
			out = append(out, flat(parts[s.part-1], parts)...)
		case s.body != nil:
			for range s.times {
				out = append(out, flat(s.body, parts)...)
			}
		default:
			out = append(out, s.node)
		}
	}
	return out
}

// randomBody has recurring sequences, some of which differ a little.
func randomBody(r *rand.Rand, depth int) []stmt {
	var body []stmt
	for range 1 + r.IntN(8) {
		switch k := r.IntN(6); {
		case k == 0 && depth > 0:
			body = append(body, stmt{times: 2 + r.Uint64N(3), body: randomBody(r, depth-1)})
		case k < 3 && len(body) > 0:
			body = append(body, slices.Clone(body[:1+r.IntN(len(body))])...)
		default:
			body = append(body, stmt{node: r.IntN(5)})
		}
	}
	return body
}

// TestGrammar checks that programs with functions make the calls that they made without.
func TestGrammar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := []int{1, 1, 2, 3, 9}
	for range 2000 {
		bodies := make([][]stmt, 1+r.IntN(3))
		for i := range bodies {
			bodies[i] = randomBody(r, 3)
		}
		parts, now := newGrammar(bodies, lines).parts()
		for i := range bodies {
			if got, want := flat(now[i], parts), flat(bodies[i], nil); !slices.Equal(got, want) {
				t.Fatalf("%v becomes %v with %v:\n%v, want\n%v", bodies[i], now[i], parts, got, want)
			}
		}
	}
}

// TestParts checks which sequences become functions.
func TestParts(t *testing.T) {
	sequence := calls("abcdefghijkl")
	var body []stmt
	for k := range 5 {
		body = append(append(body, sequence...), stmt{node: 20 + k})
	}
	for range 3 {
		body = append(append(body, sequence...), stmt{node: 25}, stmt{node: 26})
	}
	parts, bodies := newGrammar([][]stmt{body}, slices.Repeat([]int{1}, 27)).parts()
	if len(parts) != 1 || !equalBodies(parts[0], sequence) {
		t.Errorf("parts: %v", parts)
	}
	want := []stmt{}
	for k := range 5 {
		want = append(want, stmt{part: 1}, stmt{node: 20 + k})
	}
	want = append(want, stmt{times: 3, body: []stmt{{part: 1}, {node: 25}, {node: 26}}})
	if !equalBodies(bodies[0], want) {
		t.Errorf("body: %v, want %v", bodies[0], want)
	}
}

// TestAligned checks that pairs are as alike as possible, in order.
func TestAligned(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want []int
	}{
		{"ab", "bc", []int{1, -1}},
		{"ab", "ab", []int{0, 1}},
		{"b", "abc", []int{-1, 0, -1}},
		{"", "ab", []int{-1, -1}},
		{"xy", "ab", []int{0, 1}},
	} {
		got := aligned(len(c.a), len(c.b), func(i, j int) int {
			if c.a[i] == c.b[j] {
				return 9
			}
			return 0
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
