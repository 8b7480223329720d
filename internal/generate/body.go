package generate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// stmt is a call, a loop if it has a body, or the call of a function of the program.
type stmt struct {
	node  int // of the process's graph; after callsOf, a call of the program
	part  int // the number of the function, from 1 on
	times uint64
	body  []stmt
}

// maxStatements bounds the statements of a process whose calls have no structure.
const maxStatements = 1 << 20

// bodyOf folds the events of a stream into statements. Polls that found nothing are left out:
// the call that found something is repeated until it does.
func bodyOf(s *efg.Stream, defs []efg.Def) ([]stmt, error) {
	f := &folder{}
	masks := make([]uint64, len(s.Nodes))
	for k := range s.Nodes {
		masks[k] = pollMask(&s.Nodes[k])
	}
	walk := efg.NewFoldedWalk(s, defs, masks)
	f.leavesOut = func(step *efg.Step) bool {
		words := walk.Words(step)
		return signature.FoundNothing(words) || signature.Header(words[0]).Depth() > 0
	}
	var all []stmt
	err := walk.Each(func(steps []efg.Step) error {
		all = f.append(all, steps)
		all = f.tidy(all)
		if len(all) > maxStatements {
			return fmt.Errorf("more than %d calls without a structure", maxStatements)
		}
		return nil
	})
	return f.tidy(all), err
}

// pollMask has the word that says whether a poll found something.
func pollMask(n *efg.Node) uint64 {
	p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	if p == nil || !p.Poll {
		return 0
	}
	return 1 << p.PollWord()
}

type folder struct {
	leavesOut func(*efg.Step) bool
}

func (f *folder) append(list []stmt, steps []efg.Step) []stmt {
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Times > 0:
			if body := f.tidy(f.append(nil, s.Body)); len(body) > 0 {
				list = append(list, loop(body, s.Times)...)
			}
		case !f.leavesOut(s):
			list = append(list, stmt{node: s.Node})
		}
	}
	return list
}

// loop returns the statement that repeats a body, or the body itself.
func loop(body []stmt, times uint64) []stmt {
	switch {
	case times == 1:
		return body
	case len(body) == 1 && body[0].body != nil:
		return []stmt{{times: times * body[0].times, body: body[0].body}}
	}
	return []stmt{{times: times, body: body}}
}

// maxPeriod is the number of statements that are looked at as the body of a loop.
const maxPeriod = 256

// tidy makes loops of statements that recur one after another. What a walk passes before it finds a
// loop, and after it, is made part of the loop.
func (f *folder) tidy(list []stmt) []stmt {
	for period := 1; period <= min(maxPeriod, len(list)); period++ {
		list = f.roll(list, period)
		if turn(list) {
			period = 0
		}
	}
	return list
}

// turn lets loops begin as early as possible: if the statement before one is also the last of its
// body, it becomes the first. It reports whether there was such a loop.
func turn(list []stmt) bool {
	turned := false
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && list[k].body != nil; k-- {
			body := list[k].body
			last := len(body) - 1
			if !equalBodies(body[last:], list[k-1:k]) {
				break
			}
			list[k-1], list[k] = stmt{times: list[k].times, body: append([]stmt{body[last]}, body[:last]...)}, list[k-1]
			turned = true
		}
	}
	return turned
}

// roll makes loops of bodies with a number of statements.
func (f *folder) roll(list []stmt, period int) []stmt {
	var out []stmt
	for i := 0; i < len(list); {
		if s := &list[i]; s.body != nil && len(s.body) == period {
			before := uint64(0)
			for len(out) >= period && equalBodies(s.body, out[len(out)-period:]) {
				out = out[:len(out)-period]
				before++
			}
			joined := stmt{times: s.times + before, body: s.body}
			i++
			for i < len(list) {
				if list[i].body != nil && equalBodies(list[i].body, s.body) {
					joined.times += list[i].times
					i++
				} else if i+period <= len(list) && equalBodies(list[i:i+period], s.body) {
					joined.times++
					i += period
				} else {
					break
				}
			}
			out = append(out, joined)
			continue
		}
		n := uint64(1)
		for j := i + period; j+period <= len(list) && equalBodies(list[i:i+period], list[j:j+period]); j += period {
			n++
		}
		if n < 2 {
			out = append(out, list[i])
			i++
			continue
		}
		out = append(out, loop(slices.Clone(list[i:i+period]), n)...)
		i += period * int(n)
	}
	return out
}

func equalBodies(a, b []stmt) bool {
	return slices.EqualFunc(a, b, func(x, y stmt) bool {
		return x.node == y.node && x.part == y.part && x.times == y.times && (x.body == nil) == (y.body == nil) && equalBodies(x.body, y.body)
	})
}

// eachCall calls f for every call in a body that is executed a number of times.
func eachCall(body []stmt, times uint64, f func(node int, times uint64)) {
	for i := range body {
		if s := &body[i]; s.body != nil {
			eachCall(s.body, times*s.times, f)
		} else {
			f(s.node, times)
		}
	}
}
