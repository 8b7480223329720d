package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/signature"
)

// Metrics are the metrics for Prometheus: counters of sealed runs since the start, and gauges
// of the store and of running jobs.
type Metrics struct {
	// Workers count the calls of large runs; if nil, this process does.
	Workers *Workers

	registry *prometheus.Registry

	runs, ranks, events, bytes, dropped, leftOut, failures, uncounted prometheus.Counter
	sealing                                                           prometheus.Histogram
	calls, seconds, sent                                              *prometheus.CounterVec // by procedure
	requests                                                          *prometheus.CounterVec // by route and status
	answering                                                         *prometheus.HistogramVec
	spent, finished                                                   *prometheus.CounterVec // by user, program and state
	user                                                              string
	programs                                                          *programs

	sealed chan string // run files whose calls are yet to be counted
}

// maxUncounted is how many runs may wait for their calls to be counted.
const maxUncounted = 1024

// NewMetrics returns the metrics of what is served.
func NewMetrics(runs Runs) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), sealed: make(chan string, maxUncounted), user: labelOf(ownName()), programs: &programs{seen: map[string]bool{}}}
	f := promauto.With(m.registry)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "efg_sealed_" + name + "_total", Help: help})
	}
	m.runs = counter("runs", "Runs that were stored.")
	m.ranks = counter("ranks", "Ranks of the runs that were stored.")
	m.events = counter("events", "Events of the runs that were stored.")
	m.bytes = counter("bytes", "Bytes of the files of the runs that were stored.")
	m.dropped = counter("dropped_events", "Events of stored runs that were not recorded for lack of space.")
	m.leftOut = counter("left_out_segments", "Segments that were set aside when their job was stored because they could not be read or did not fit.")
	m.failures = counter("failures", "Failed attempts to store a run.")
	m.uncounted = counter("uncounted_runs", "Stored runs that are not in the counters by procedure.")
	m.sealing = f.NewHistogram(prometheus.HistogramOpts{
		Name: "efg_sealing_seconds", Help: "Time to store a run.", Buckets: prometheus.ExponentialBuckets(0.005, 2, 14),
	})
	byProcedure := func(name, help string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "efg_procedure_" + name + "_total", Help: help}, []string{"procedure"})
	}
	m.calls = byProcedure("calls", "Calls of an MPI procedure in stored runs.")
	m.seconds = byProcedure("seconds", "Time in an MPI procedure in stored runs, of all threads.")
	m.sent = byProcedure("sent_bytes", "Bytes that calls of an MPI procedure sent in stored runs.")
	m.requests = f.NewCounterVec(prometheus.CounterOpts{Name: "efg_http_requests_total", Help: "HTTP requests."}, []string{"route", "status"})
	m.answering = f.NewHistogramVec(prometheus.HistogramOpts{
		Name: "efg_http_seconds", Help: "Duration of HTTP requests; of streams of events, how long they were open.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
	}, []string{"route"})
	byProgram := []string{"user", "program", "state"}
	m.spent = f.NewCounterVec(prometheus.CounterOpts{Name: "efg_core_seconds_total", Help: "Time of all threads in stored runs, computing and in MPI, without MPI_Init and MPI_Finalize."}, byProgram)
	m.finished = f.NewCounterVec(prometheus.CounterOpts{Name: "efg_finished_runs_total", Help: "Runs that were stored, by how they ended: complete, failed, deadlock or incomplete."}, byProgram)
	m.registry.MustRegister(&now{runs: runs, user: m.user, programs: m.programs}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{PidFn: func() (int, error) { return os.Getpid(), nil }}))
	return m
}

// Sealed counts a run that was stored.
func (m *Metrics) Sealed(sum *daemon.Summary, file string, took time.Duration) {
	m.runs.Inc()
	m.ranks.Add(float64(sum.Ranks))
	m.events.Add(float64(sum.Events))
	m.bytes.Add(float64(sum.Bytes))
	m.dropped.Add(float64(sum.Dropped))
	m.sealing.Observe(took.Seconds())
	m.finished.WithLabelValues(m.user, m.programs.name(sum.Command), stateOf(sum)).Inc()
	select {
	case m.sealed <- file:
	default:
		m.uncounted.Inc()
	}
}

