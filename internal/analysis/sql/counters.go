package sql

import "github.com/efg-tools/efg/efg"

const counterColumns = `rank INTEGER, thread INTEGER, node INTEGER, counter TEXT, unit TEXT, counted INTEGER,
	calls INTEGER, calls_min INTEGER, calls_max INTEGER, before INTEGER, before_min INTEGER, before_max INTEGER, multiplexed INTEGER`

// counterRows are what each counter of a process counted at each node.
func counterRows(p *process, _ *request) ([][]any, error) {
	var list [][]any
	for i := range p.data.Streams {
		s := &p.data.Streams[i]
		for k := range s.Nodes {
			for n := range s.Nodes[k].Counters {
				v := &s.Nodes[k].Counters[n]
				if v.Count == 0 {
					continue
				}
				c := &p.data.Counters[n]
				row := []any{int64(p.data.Rank), int64(s.Thread), int64(k), c.Name, nil, int64(v.Count)}
				if c.Unit != "" {
					row[4] = c.Unit
				}
				for _, t := range []*efg.Tally{&v.Call, &v.Before} {
					row = append(row, int64(t.Sum), int64(t.Min), int64(t.Max))
				}
				list = append(list, append(row, int64(c.State&efg.CounterMultiplexed/efg.CounterMultiplexed)))
			}
		}
	}
	return list, nil
}
