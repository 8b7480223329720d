package httpapi

import (
	"io"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/jsondoc"
)

const (
	usualRankRows, mostRankRows = 100, 1000
	maxRankBins                 = 2048
)

var rankParams = []string{"rank", "order", "from", "count", "bins"}

// ranksPath is the path of requests about the table of ranks.
const ranksPath = "/ranks"

// rankTable is a report from which parts of its table of ranks are requested, with statistics
// of the rest.
func rankTable(q *query) whole {
	view := rankQuery(q)
	return whole{
		of: "report", make: newReport,
		take: func(name string, whole io.Reader) (any, error) {
			_, t, err := decodeReport(whole)
			if err != nil {
				return nil, err
			}
			return jsondoc.NewRanks(name, t, view), nil
		},
	}
}

// rankQuery reads the parameters of a request about ranks.
func rankQuery(q *query) jsondoc.RanksQuery {
	view := jsondoc.RanksQuery{
		By: "rank", From: q.number("from", 0, 0, 1<<31-1),
		Count: q.number("count", usualRankRows, 0, mostRankRows), Bins: q.number("bins", 0, 0, maxRankBins),
	}
	if set := q.ranks("rank"); set != nil {
		view.Has = set.Has
	}
	if q.has("order") {
		view.By, view.Down = strings.CutPrefix(q.text("order"), "-")
		known := append([]string{"rank", analysis.ByShare, analysis.ByCall}, analysis.RankColumns()...)
		if !slices.Contains(known, view.By) {
			q.fail("order", "one of "+strings.Join(known, ", ")+", optionally preceded by -")
		}
	}
	return view
}
