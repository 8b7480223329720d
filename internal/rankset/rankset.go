// Package rankset parses sets of ranks such as "0-3,7".
package rankset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
)

// Set is a set of ranks, in ranges of a first and a last one. Nil means all ranks.
type Set [][2]int

// ErrSyntax describes the syntax of a set.
var ErrSyntax = errors.New("want ranks and ranges of ranks, as in 0-3,7")

// Parse parses a set. The empty string means all ranks.
func Parse(s string) (Set, error) {
	if s == "" {
		return nil, nil
	}
	var r Set
	for _, part := range strings.Split(s, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, err1 := strconv.ParseUint(low, 10, 31)
		b, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || a > b {
			return nil, ErrSyntax
		}
		r = append(r, [2]int{int(a), int(b)})
	}
	return r, nil
}

// Has reports whether a rank is in a set that is not nil.
func (r Set) Has(rank int) bool {
	return slices.ContainsFunc(r, func(part [2]int) bool { return part[0] <= rank && rank <= part[1] })
}

// Find returns the numbers of a run's processes with these ranks. A rank that the run
// does not have is an error.
func (r Set) Find(run *runfile.Run) ([]int, error) {
	var found []int
	if r == nil {
		for i := range run.Procs {
			found = append(found, i)
		}
		return found, nil
	}
	at := make(map[int]int, len(run.Procs))
	for i, p := range run.Procs {
		at[p.Rank] = i
	}
	for _, part := range r {
		for rank := part[0]; rank <= part[1]; rank++ {
			i, ok := at[rank]
			if !ok {
				return nil, fmt.Errorf("no rank %d: the run has %s", rank, ranksOf(run))
			}
			found = append(found, i)
		}
	}
	return found, nil
}

// ranksOf describes the ranks of a run: "ranks 0-3".
func ranksOf(run *runfile.Run) string {
	var text []string
	for i := 0; i < len(run.Procs); {
		first := run.Procs[i].Rank
		if first < 0 {
			break
		}
		j := i + 1
		for j < len(run.Procs) && run.Procs[j].Rank == first+j-i {
			j++
		}
		if j == i+1 {
			text = append(text, strconv.Itoa(first))
		} else {
			text = append(text, fmt.Sprintf("%d-%d", first, first+j-i-1))
		}
		i = j
	}
	if len(text) == 0 {
		return "no ranks"
	}
	return "ranks " + strings.Join(text, ",")
}

// Text writes ranks in ascending order in the syntax of Parse: "0-3,7".
func Text(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i]+n {
			n++
		}
		part := fmt.Sprint(list[i])
		if n > 1 {
			part += fmt.Sprintf("-%d", list[i]+n-1)
		}
		parts = append(parts, part)
		i += n
	}
	return strings.Join(parts, ",")
}
