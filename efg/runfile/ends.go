package runfile

import (
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// endColumn is the first column of the index with the ends of killed processes, in files with featureGone: after the anchors.
func endColumn(features uint32) int {
	column := firstAnchorColumn(features)
	if features&featureTimes != 0 {
		column += len(anchorProperties) * seq.BodyColumns
	}
	return column
}

// endColumns puts when processes were gone into the index.
func (rw *runWriter) endColumns(cols *block.Columns) {
	if rw.features&featureGone == 0 {
		return
	}
	var vals []uint64
	for i := range rw.procs {
		vals = append(vals, rw.procs[i].Gone)
	}
	seq.PutBody(cols, endColumn(rw.features), foldValues(vals))
}

// ends takes from the index when processes were gone.
func (r *Run) ends(b *block.Block, procs int) {
	if r.features&featureGone == 0 {
		return
	}
	rows := newRowReader(b, endColumn(r.features), 1, procs)
	for i := 0; i < procs && rows.next(); i++ {
		if err := inRange(rows.values[0], 1<<61, "time at which a process was gone"); err != nil {
			b.Failf("%w", err)
		}
		r.Procs[i].Gone = rows.values[0]
	}
}

// LatestEnd is when the calls in progress of Procs[i] had ended at the latest, in ns since the run began, as is ended, when the
// run had.
func (r *Run) LatestEnd(i int, ended int64) int64 {
	if r.Procs[i].Gone == 0 {
		return ended
	}
	return r.header(i).LatestEndInRun(ended)
}