// LeftOut counts segments that could not be stored as part of a run.
func (m *Metrics) LeftOut(n int) { m.leftOut.Add(float64(n)) }

// Failed counts an attempt to store a run that failed.
func (m *Metrics) Failed() { m.failures.Inc() }

// Work counts the calls of stored runs until the context is done.
func (m *Metrics) Work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case file := <-m.sealed:
			if m.count(ctx, file) != nil {
				m.uncounted.Inc()
			}
		}
	}
}

// count adds the calls of a run. Only names of MPI procedures become labels.
func (m *Metrics) count(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	rep, err := m.report(ctx, f)
	if err != nil {
		return err
	}
	m.spend(rep)
	for i := range rep.Procedures {
		p := &rep.Procedures[i]
		if signature.ProcByName(p.Op) == nil {
			continue
		}
		m.calls.WithLabelValues(p.Op).Add(float64(p.Calls))
		if p.Time != nil {
			m.seconds.WithLabelValues(p.Op).Add(float64(p.Time.Sum) / 1e9)
		}
		m.sent.WithLabelValues(p.Op).Add(float64(p.Sent))
	}
	return nil
}

// report makes the report of a run, by procedure.
func (m *Metrics) report(ctx context.Context, f *os.File) (*jsondoc.Report, error) {
	t := task{Path: "/report", Query: "by=procedure", Names: []string{filepath.Base(f.Name())}}
	if m.Workers.large([]*os.File{f}) {
		var b bytes.Buffer
		if _, err := m.Workers.answer(ctx, t, []*os.File{f}, &b); err != nil {
			return nil, err
		}
		rep := &jsondoc.Report{}
		return rep, json.Unmarshal(b.Bytes(), rep)
	}
	run, err := runOf(t.Names[0], f)
	if err != nil {
		return nil, err
	}
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	rep, err := analysis.NewReport(run, procs)
	if err != nil {
		return nil, err
	}
	return jsondoc.NewReport(t.Names[0], run, rep, []string{"procedure"}, nil), nil
}

func (m *Metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: atOnce, EnableOpenMetrics: true})
}

// answered counts a request.
func (m *Metrics) answered(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.answering.WithLabelValues(route).Observe(took.Seconds())
}

// now collects the current state.
type now struct {
	runs     Runs
	user     string
	programs *programs
	mu       sync.Mutex
}

var (
	storedRuns   = prometheus.NewDesc("efg_runs", "Runs in the store.", nil, nil)
	storedBytes  = prometheus.NewDesc("efg_runs_bytes", "Bytes of all run files in the store.", nil, nil)
	storedEvents = prometheus.NewDesc("efg_runs_events", "Events of all runs in the store.", nil, nil)
	runningJobs  = prometheus.NewDesc("efg_jobs", "Jobs that are being recorded.", nil, nil)
	processes    = prometheus.NewDesc("efg_job_processes", "Processes of the jobs that are being recorded.", []string{"state"}, nil)
	liveEvents   = prometheus.NewDesc("efg_job_events", "Events of the jobs that are being recorded, so far.", nil, nil)
	problems     = prometheus.NewDesc("efg_problems", "Problems of the daemon so far; efg runs lists them.", nil, nil)
)

// Describe implements prometheus.Collector.
func (n *now) Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{storedRuns, storedBytes, storedEvents, runningJobs, processes, liveEvents, problems, runningRanks, runningCalls, runningTime} {
		c <- d
	}
}

// Collect implements prometheus.Collector.
func (n *now) Collect(c chan<- prometheus.Metric) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l, err := n.runs.List()
	if err != nil {
		c <- prometheus.NewInvalidMetric(storedRuns, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	var bytes, events, all, running float64
	for i := range l.Runs {
		bytes += float64(l.Runs[i].Bytes)
		events += float64(l.Runs[i].Events)
	}
	for i := range l.Jobs {
		all += float64(l.Jobs[i].Processes)
		running += float64(l.Jobs[i].Running)
	}
	gauge(storedRuns, float64(len(l.Runs)))
	gauge(storedBytes, bytes)
	gauge(storedEvents, events)
	gauge(runningJobs, float64(len(l.Jobs)))
	gauge(processes, running, "running")
	gauge(processes, all-running, "ended")
	gauge(liveEvents, n.collectJobs(l.Jobs, gauge))
	gauge(problems, float64(len(l.Problems)))
}
