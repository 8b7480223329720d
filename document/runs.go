package document

import (
	"time"

	"github.com/efg-tools/efg/daemon"
)

// RunList is what efg runs --json writes; docs/daemon.md describes it.
type RunList struct {
	Schema   string           `json:"schema"`
	Version  int              `json:"version"`
	Store    string           `json:"store"`
	Daemon   bool             `json:"daemon"` // one is working
	Problems []string         `json:"problems"`
	Jobs     []Job            `json:"jobs"`
	Runs     []daemon.Summary `json:"runs"`
	Total    int              `json:"total"`          // that there are, or that match what was searched for
	Next     string           `json:"next,omitempty"` // there are older ones: what to give as after
	// Stamp tells this list of runs from all others; "": it may be any.
	Stamp string `json:"-"`
}

// Job is a job that is being recorded.
type Job struct {
	Name      string    `json:"name"`
	Command   []string  `json:"command"`
	Started   time.Time `json:"started"`
	Processes int       `json:"processes"`
	Running   int       `json:"running"`
}

// NewRunList is an empty list.
func NewRunList(store string) *RunList {
	return &RunList{Schema: "efg-runs/1", Version: 1, Store: store, Problems: []string{}, Jobs: []Job{}, Runs: []daemon.Summary{}}
}

// NewJob tells of a job.
func NewJob(j *daemon.Job) Job {
	return Job{j.Name(), j.Command(), j.Started(), len(j.Segments), j.Running()}
}
