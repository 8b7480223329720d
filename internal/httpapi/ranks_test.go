package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func askRanks(t *testing.T, s *Server, query string) *jsondoc.Ranks {
	t.Helper()
	return decode[jsondoc.Ranks](t, answerOf(t, s, "/v1/runs/halo/ranks"+query))
}

// valueOf is a column's value in a row of the report.
func valueOf(r *jsondoc.RankRow, column string) uint64 {
	switch column {
	case "pid":
		return uint64(r.PID)
	case "threads":
		return uint64(r.Threads)
	case "calls":
		return r.Calls
	case "app":
		return *r.App
	case "time":
		return r.Time.Sum
	case "setup":
		return *r.Setup
	case "sent":
		return r.Sent
	}
	return r.Received
}

// Parts of the table of ranks have the values of the report's rows, in the requested order.
func TestRanks(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	defer s.Close()
	report := decode[jsondoc.Report](t, answerOf(t, s, "/v1/runs/halo/report?by=rank"))
	all := askRanks(t, s, "")
	if all.Processes != 8 || all.Matching != 8 || len(all.Ranks) != 8 || all.Order != "rank" || !all.Timed || all.Bins != nil {
		t.Fatalf("%+v", all)
	}
	for column, values := range all.Columns {
		for i := range report.Ranks {
			if got, want := values[i], valueOf(&report.Ranks[i], column); got != want || all.Ranks[i] != report.Ranks[i].Rank {
				t.Errorf("%s of rank %d: %d, want %d", column, all.Ranks[i], got, want)
			}
		}
	}
	if all.Columns["received"] == nil || all.Columns["time"] == nil || all.Columns["written"] != nil {
		t.Errorf("columns %v", all.Columns)
	}
	rows := slices.Clone(report.Ranks[2:7])
	slices.SortStableFunc(rows, func(x, y jsondoc.RankRow) int { return cmp.Compare(y.Time.Sum, x.Time.Sum) })
	part := askRanks(t, s, "?rank=2-6,90&order=-time&from=1&count=3&bins=2")
	if part.Matching != 5 || part.From != 1 || part.Order != "-time" || len(part.Ranks) != 3 {
		t.Errorf("%+v", part)
	}
	for i, rank := range part.Ranks {
		if rank != rows[i+1].Rank || part.Columns["time"][i] != rows[i+1].Time.Sum {
			t.Errorf("row %d: rank %d, want %d", i, rank, rows[i+1].Rank)
		}
	}
	checkSpread(t, part, report.Ranks[2:7])
	checkBins(t, part.Bins, [][]jsondoc.RankRow{report.Ranks[2:5], report.Ranks[5:7]})
	if none := askRanks(t, s, "?rank=90&bins=3"); none.Matching != 0 || len(none.Ranks) != 0 || none.Bins != nil || len(none.Spread) != 0 {
		t.Errorf("%+v", none)
	}
	if end := askRanks(t, s, "?from=100"); end.From != 8 || len(end.Ranks) != 0 {
		t.Errorf("%+v", end)
	}
}

// checkSpread compares a distribution with the rows that it describes.
func checkSpread(t *testing.T, got *jsondoc.Ranks, rows []jsondoc.RankRow) {
	t.Helper()
	for column, s := range got.Spread {
		var values []uint64
		sum := uint64(0)
		for i := range rows {
			values = append(values, valueOf(&rows[i], column))
			sum += values[i]
		}
		slices.Sort(values)
		// Of five values the first is the 5 % quantile, and so on.
		want := fmt.Sprint(sum, float64(sum)/5, values[0], values[4], [5]uint64(values))
		if text := fmt.Sprint(s.Sum, s.Mean, s.Least, s.Most, s.Quantiles); text != want {
			t.Errorf("%s: %s, want %s", column, text, want)
		}
		for _, end := range []struct {
			rank  int
			value uint64
		}{{s.LeastRank, s.Least}, {s.MostRank, s.Most}} {
			if v := valueOf(&rows[end.rank-rows[0].Rank], column); v != end.value {
				t.Errorf("%s of rank %d: %d, not %d", column, end.rank, v, end.value)
			}
		}
	}
}

func checkBins(t *testing.T, b *jsondoc.RankBins, groups [][]jsondoc.RankRow) {
	t.Helper()
	for i, rows := range groups {
		if b.First[i] != rows[0].Rank || b.Last[i] != rows[len(rows)-1].Rank {
			t.Errorf("bin %d: ranks %d-%d", i, b.First[i], b.Last[i])
		}
		for column, c := range b.Columns {
			sum, least, most := uint64(0), ^uint64(0), uint64(0)
			for k := range rows {
				v := valueOf(&rows[k], column)
				sum, least, most = sum+v, min(least, v), max(most, v)
			}
			if c.Least[i] != least || c.Most[i] != most || c.Mean[i] != float64(sum)/float64(len(rows)) {
				t.Errorf("bin %d, %s: %d, %v, %d", i, column, c.Least[i], c.Mean[i], c.Most[i])
			}
		}
	}
}

// The table is computed once, however many parts are requested.
func TestRanksTableKept(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	defer s.Close()
	for _, order := range []string{"rank", "-time", "share", "-per_call", "pid"} {
		askRanks(t, s, "?order="+order)
	}
	if n := s.answers.kept.Len(); n != 6 {
		t.Errorf("%d answers are kept, want one table and five parts of it", n)
	}
	// Reports without the table of ranks are made from the same result, and do not differ from
	// those made separately.
	for by, keep := range map[string][]string{"procedure": {"procedure"}, "callsite": {"callsite"}, "procedure,callsite": {"procedure", "callsite"}} {
		want := decode[jsondoc.Report](t, answerOf(t, s, "/v1/runs/halo/report?rank=0-7"))
		want.Keep(keep)
		var text bytes.Buffer
		if err := jsondoc.Write(&text, want); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(t, s, "/v1/runs/halo/report?by="+by); !bytes.Equal(got, text.Bytes()) || len(want.Ranks) > 0 {
			t.Errorf("by %s: %s, want %s", by, got, text.Bytes())
		}
	}
	if n := s.answers.kept.Len(); n != 10 {
		t.Errorf("%d answers are kept, want four more: three parts and the whole report", n)
	}
	r := httptest.NewRequest("GET", "http://localhost/v1/runs/halo/ranks?order=-rate", nil)
	r.Header.Set("Authorization", "Bearer "+testToken)
	if w := over(s, r); w.Code != 400 {
		t.Errorf("an invalid order: status %d", w.Code)
	}
}
