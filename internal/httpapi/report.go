package httpapi

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/jsondoc"
)

const reportPath = "/report"

// reportParts are the parts of a report that can be asked for.
var reportParts = append(slices.Clone(jsondoc.ReportTables), "findings")

// report answers with a report. One of all ranks without their table is made from the cached
// result for requests about that table: it takes the same time to compute.
func (s *Server) report(w http.ResponseWriter, r *http.Request, q *query) error {
	by := q.choices("by", reportParts...)
	if q.err != nil || q.has("rank") || q.has(siteDepth) || q.flag("setup") || len(by) == 0 || slices.Contains(by, "rank") || slices.Contains(by, "region") || slices.Contains(by, "findings") {
		return s.asking(reportPath)(w, r, q)
	}
	return s.partOf(w, r, ranksPath, &query{values: url.Values{}}, &whole{
		of: "report", part: fmt.Sprint("by ", by),
		take: func(name string, whole io.Reader) (any, error) {
			rep, _, err := decodeReport(whole)
			if err != nil {
				return nil, err
			}
			rep.File = name
			rep.Keep(by)
			return rep, nil
		},
	})
}

// wholeReport is a report of all ranks whose table of ranks is by columns.
type wholeReport struct {
	rest  *jsondoc.Report
	table *analysis.RankTable
}

func newReport(in *input) (encoder, error) {
	procs := make([]int, len(in.run.Procs))
	for i := range procs {
		procs[i] = i
	}
	rep, err := analysis.NewReport(in.run, procs)
	if err != nil {
		return nil, err
	}
	return &wholeReport{jsondoc.NewReport(in.name, in.run, rep, []string{"procedure", "callsite"}, nil), rep.RankTable()}, nil
}

// Encode writes the length of the report as JSON, that, and the table.
func (r *wholeReport) Encode(w io.Writer) error {
	data, err := json.Marshal(r.rest)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.AppendUvarint(nil, uint64(len(data))), data...)); err != nil {
		return err
	}
	return r.table.Encode(w)
}

func decodeReport(r io.Reader) (*jsondoc.Report, *analysis.RankTable, error) {
	b := bufio.NewReader(r)
	n, err := binary.ReadUvarint(b)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(b, int64(n)))
	if err != nil {
		return nil, nil, err
	}
	rep := &jsondoc.Report{}
	if err := json.Unmarshal(data, rep); err != nil {
		return nil, nil, err
	}
	t, err := analysis.DecodeRankTable(b)
	return rep, t, err
}
