package export

import (
	"context"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
)

// Job is an export: what to write, and whom to tell how far it is.
type Job struct {
	Run *runfile.Run
	Selection
	// What are the optional parts of the format to write.
	What []string
	// Slices is about the most slices of a format that draws calls, 0 for its default.
	Slices uint64
	// Compat asks for what older readers of the format understand.
	Compat bool
	// User is the owner of the run file, "" if it is unknown.
	User string
	// RawClock asks for times as they were recorded.
	RawClock bool
	// Alone: the processes that are not selected are not read, as if they were not in the file, because there
	// is no memory for all.
	Alone bool
	// Show, if not nil, is called from time to time with the number of events written, never
	// concurrently.
	Show func(events uint64)
	// Note, if not nil, takes what the user should know about the result, one line each.
	Note func(line string)
	// Context ends the export early; nil: nothing does.
	Context context.Context

	lock sync.Mutex
	done uint64
}

// Matched are the processes among which messages are matched and clocks corrected, nil for all.
func (j *Job) Matched() []int {
	if j.Alone {
		return j.Procs
	}
	return nil
}

// Done adds to the number of events written, and returns an error if the export is to end. Writers
// of several goroutines may call it, each every few thousand events.
func (j *Job) Done(events uint64) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.done += events
	if j.Show != nil {
		j.Show(j.done)
	}
	if j.Context != nil {
		return j.Context.Err()
	}
	return nil
}
