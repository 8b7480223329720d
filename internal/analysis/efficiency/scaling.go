package efficiency

import "math"

// Scaling is how the work grows with the number of ranks.
type Scaling uint8

const (
	NoScaling     Scaling = iota // one run, or the same number of ranks
	StrongScaling                // all ranks together do the same work
	WeakScaling                  // each rank does
)

// String returns the name of the scaling.
func (s Scaling) String() string { return [...]string{"", "strong", "weak"}[s] }

// Comparison relates runs of one program to the first one.
type Comparison struct {
	Scaling Scaling
	// Exponent is how the useful time of all ranks together grows with their number: about 0 with
	// strong scaling, about 1 with weak scaling.
	Exponent float64
	// Computation is the computation scaling of each run: how much less useful time the work takes
	// than it should; Speedup is how much shorter the run takes. Both are 1 for the first run.
	Computation, Speedup []float64
	// Instructions, IPC and Frequency are factors of Computation: how many fewer instructions the work takes than
	// it should, how many more of them are executed in a cycle, and how many more cycles in a second. 0: not known.
	Instructions, IPC, Frequency []float64
}

// Compare relates runs to the first one. scaling is NoScaling if it is to be recognised.
func Compare(runs []*Run, scaling Scaling) *Comparison {
	c := &Comparison{Scaling: scaling, Exponent: exponent(runs)}
	if c.Scaling == NoScaling {
		c.Scaling = recognise(runs, c.Exponent)
	}
	first := runs[0]
	for _, r := range runs {
		work := 1.0
		if c.Scaling == WeakScaling {
			work = float64(r.Ranks) / float64(max(first.Ranks, 1))
		}
		c.Computation = append(c.Computation, ratio(float64(first.Useful)*work, r.Useful))
		instructions, ipc, frequency := factors(first, r, work)
		c.Instructions, c.IPC, c.Frequency = append(c.Instructions, instructions), append(c.IPC, ipc), append(c.Frequency, frequency)
		c.Speedup = append(c.Speedup, ratio(float64(first.Time), r.Time))
	}
	return c
}

// recognise decides by what is closer: the same work in all, or of each rank.
func recognise(runs []*Run, exponent float64) Scaling {
	for _, r := range runs {
		if r.Ranks != runs[0].Ranks {
			if exponent < 0.5 {
				return StrongScaling
			}
			return WeakScaling
		}
	}
	return NoScaling
}

// exponent is the slope of the useful time over the number of ranks, both logarithmic.
func exponent(runs []*Run) float64 {
	var n, x, y, xx, xy float64
	for _, r := range runs {
		if r.Useful <= 0 || r.Ranks <= 0 {
			continue
		}
		a, b := math.Log(float64(r.Ranks)), math.Log(float64(r.Useful))
		n, x, y, xx, xy = n+1, x+a, y+b, xx+a*a, xy+a*b
	}
	if d := n*xx - x*x; d > 1e-12 {
		return (n*xy - x*y) / d
	}
	return 0
}
