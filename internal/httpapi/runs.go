package httpapi

import (
	"github.com/efg-tools/efg/internal/jsondoc"
)

// Runs is the source of runs and jobs that are served.
type Runs interface {
	// List lists runs and jobs, the oldest first.
	List() (*jsondoc.RunList, error)
	// Find finds the run or job that goes by a name in the list, or as "last"; nil if
	// there is none.
	Find(name string) (*Entry, error)
}

// Entry is a run or a job: it has a file or segments.
type Entry struct {
	Name     string // as documents call it
	File     string
	Segments []string
}
