package generate

import "strconv"

// leastGap is the shortest computation that is reproduced, ns.
const leastGap = 100

// gap is how long the program computes before the call, on average over its ranks, ns.
func (e *emitter) gap() float64 {
	sum := 0.0
	for _, n := range e.call.nodes {
		sum += n.gap
	}
	ns := sum / float64(len(e.call.nodes)) * e.opt.Compute
	if ns < leastGap || e.node.proc.Begins {
		return 0
	}
	return ns
}

// seconds is the text of a time.
func seconds(ns float64) string { return strconv.FormatFloat(ns/1e9, 'g', 3, 64) }
