package multiuser

import (
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the service's metrics for Prometheus. No user is named.
type metrics struct {
	registry                   *prometheus.Registry
	starts, failures, squatted prometheus.Counter
	refused                    *prometheus.CounterVec
	service                    *supervisor
}

func newMetrics(s *supervisor) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), service: s}
	f := promauto.With(m.registry)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "efg_service_" + name + "_total", Help: help})
	}
	m.starts = counter("starts", "Daemons of users that were started.")
	m.failures = counter("failures", "Daemons of users that could not be started, or ended with an error.")
	m.squatted = counter("squatted_spools", "Spools whose path was occupied by another user.")
	m.refused = f.NewCounterVec(prometheus.CounterOpts{Name: "efg_service_refused_total", Help: "Requests for a daemon that were refused."}, []string{"reason"})
	m.registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{PidFn: func() (int, error) { return os.Getpid(), nil }}))
	return m
}

func (m *metrics) handler() http.Handler {
	const atOnce = 2
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: atOnce, EnableOpenMetrics: true})
}

var usersDesc = prometheus.NewDesc("efg_service_users", "Users by the state of their daemon.", []string{"state"}, nil)

// Describe implements prometheus.Collector.
func (m *metrics) Describe(c chan<- *prometheus.Desc) { c <- usersDesc }

// Collect implements prometheus.Collector.
func (m *metrics) Collect(c chan<- prometheus.Metric) {
	count := map[string]int{}
	for _, u := range m.service.list(func(uint32) bool { return true }) {
		count[u.State]++
	}
	for _, state := range states {
		c <- prometheus.MustNewConstMetric(usersDesc, prometheus.GaugeValue, float64(count[state]), state)
	}
}
