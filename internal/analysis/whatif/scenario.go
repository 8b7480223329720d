package whatif

import (
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/rankset"
)

// Scenario is what is different from the recorded run. The zero value is the recorded run.
type Scenario struct {
	Rules []Rule
	// Ranks has factors of all computation of some ranks.
	Ranks map[int]float64
	// Network replaces the recorded one; nil: it stays.
	Network *Network
	// Modelled: calls take what those of their kind typically take, and what a Network changes.
	Modelled bool
	// Ideal: calls take no time, and wait for what they depend on. Ranks leave MPI_Init together.
	Ideal bool
}

// Rule makes a part of the run take longer or shorter. Rules that apply to the same part are
// multiplied.
type Rule struct {
	Ranks rankset.Set // that it applies to
	// At are the callsites that it applies to: the computation before these calls or, if Call is
	// set, the calls themselves, without their waiting. It applies to all computation if At is nil.
	At map[match.Place]bool
	// From, if not nil, restricts it to computation after a call there.
	From   *match.Place
	Call   bool
	Factor float64 // of the recorded time
}

// factor is a rule for a callsite, and a scenario.
type factor struct {
	scenario int
	rule     *Rule
}

// places knows the callsites of a trace by their text: several addresses may be one place.
type places struct {
	sites   *match.Sites
	numbers []int32 // by callsite: the first one with the same place
	texts   []match.Place
}

// number is the place of a node's callsite, 0 if it is not known.
func (p *places) number(t *match.Thread, node int) int32 {
	if n := p.sites.Number(t, node); int(n) < len(p.numbers) {
		return p.numbers[n]
	}
	return 0
}

// placesOf numbers all callsites of a trace.
func placesOf(t *match.Trace, texts func(*match.Sites) ([]match.Place, error)) (*places, error) {
	p := &places{sites: match.NewSites(t)}
	for _, th := range t.Threads {
		for node := range th.Nodes {
			p.sites.Number(th, node)
		}
	}
	var err error
	if p.texts, err = texts(p.sites); err != nil {
		return nil, err
	}
	first := map[match.Place]int32{}
	for i, x := range p.texts {
		if _, known := first[x]; !known {
			first[x] = int32(i)
		}
		p.numbers = append(p.numbers, first[x])
	}
	return p, nil
}

// factors has the rules of scenarios where they apply.
type factors struct {
	ranks  [][]float64 // by thread and scenario: of all computation
	places [][]factor  // by place
}

func newFactors(t *match.Trace, p *places, scenarios []Scenario) *factors {
	f := &factors{ranks: make([][]float64, len(t.Threads)), places: make([][]factor, len(p.texts))}
	for i, th := range t.Threads {
		f.ranks[i] = make([]float64, len(scenarios))
		for k := range scenarios {
			f.ranks[i][k] = 1
			if x, ok := scenarios[k].Ranks[th.Process.Rank]; ok {
				f.ranks[i][k] = x
			}
			for j := range scenarios[k].Rules {
				if r := &scenarios[k].Rules[j]; r.At == nil && r.covers(th) {
					f.ranks[i][k] *= r.Factor
				}
			}
		}
	}
	for k := range scenarios {
		for j := range scenarios[k].Rules {
			r := &scenarios[k].Rules[j]
			for n, text := range p.texts {
				if r.At[text] && p.numbers[n] == int32(n) {
					f.places[n] = append(f.places[n], factor{k, r})
				}
			}
		}
	}
	return f
}

func (r *Rule) covers(t *match.Thread) bool { return len(r.Ranks) == 0 || r.Ranks.Has(t.Process.Rank) }
