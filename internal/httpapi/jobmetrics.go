package httpapi

import (
	"maps"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/live"
)

// Labels have few values: running jobs beyond the newest mostJobs are counted together, as are programs
// beyond the first mostPrograms.
const (
	mostJobs     = 50
	mostPrograms = 100
	others       = "(others)"
	// mostLabel is the number of characters of a name.
	mostLabel = 64
)

// States of ranks, and parts of their time.
const (
	rankComputes = "computing"
	rankInMPI    = "mpi"
	rankEnded    = "ended"
)

// ownName is the name of this process's user, which is that of all it serves.
func ownName() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// programs gives names to programs, a bounded number.
type programs struct {
	lock sync.Mutex
	seen map[string]bool
}

// name is the label of the program of a command line.
func (p *programs) name(command []string) string {
	if len(command) == 0 {
		return "unknown"
	}
	name := labelOf(filepath.Base(command[0]))
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.seen[name] {
		if len(p.seen) >= mostPrograms {
			return others
		}
		p.seen[name] = true
	}
	return name
}

// labelOf is a name as the value of a label.
func labelOf(name string) string {
	text := []rune(strings.ToValidUTF8(name, "\ufffd"))
	return string(text[:min(len(text), mostLabel)])
}

// stateOf says how a run ended.
func stateOf(r *daemon.Summary) string {
	switch {
	case r.Deadlock:
		return "deadlock"
	case r.Exit != nil && (r.Exit.Status != nil && *r.Exit.Status != 0 || len(r.Exit.Ranks) > 0):
		return "failed"
	case !r.Complete:
		return "incomplete"
	}
	return "complete"
}

// spend counts the time of a stored run.
func (m *Metrics) spend(rep *jsondoc.Report) {
	if !rep.Timed || rep.Total.Time == nil || rep.App == nil {
		return
	}
	program := m.programs.name(rep.Command)
	m.spent.WithLabelValues(m.user, program, rankInMPI).Add(float64(rep.Total.Time.Sum) / 1e9)
	m.spent.WithLabelValues(m.user, program, rankComputes).Add(float64(*rep.App) / 1e9)
}

var (
	jobLabels    = []string{"job", "user", "program"}
	runningRanks = prometheus.NewDesc("efg_running_ranks", "Ranks of a job that is being recorded, by what they do: computing, in MPI, or ended.", append(slices.Clone(jobLabels), "state"), nil)
	runningCalls = prometheus.NewDesc("efg_running_events", "Events of a job that is being recorded, so far.", jobLabels, nil)
	runningTime  = prometheus.NewDesc("efg_running_seconds", "How long a job has been recorded.", jobLabels, nil)
)

// jobKey are the labels of a job.
type jobKey struct{ job, program string }

// jobSum is what one or several jobs do.
type jobSum struct {
	ranks  map[string]int // by state
	events uint64
	age    time.Duration // of the oldest
}

// jobs sums what running jobs do, by the labels of their metrics.
func (n *now) jobs(list []jsondoc.Job) map[jobKey]*jobSum {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b jsondoc.Job) int { return b.Started.Compare(a.Started) })
	sums := map[jobKey]*jobSum{}
	for i := range list {
		j := &list[i]
		key := jobKey{others, others}
		if i < mostJobs {
			key = jobKey{labelOf(j.Name), n.programs.name(j.Command)}
		}
		s := sums[key]
		if s == nil {
			s = &jobSum{ranks: map[string]int{rankComputes: 0, rankInMPI: 0, rankEnded: 0}}
			sums[key] = s
		}
		s.age = max(s.age, time.Since(j.Started))
		n.look(j.Name, s)
	}
	return sums
}

// look adds what the processes of a job do.
func (n *now) look(name string, s *jobSum) {
	e, err := n.runs.Find(name)
	if err != nil || e == nil || len(e.Segments) == 0 {
		return
	}
	m := live.NewMonitor()
	defer m.Close()
	f, err := m.Look(e.Segments)
	if err != nil { // they are gone
		return
	}
	s.events += f.Events
	for i := range f.Ranks {
		switch r := &f.Ranks[i]; {
		case !r.Running:
			s.ranks[rankEnded]++
		case r.Op != "":
			s.ranks[rankInMPI]++
		default:
			s.ranks[rankComputes]++
		}
	}
}

// collectJobs returns the events of all jobs.
func (n *now) collectJobs(list []jsondoc.Job, gauge func(d *prometheus.Desc, v float64, labels ...string)) (events float64) {
	sums := n.jobs(list)
	for key, s := range sums {
		for _, state := range slices.Sorted(maps.Keys(s.ranks)) {
			gauge(runningRanks, float64(s.ranks[state]), key.job, n.user, key.program, state)
		}
		gauge(runningCalls, float64(s.events), key.job, n.user, key.program)
		gauge(runningTime, s.age.Seconds(), key.job, n.user, key.program)
		events += float64(s.events)
	}
	return events
}
