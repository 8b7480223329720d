package httpapi

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// Jobs, users, programs and states are labels, and what would be too many values is summed.
func TestJobMetrics(t *testing.T) {
	store, spool := sampleStore(t)
	source := NewStore(store, spool.Dir)
	m := NewMetrics(source)
	m.user = "alice"
	status := 3
	for i := range mostPrograms + 5 {
		m.Sealed(&daemon.Summary{Command: []string{fmt.Sprint("/opt/app", i), "x"}, Complete: true, Deadlock: i == 1, Exit: &daemon.Exit{Status: &status}}, "none", 0)
	}
	m.Sealed(&daemon.Summary{Command: []string{"/opt/app0"}}, "none", 0)
	for want, labels := range map[float64][]string{5: {"alice", others, "failed"}, 1: {"alice", "app1", "deadlock"}} {
		if n := testutil.ToFloat64(m.finished.WithLabelValues(labels...)); n != want {
			t.Errorf("%v: %v, not %v", labels, n, want)
		}
	}
	if n := testutil.ToFloat64(m.finished.WithLabelValues("alice", "app0", "incomplete")); n != 1 {
		t.Errorf("%v incomplete runs", n)
	}
	rep := answeredReport(t, store, source)
	m.spend(rep)
	program := m.programs.name(rep.Command)
	if program != others {
		t.Errorf("%q is not one of the others", program)
	}
	if n := testutil.ToFloat64(m.spent.WithLabelValues("alice", others, rankInMPI)); n != float64(rep.Total.Time.Sum)/1e9 || n == 0 {
		t.Errorf("%v s in MPI, the report has %d ns", n, rep.Total.Time.Sum)
	}

	n := &now{runs: source, user: "alice", programs: &programs{seen: map[string]bool{}}}
	list, err := source.List()
	if err != nil || len(list.Jobs) != 1 {
		t.Fatal(err, list.Jobs)
	}
	found := map[string]float64{}
	events := n.collectJobs(list.Jobs, func(d *prometheus.Desc, v float64, labels ...string) { found[strings.Join(labels[1:], " ")] += v })
	job := n.programs.name(list.Jobs[0].Command)
	if found["alice "+job+" ended"] != 3 || found["alice "+job+" mpi"] != 0 || events == 0 || found["alice "+job] <= events {
		t.Errorf("%v, %v events", found, events)
	}
	// Of many jobs the newest have labels of their own.
	var jobs []jsondoc.Job
	for i := range mostJobs + 10 {
		jobs = append(jobs, jsondoc.Job{Name: fmt.Sprint("job", i), Command: []string{"a"}, Started: time.Now().Add(-time.Duration(100-i) * time.Minute)})
	}
	sums := n.jobs(jobs)
	if len(sums) != mostJobs+1 || sums[jobKey{"job59", "a"}] == nil || sums[jobKey{others, others}].age < 99*time.Minute || sums[jobKey{"job9", "a"}] != nil {
		t.Errorf("%d jobs", len(sums))
	}
}

// answeredReport is the report of a stored run.
func answeredReport(t *testing.T, store *daemon.Store, source Runs) *jsondoc.Report {
	t.Helper()
	s := New(Options{Runs: source, Token: testToken})
	defer s.Close()
	return decode[jsondoc.Report](t, answerOf(t, s, "/v1/runs/halo/report"))
}

var (
	described  = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	metricName = regexp.MustCompile(`\befg_[a-z_]+`)
	grouping   = regexp.MustCompile(`\bby \(([a-z_, ]+)\)`)
	matcher    = regexp.MustCompile(`[{,]([a-z_]+)(?:=~|!=|=)"`)
	legend     = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
)

// Each metric, and each label, that the dashboard for Grafana names exists.
func TestDashboard(t *testing.T) {
	store, spool := sampleStore(t)
	m := NewMetrics(NewStore(store, spool.Dir))
	labels := map[string][]string{}
	descs := make(chan *prometheus.Desc, 1<<12)
	m.registry.Describe(descs)
	close(descs)
	for d := range descs {
		f := described.FindStringSubmatch(d.String())
		if f == nil {
			t.Fatalf("%v", d)
		}
		labels[f[1]] = strings.Split(f[2], ",")
	}
	text, err := os.ReadFile("../site/grafana/efg.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		UID        string
		Templating struct {
			List []struct {
				Name, Definition string
			}
		}
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	used := 0
	check := func(where, expr, shown string) {
		var of []string
		names := metricName.FindAllString(expr, -1)
		for _, name := range names {
			have, ok := labels[strings.TrimSuffix(name, "_bucket")]
			if !ok {
				t.Errorf("%s: no metric %s", where, name)
			}
			of = append(of, have...)
			used++
		}
		if len(names) == 0 || strings.Count(expr, "(") != strings.Count(expr, ")") {
			t.Errorf("%s: %s", where, expr)
		}
		var wanted []string
		for _, f := range grouping.FindAllStringSubmatch(expr, -1) {
			wanted = append(wanted, strings.Split(f[1], ", ")...)
		}
		for _, f := range append(matcher.FindAllStringSubmatch(expr, -1), legend.FindAllStringSubmatch(shown, -1)...) {
			wanted = append(wanted, f[1])
		}
		for _, label := range wanted {
			if !slices.Contains(of, label) && !(label == "le" && strings.Contains(expr, "_bucket")) {
				t.Errorf("%s: no label %s of %v", where, label, names)
			}
		}
	}
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d: %+v", p.ID, p)
		}
		ids[p.ID] = true
		for _, x := range p.Targets {
			check(p.Title, x.Expr, x.LegendFormat)
		}
	}
	for _, v := range dashboard.Templating.List {
		if v.Definition != "" {
			check(v.Name, v.Definition, "{{"+v.Name+"}}")
		}
	}
	if used < 20 || dashboard.UID != "efg" {
		t.Errorf("%d uses of metrics", used)
	}
}
