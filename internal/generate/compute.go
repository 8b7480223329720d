package generate

import "strconv"

// leastGap is the shortest computation that is reproduced, ns.
const leastGap = 100

// gap is how long the program computes before the calls of a node, on average over the ranks of
// the class, ns.
func (e *emitter) gap(number int) float64 {
	sum := 0.0
	for _, p := range e.class.procs {
		sum += p.nodes[number].gap
	}
	ns := sum / float64(len(e.class.procs)) * e.opt.Compute
	if ns < leastGap || e.node.proc.Begins {
		return 0
	}
	return ns
}

// seconds is the text of a time.
func seconds(ns float64) string { return strconv.FormatFloat(ns/1e9, 'g', 3, 64) }
