package httpapi

import (
	"errors"
	"net/http"

	"github.com/efg-tools/efg/internal/analysis/counted"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// askCounters answers what was counted at each callsite.
func askCounters(q *query) answerer {
	return ofRanks(q, "rank", func(in *input, procs []int) (any, error) {
		t, err := counted.New(in.run, procs)
		if errors.Is(err, counted.ErrNone) {
			return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
		}
		if err != nil {
			return nil, err
		}
		return jsondoc.NewCounters(in.name, in.run, t), nil
	})
}
