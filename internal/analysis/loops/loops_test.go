package loops_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/signature"
)

// stream records calls: each letter is a call at a callsite of its own; the lower-case letter
// is the same call with other arguments.
func stream(tb testing.TB, calls string) *efg.Stream {
	tb.Helper()
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	p := signature.ProcByName("MPI_Barrier")
	for _, c := range calls {
		w := make([]uint64, len(p.Words))
		w[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0))
		w[1], w[signature.ObjectWord] = uint64(c), signature.ConstantByName("MPI_COMM_WORLD").Word()
		if unicode.IsLower(c) {
			w[1], w[signature.ObjectWord] = uint64(unicode.ToUpper(c)), signature.ConstantByName("MPI_COMM_SELF").Word()
		}
		if err := b.Add(efg.Input{Words: w}); err != nil {
			tb.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// walk lists the nodes of a stream's events.
func walk(tb testing.TB, s *efg.Stream, defs []efg.Def) []int {
	tb.Helper()
	var nodes []int
	w := s.Walk(defs)
	for w.Next() {
		nodes = append(nodes, w.Node())
	}
	if w.Err() != nil {
		tb.Fatal(w.Err())
	}
	return nodes
}

// text describes loops: "A{ABC} 1x7..7 [B{B} ...]": header, nodes, entries,
// iterations, least and most of an entry.
func text(s *efg.Stream, f *loops.Forest, parent int) string {
	var parts []string
	letter := func(v int) string {
		if s.Nodes[v].Words[signature.ObjectWord] == signature.ConstantByName("MPI_COMM_SELF").Word() {
			return strings.ToLower(string(rune(s.Nodes[v].Words[1])))
		}
		return string(rune(s.Nodes[v].Words[1]))
	}
	for i, l := range f.Loops {
		if l.Parent != parent {
			continue
		}
		var nodes strings.Builder
		for _, v := range l.Nodes {
			nodes.WriteString(letter(v))
		}
		mark := ""
		if l.Irreducible {
			mark = "*"
		}
		part := fmt.Sprintf("%s%s{%s} %d:%d:%d-%d", letter(l.Header), mark, nodes.String(), l.Entries, l.Iterations, l.Least, l.Most)
		if inner := text(s, f, i); inner != "" {
			part += " [" + inner + "]"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// nest repeats n times what f writes for each i.
func nest(b *strings.Builder, n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}

func written(f func(b *strings.Builder)) string {
	var b strings.Builder
	f(&b)
	return b.String()
}

// The loops of programs, and how often they are iterated.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct{ calls, want string }{
		"none":           {"XABCY", ""},
		"empty":          {"", ""},
		"one call":       {"X" + strings.Repeat("A", 9) + "Y", "A{A} 1:9:9-9"},
		"only one call":  {strings.Repeat("A", 9), "A{A} 1:9:9-9"},
		"a loop":         {"X" + strings.Repeat("AB", 5) + "Y", "A{AB} 1:5:5-5"},
		"ends within":    {"X" + strings.Repeat("AB", 5) + "A", "A{AB} 1:6:6-6"},
		"two after each": {strings.Repeat("AB", 5) + strings.Repeat("CD", 7), "A{AB} 1:5:5-5 C{CD} 1:7:7-7"},
		"three, each begins with a call": {written(func(b *strings.Builder) {
			nest(b, 7, func(int) {
				b.WriteString("A")
				nest(b, 5, func(int) { b.WriteString("B" + strings.Repeat("C", 3)) })
				b.WriteString("D")
			})
		}), "A{ABCD} 1:7:7-7 [B{BC} 7:35:5-5 [C{C} 35:105:3-3]]"},
		"three that share a header": {written(func(b *strings.Builder) {
			b.WriteString("X")
			nest(b, 4, func(int) {
				nest(b, 3, func(int) { b.WriteString(strings.Repeat("A", 5) + "B") })
				b.WriteString("C")
			})
			b.WriteString("Y")
		}), "A{ABC} 1:4:4-4 [A{AB} 4:12:3-3 [A{A} 12:60:5-5]]"},
		"the figure of the paper, with a branch": {written(func(b *strings.Builder) {
			nest(b, 12, func(int) {
				nest(b, 5, func(j int) {
					b.WriteString("AB")
					if j%3 == 2 {
						b.WriteString("CD")
					}
				})
				b.WriteString("E")
			})
		}), "A{ABCDE} 1:12:12-12 [A{ABCD} 12:60:5-5]"},
		"a call in every tenth iteration": {"X" + strings.Repeat(strings.Repeat("AB", 10)+"C", 40) + "Y", "A{ABC} 1:40:40-40 [A{AB} 40:400:10-10]"},
		"the same from the first on": {"X" + strings.Repeat("ABC"+strings.Repeat("AB", 9), 40) + "Y",
			"A{ABC} 1:41:41-41 [A{AB} 41:400:1-10]"},
		"as long as it takes": {written(func(b *strings.Builder) {
			for i := range 30 {
				b.WriteString(strings.Repeat("AB", 3+i*i%7) + "C")
			}
		}), "A{ABC} 1:30:30-30 [A{AB} 30:147:3-7]"},
		"seldom": {strings.Repeat("AB", 17) + "C" + strings.Repeat("AB", 83), "A{ABC} 1:100:100-100"},
		"cases of a switch": {written(func(b *strings.Builder) {
			for i := range 50 {
				b.WriteString("A" + string(rune('B'+i*i%3)))
			}
		}), "A{ABC} 1:50:50-50"},
		"the first iteration differs": {"XAbC" + strings.Repeat("ABC", 9) + "Y", "A{AbCB} 1:10:10-10"},
		"two ways in":                 {strings.Repeat("HBCBCHCBCBCB", 3) + "Z", "H{HBC} 1:6:6-6 [B*{BC} 6:15:2-3]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stream(t, c.calls)
			f, err := loops.Find(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(s, f, -1); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			recount(t, s, nil, f)
		})
	}
}

// recount counts entries and iterations over the list of events.
func recount(t *testing.T, s *efg.Stream, defs []efg.Def, f *loops.Forest) {
	t.Helper()
	events := walk(t, s, defs)
	for i := range f.Loops {
		l := &f.Loops[i]
		in, same := nodeSet(l), map[int]bool{}
		for j := range f.Loops {
			if k := &f.Loops[j]; k.Parent == i && k.Header == l.Header {
				same = nodeSet(k)
			}
		}
		var list []uint64
		before := -1
		for _, v := range events {
			if in[v] && !in[before] {
				list = append(list, 0)
			}
			if slices.Contains(l.Headers, v) && !same[before] {
				list[len(list)-1]++
			}
			before = v
		}
		sum := uint64(0)
		for _, n := range list {
			sum += n
		}
		want := [4]uint64{uint64(len(list)), sum, slices.Min(list), slices.Max(list)}
		if got := [4]uint64{l.Entries, l.Iterations, l.Least, l.Most}; got != want {
			t.Errorf("loop %d: entries, iterations, least, most %v, want %v", i, got, want)
		}
	}
}

func nodeSet(l *loops.Loop) map[int]bool {
	set := map[int]bool{}
	for _, v := range l.Nodes {
		set[v] = true
	}
	return set
}

// script writes a random program: loops, branches, calls.
type script struct {
	r     *rand.Rand
	calls int // number of different ones
}

// part is a statement; it is called with how often it was reached.
type part func(b *strings.Builder)

func (s *script) block(depth int) part {
	var list []part
	for range 1 + s.r.IntN(3) {
		list = append(list, s.statement(depth))
	}
	return func(b *strings.Builder) {
		for _, p := range list {
			p(b)
		}
	}
}

func (s *script) statement(depth int) part {
	kind := s.r.IntN(4)
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 1, 2:
		n, more, body := 1+s.r.IntN(6), s.r.IntN(2)*s.r.IntN(5), s.block(depth-1)
		return func(b *strings.Builder) {
			for range n + s.r.IntN(more+1) {
				body(b)
			}
		}
	case 3:
		every, at, body := 2+s.r.IntN(3), 0, s.block(depth-1)
		return func(b *strings.Builder) {
			if at++; at%every == 0 {
				body(b)
			}
		}
	}
	call := string(rune('A' + s.r.IntN(s.calls)))
	if s.r.IntN(6) == 0 {
		call = strings.ToLower(call)
	}
	return func(b *strings.Builder) { b.WriteString(call) }
}

// Random programs, and random calls, whose loops are rarely natural.
func TestRandomPrograms(t *testing.T) {
	found, irreducible := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := script{r, 2 + r.IntN(12)}
		var b strings.Builder
		if seed%5 == 0 {
			for range 3 + r.IntN(60) {
				b.WriteByte('A' + byte(r.IntN(p.calls)) + byte(r.IntN(2)*(int(seed/5)%2))*('a'-'A'))
			}
		} else {
			program := p.block(4)
			for range 1 + r.IntN(2)*r.IntN(200) {
				if b.Len() < 1<<14 {
					program(&b)
				}
			}
		}
		s := stream(t, b.String())
		f, err := loops.Find(s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		recount(t, s, nil, f)
		checkForest(t, s, f)
		for i := range f.Loops {
			found++
			if f.Loops[i].Irreducible {
				irreducible++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, b.String())
		}
	}
	if found < 1000 || irreducible < 100 {
		t.Errorf("%d loops, %d of them irreducible: too few to say something", found, irreducible)
	}
}

// A program that runs ten times as long takes no more decisions to follow, and its counts are
// right.
func TestLongRuns(t *testing.T) {
	for name, body := range map[string]func(b *strings.Builder, i int){
		"a call in every tenth": func(b *strings.Builder, i int) { b.WriteString(strings.Repeat("AB", 9) + "C") },
		"nested": func(b *strings.Builder, i int) {
			nest(b, 5, func(j int) {
				b.WriteString("AB")
				if j%3 == 2 {
					b.WriteString("CD")
				}
			})
			if i%3 == 0 {
				b.WriteString(string(rune('W' + i%4)))
			}
			b.WriteString("E")
		},
		"each call could go elsewhere": func(b *strings.Builder, i int) {
			if i == 0 {
				b.WriteString("ADABDBC")
			}
			b.WriteString("ABC")
		},
		"two ways in": func(b *strings.Builder, _ int) { b.WriteString("HBCBCHCBCBCB") },
		"three deep": func(b *strings.Builder, _ int) {
			nest(b, 4, func(int) { b.WriteString("A" + strings.Repeat("A", 6) + "B") })
			b.WriteString("C")
		},
	} {
		for _, end := range []string{"Z", "", "A"} {
			t.Run(name+" then "+end, func(t *testing.T) {
				var took []int
				for _, n := range []int{3000, 30000} {
					var b strings.Builder
					b.WriteString("X")
					nest(&b, n, func(i int) { body(&b, i) })
					s := stream(t, b.String()+end)
					f, err := loops.Find(s)
					if err != nil {
						t.Fatal(err)
					}
					recount(t, s, nil, f)
					took = append(took, loops.Decisions(s))
				}
				if took[1] > took[0]*3/2 || took[1] > 2500 {
					t.Errorf("%d decisions, then %d", took[0], took[1])
				}
			})
		}
	}
}
