package merge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/symbolize"
)

// recording is what a segment holds.
type recording struct {
	process *efg.Process
	meta    efg.Meta
	running bool
	err     error
}

// readSegments reads segments, several at once.
func readSegments(inputs []input, tool string) []recording {
	out := make([]recording, len(inputs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(len(inputs), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				out[i] = readSegment(inputs[i].path, tool)
			}
		})
	}
	for i := range inputs {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

func readSegment(path, tool string) recording {
	s, err := segment.ReadFile(path)
	if err != nil {
		return recording{err: &efg.PartError{Part: path, Cause: withoutName(err)}}
	}
	meta, err := metaOf(s, tool)
	if err != nil {
		return recording{err: &efg.PartError{Part: path, Cause: err}}
	}
	return recording{process: &s.Process, meta: meta, running: isRunning(path, &s.Process)}
}

// withoutName drops the file name that ReadFile puts in front.
func withoutName(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

// timeModes are the names of Header.TimeMode.
var timeModes = []string{"off", "stats", "trace"}

// Bits of Header.Options.
const (
	optionQueries = 1
	optionBuffers = 2
	optionTotals  = 16
)

// metaOf says of a run what one process knows of it: a segment does not have the
// launcher's command.
func metaOf(s *segment.Segment, tool string) (efg.Meta, error) {
	h := &s.Header
	if int(h.TimeMode) >= len(timeModes) {
		return efg.Meta{}, fmt.Errorf("unknown kind %d of times", h.TimeMode)
	}
	time := timeModes[h.TimeMode]
	if time == "trace" {
		time = efg.TraceTime(h.TimeError)
	}
	m := efg.Meta{
		Tool: tool, Command: s.Process.Command, Started: int64(h.StartReal), Time: time, StatusUnknown: true,
		Queries: h.Options&optionQueries != 0, Buffers: h.Options&optionBuffers != 0,
	}
	if h.Options&optionTotals != 0 {
		m.Polls = efg.PollTotals
	}
	end := h.EndMono // of a process that was killed, its last sign of life
	for i := range s.Activities {
		end = max(end, s.Activities[i].Since)
	}
	m.Ended = m.Started + int64(max(end, h.StartMono)-h.StartMono)
	return m, nil
}

// isRunning tells whether a process of this machine still writes the segment.
func isRunning(path string, p *efg.Process) bool {
	open := false
	for i := range p.Streams {
		open = open || p.Streams[i].End == efg.EndOpen
	}
	if !open {
		return false
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID))
	if err != nil {
		return false
	}
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	return err == nil && strings.Contains(string(maps), " "+abs+"\n")
}

// places finds the callsites of many processes in the source. It looks each up
// once.
type places struct {
	known map[uint64]efg.Site
}

func newPlaces() places { return places{map[uint64]efg.Site{}} }

func (x *places) of(procs []*efg.Process) []efg.Site {
	var asked []*efg.Process
	needed := map[uint64]bool{}
	for _, p := range procs {
		q := &efg.Process{}
		unknown := 0
		for _, d := range p.Defs {
			_, known := x.known[d.Word]
			switch {
			case d.Kind == efg.DefModule:
				q.Defs = append(q.Defs, d)
			case d.Kind == efg.DefSite && !needed[d.Word]:
				needed[d.Word] = true
				if !known {
					q.Defs = append(q.Defs, d)
					unknown++
				}
			}
		}
		if unknown > 0 {
			asked = append(asked, q)
		}
	}
	for _, s := range symbolize.Sites(asked) {
		x.known[s.Word] = s
	}
	var sites []efg.Site
	for word := range needed {
		if s, ok := x.known[word]; ok {
			sites = append(sites, s)
		}
	}
	return sites
}
