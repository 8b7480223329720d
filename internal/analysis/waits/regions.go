package waits

import (
	"errors"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/regions"
)

// ByRegion makes the report about the regions of some processes. If waiting is set and the times of
// each call were recorded, it has the waiting in each of them.
func ByRegion(run *runfile.Run, procs []int, waiting bool, progress ...analysis.Progress) (*regions.Report, error) {
	rep, err := regions.New(run, procs, progress...)
	if err != nil || len(rep.Rows) == 0 || !waiting || !run.Meta.Traced() {
		return rep, err
	}
	w, err := New(run, procs)
	if errors.Is(err, match.ErrNoTimes) {
		return rep, nil
	}
	if err != nil {
		return nil, err
	}
	own := map[string]int64{}
	for i := range w.Regions {
		own[pathKey(w.Regions[i].Region)] = w.Regions[i].Waiting
	}
	rep.Waits = true
	for i := range rep.Rows {
		ns := own[pathKey(rep.Rows[i].Names)]
		rep.Rows[i].Own.Waiting = ns
		for k := i; k > 0; k = int(rep.Rows[k].Parent) {
			rep.Rows[k].All.Waiting += ns
		}
	}
	rep.Rows[0].All.Waiting = rep.Rows[0].Own.Waiting
	return rep, nil
}

func pathKey(names []string) string { return strings.Join(names, "\x00") }
