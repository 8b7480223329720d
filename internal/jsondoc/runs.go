package jsondoc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/efg-tools/efg/internal/daemon"
)

// RunList is the output of efg runs --json; docs/daemon.md describes it.
type RunList struct {
	Schema   string           `json:"schema"`
	Version  int              `json:"version"`
	Store    string           `json:"store"`
	Daemon   bool             `json:"daemon"` // one is running
	Problems []string         `json:"problems"`
	Jobs     []Job            `json:"jobs"`
	Runs     []daemon.Summary `json:"runs"`
	Total    int              `json:"total"`          // existing ones, or those that match a search
	Next     string           `json:"next,omitempty"` // if there are older ones: the value for after
	// Stamp identifies this list of runs; "": unknown.
	Stamp string `json:"-"`
	// Texts, if any, are the results of RunText for Runs.
	Texts []daemon.Text `json:"-"`
}

// Job is a job that is being recorded.
type Job struct {
	Name      string    `json:"name"`
	Command   []string  `json:"command"`
	Started   time.Time `json:"started"`
	Processes int       `json:"processes"`
	Running   int       `json:"running"`
}

// NewRunList returns an empty list.
func NewRunList(store string) *RunList {
	return &RunList{Schema: "efg-runs/1", Version: 1, Store: store, Problems: []string{}, Jobs: []Job{}, Runs: []daemon.Summary{}}
}

// NewJob returns the document of a job.
func NewJob(j *daemon.Job) Job {
	return Job{j.Name(), j.Command(), j.Started(), len(j.Segments), j.Running()}
}

// RunText returns a run as written in a list.
func RunText(x daemon.Summary) daemon.Text {
	return sync.OnceValue(func() []byte {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetIndent("    ", "  ")
		enc.SetEscapeHTML(false)
		if enc.Encode(x) != nil {
			return []byte("null")
		}
		return bytes.TrimRight(b.Bytes(), "\n")
	})
}

// Write writes the list like the function Write, but uses existing texts.
func (l *RunList) Write(w io.Writer) error {
	frame := *l
	if len(l.Texts) == len(l.Runs) {
		frame.Runs = []daemon.Summary{}
	}
	var b bytes.Buffer
	if err := Write(&b, &frame); err != nil {
		return err
	}
	if len(l.Runs) == 0 || len(l.Texts) != len(l.Runs) {
		_, err := w.Write(b.Bytes())
		return err
	}
	head, tail, _ := bytes.Cut(b.Bytes(), []byte("\n  \"runs\": []")) // no text contains a line break
	out := bufio.NewWriterSize(w, 64<<10)
	out.Write(head)
	separator := "\n  \"runs\": [\n    "
	for _, text := range l.Texts {
		out.WriteString(separator)
		out.Write(text())
		separator = ",\n    "
	}
	out.WriteString("\n  ]")
	out.Write(tail)
	return out.Flush()
}
