package timeline

import (
	"slices"

	"github.com/efg-tools/efg/internal/rankset"
)

// Grouping says which processes share a row.
type Grouping uint8

const (
	ByRank  Grouping = iota // none, or neighbours if there are more than rows
	ByClass                 // those that did the same but for their peers, see runfile.Run.RankClass
	ByHost                  // those of one machine
)

// Groupings are the names of groupings, by number.
var Groupings = [...]string{"rank", "class", "host"}

// Rows are the numbers of the processes of each row of a view.
func (t *Timeline) Rows(q Query) ([][]int, error) {
	if q.Procs == nil {
		for i := range t.run.Procs {
			q.Procs = append(q.Procs, i)
		}
	}
	return t.groups(&q)
}

// First is the number of the first process of each row.
func (v *View) First() []int {
	list := make([]int, len(v.procs))
	for y := range list {
		list[y] = v.procs[y][0]
	}
	return list
}

// divide decides which processes are in which row.
func (t *Timeline) divide(v *View, q *Query) error {
	groups, err := t.groups(q)
	if err != nil {
		return err
	}
	v.procs, v.Rows = groups, make([]Row, len(groups))
	for y, list := range groups {
		v.Rows[y] = Row{First: t.run.Procs[list[0]].Rank, Last: t.run.Procs[list[len(list)-1]].Rank, Ranks: len(list)}
		if q.By != ByRank {
			v.Rows[y].Members = t.members(list)
		}
	}
	return nil
}

func (t *Timeline) members(list []int) string {
	ranks := make([]int, len(list))
	for k, i := range list {
		ranks[k] = t.run.Procs[i].Rank
	}
	slices.Sort(ranks)
	return rankset.Text(ranks)
}

func (t *Timeline) groups(q *Query) ([][]int, error) {
	if q.By == ByRank {
		rows := make([][]int, min(q.Rows, len(q.Procs)))
		for y := range rows {
			rows[y] = q.Procs[y*len(q.Procs)/len(rows) : (y+1)*len(q.Procs)/len(rows)]
		}
		return rows, nil
	}
	var groups [][]int
	at := map[any]int{}
	for _, i := range q.Procs {
		key, err := t.groupOf(q.By, i)
		if err != nil {
			return nil, err
		}
		k, ok := at[key]
		if !ok {
			k = len(groups)
			at[key] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return fewer(groups, q.Rows), nil
}

// groupOf returns what is equal for processes that share a row.
func (t *Timeline) groupOf(by Grouping, i int) (any, error) {
	if by == ByHost {
		return t.run.Procs[i].Host, nil
	}
	key, ok, err := t.run.RankClass(i)
	if err != nil || !ok {
		return i, err // like no other
	}
	return key, nil
}

// fewer puts the smallest groups, and of equals the last, into one, the last, if there are more groups than rows.
func fewer(groups [][]int, rows int) [][]int {
	if len(groups) <= rows {
		return groups
	}
	order := make([]int, len(groups))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(groups[b]) - len(groups[a]) })
	kept := slices.Sorted(slices.Values(order[:rows-1]))
	list := make([][]int, 0, rows)
	for _, k := range kept {
		list = append(list, groups[k])
	}
	var rest []int
	for _, k := range order[rows-1:] {
		rest = append(rest, groups[k]...)
	}
	slices.Sort(rest)
	return append(list, rest)
}
