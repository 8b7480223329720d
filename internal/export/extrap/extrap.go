// Package extrap writes measurements for Extra-P, which models how programs scale, in its JSON Lines
// format: a line for each callsite and metric, with the number of ranks as the parameter "ranks". Lines
// of several runs are put together by appending files.
package extrap

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
)

// measurement is a line.
type measurement struct {
	Params struct {
		Ranks int `json:"ranks"`
	} `json:"params"`
	Callpath string  `json:"callpath"`
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`
}

// metrics are the metrics, with the columns of the table of calls that they are the sums of, by rank,
// and their unit.
var metrics = []struct {
	name, column string
	unit         float64
}{
	{"time", "time", 1e9}, {"visits", "visits", 1}, {"bytes_sent", "sent", 1}, {"bytes_received", "received", 1},
}

// key is a callsite and a metric, by its number.
type key struct {
	callpath string
	metric   int
}

// Write writes the mean over the selected ranks of each metric: for each callsite, and as the callpath
// MPI for all calls but those that begin and end MPI. The time, in s, is left out if it was not
// recorded.
func Write(out io.Writer, job *export.Job) error {
	sums := map[key]float64{}
	err := table.Each(job, table.ByName("calls"), func(b *table.Batch) error {
		op, site, setup := &b.Vectors[b.Column("op")], &b.Vectors[b.Column("site")], &b.Vectors[b.Column("setup")]
		for i, m := range metrics {
			v := &b.Vectors[b.Column(m.column)]
			for row := range b.Rows {
				n := v.Value(row)
				if v.Null(n) {
					continue
				}
				value := float64(v.Ints[n]) / m.unit
				sums[key{op.Texts[op.Value(row)] + " " + site.Texts[site.Value(row)], i}] += value
				if setup.Ints[setup.Value(row)] == 0 {
					sums[key{"MPI", i}] += value
				}
			}
		}
		return nil
	})
	return errors.Join(err, write(out, sums, len(job.Procs)))
}

func write(out io.Writer, sums map[key]float64, ranks int) error {
	keys := make([]key, 0, len(sums))
	for k := range sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.callpath, b.callpath), a.metric-b.metric) })
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, k := range keys {
		m := measurement{Callpath: k.callpath, Metric: metrics[k.metric].name, Value: sums[k] / float64(max(ranks, 1))}
		m.Params.Ranks = ranks
		if err := lines.Encode(&m); err != nil {
			return err
		}
	}
	return nil
}
