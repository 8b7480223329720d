package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/efg-tools/efg/analysis"
	"github.com/efg-tools/efg/document"
)

const (
	usualRankRows, mostRankRows = 100, 1000
	mostRankBins                = 2048
)

var rankParams = []string{"rank", "order", "from", "count", "bins"}

// ranks answers with a part of the table of ranks, and with what the rest is like. The table
// is made once for all parts: as an answer of its own, which is kept like others.
func (s *Server) ranks(w http.ResponseWriter, r *http.Request, q *query) error {
	view := rankQuery(q)
	if q.err != nil {
		return q.err
	}
	x, err := s.source(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	key := tagOf(x.tag, "/ranks", q.values.Encode())
	if notModified(w, r, key) {
		return nil
	}
	whole, err := s.answers.get(r.Context(), tagOf(x.tag, "table of ranks"), func(ctx context.Context, w io.Writer) (string, bool, error) {
		return tableOfRanks(ctx, x, w)
	})
	if err != nil {
		return err
	}
	a, err := s.answers.get(r.Context(), key, func(_ context.Context, w io.Writer) (string, bool, error) {
		z, err := gzip.NewReader(bytes.NewReader(whole.zipped))
		if err != nil {
			return "", false, err
		}
		t, err := analysis.DecodeRankTable(z)
		if err != nil {
			return "", false, err
		}
		return jsonType, true, document.Write(w, document.NewRanks(x.name, t, view))
	})
	if err != nil {
		return err
	}
	return a.send(w, r)
}

func tableOfRanks(ctx context.Context, x *source, w io.Writer) (contentType string, stays bool, err error) {
	in, closeAll, err := openSources(ctx, []*source{x})
	if err != nil {
		return "", false, err
	}
	defer closeAll()
	t, err := analysis.NewRankTable(in.run)
	if err != nil {
		return "", false, err
	}
	return "", true, t.Encode(w)
}

// rankQuery reads the parameters of a question about ranks.
func rankQuery(q *query) document.RanksQuery {
	view := document.RanksQuery{
		By: "rank", From: q.number("from", 0, 0, 1<<31-1),
		Count: q.number("count", usualRankRows, 0, mostRankRows), Bins: q.number("bins", 0, 0, mostRankBins),
	}
	if set := q.ranks("rank"); set != nil {
		view.Has = set.Has
	}
	if q.has("order") {
		view.By, view.Down = strings.CutPrefix(q.text("order"), "-")
		known := append([]string{"rank", analysis.ByShare, analysis.ByCall}, analysis.RankColumns()...)
		if !slices.Contains(known, view.By) {
			q.fail("order", "one of "+strings.Join(known, ", ")+", perhaps with - in front")
		}
	}
	return view
}
