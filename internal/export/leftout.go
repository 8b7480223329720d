package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// LeftOut is what files for simulators do not have of a run.
type LeftOut struct {
	Missing map[string]uint64 // calls that cannot be simulated, by what they are
	Idle    map[string]uint64 // calls that move no data between ranks, by procedure
	// Measured: there are times of calls, and so computation between them; Untimed are the calls without.
	Measured bool
	Untimed  uint64
}

// Counted lists what there is how often of, in alphabetical order.
func Counted(of map[string]uint64) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, fmt.Sprintf("%d %s", of[name], name))
	}
	return strings.Join(list, ", ")
}

// NoteLeftOut tells the user.
func (j *Job) NoteLeftOut(x LeftOut) {
	if j.Note == nil {
		return
	}
	if len(x.Missing) > 0 {
		j.Note("left out: " + Counted(x.Missing))
	}
	if len(x.Idle) > 0 {
		j.Note("left out, as they move no data between ranks: " + Counted(x.Idle))
	}
	switch {
	case !x.Measured:
		j.Note("without computation, as the times of calls were not recorded (efg run --time trace records them)")
	case x.Untimed > 0:
		j.Note(fmt.Sprintf("without the computation around %d calls, whose times were not recorded (efg run --time trace records all)", x.Untimed))
	}
}
