package httpapi

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

func init() {
	for _, contentType := range []string{"text/vnd.graphviz", "image/svg+xml", "image/png", "application/xml", "text/event-stream", timelineType} {
		openapi3filter.RegisterBodyDecoder(contentType, openapi3filter.FileBodyDecoder)
	}
}

func description(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// Every route has a description with the same parameters, and every description has a route.
func TestDescriptionNamesRoutes(t *testing.T) {
	doc, _ := description(t)
	files := sampleFiles(t)
	s := New(Options{Runs: files, Metrics: NewMetrics(files)})
	defer s.Close()
	described := map[string][]string{}
	for path, item := range doc.Paths.Map() {
		described[path] = []string{}
		for _, p := range item.Get.Parameters {
			if p.Value.In == "query" {
				described[path] = append(described[path], p.Value.Name)
			}
		}
		slices.Sort(described[path])
	}
	there := map[string][]string{}
	for path, params := range s.params {
		there[path] = slices.Sorted(slices.Values(params))
	}
	for path := range maps.Keys(described) {
		if _, ok := there[path]; !ok {
			t.Errorf("%s: is described, and is not there", path)
		}
	}
	for path, params := range there {
		if !slices.Equal(params, described[path]) {
			t.Errorf("%s: has parameters %q, described %q", path, params, described[path])
		}
	}
}

// namedFile is the file of a run whose program names regions.
func namedFile(t *testing.T) string {
	t.Helper()
	s := testrun.NewScript(t, 2)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		for i := range int64(4) {
			at := 1000 * i
			r.Call(at, at+1, "efg_region_begin", testrun.Args{"name": "step"})
			r.Call(at+10, at+11, "efg_region_begin", testrun.Args{"name": []string{"solve", "write"}[i%2]})
			r.Call(at+20, at+40, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
			r.Call(at+500, at+501, "efg_region_end", testrun.Args{"name": []string{"solve", "write"}[i%2]})
			r.Call(at+600, at+601, "efg_region_end", testrun.Args{"name": "step"})
		}
	})
	path := filepath.Join(t.TempDir(), "named.efg")
	if err := os.WriteFile(path, s.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The server's answers match their description.
func TestAnswersAsDescribed(t *testing.T) {
	doc, router := description(t)
	counted := filepath.Join(t.TempDir(), "counted.efg")
	if err := os.WriteFile(counted, testrun.Text(t, "../export/perfetto/testdata/counted.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := sampleFiles(t, counted, namedFile(t))
	s := New(Options{Runs: files, Token: testToken, Metrics: NewMetrics(files)})
	defer s.Close()
	asked := map[string]bool{}
	for _, path := range []string{
		"/healthz", "/openapi.yaml", "/v1/runs", "/v1/runs?search=mesh&limit=1", "/v1/runs?limit=1", "/v1/runs?limit=x",
		"/v1/fleet", "/v1/fleet?slower=5.5&top=0", "/v1/fleet?slower=0", "/v1/fleet?top=x", "/v1/runs/halo", "/v1/runs/halo?streams=incomplete", "/v1/runs/halo?limit=3", "/v1/runs/halo?streams=none", "/v1/runs/halo?limit=0", "/v1/runs/last", "/v1/runs/none",
		"/v1/runs/halo/report", "/v1/runs/halo/report?setup=true&by=procedure", "/v1/runs/mesh/report?rank=0-2&by=rank", "/v1/runs/halo/report?rank=9",
		"/v1/runs/halo/matrix", "/v1/runs/mesh/matrix?collectives=true&one_sided=true", "/v1/runs/mesh/matrix?bins=4&collectives=1",
		"/v1/runs/mesh/matrix?from=3-9&to=0-20&collectives=1", "/v1/runs/mesh/matrix?from=20-30", "/v1/runs/mesh/matrix?bins=3&to=0-20",
		"/v1/runs/halo/graph", "/v1/runs/mesh/graph?rank=1&collapse=1", "/v1/runs/halo/graph?format=dot&colour=time",
		"/v1/runs/halo/graph?format=svg", "/v1/runs/halo/graph?format=png", "/v1/runs/halo/graph?format=graphml", "/v1/runs/halo/graph?rank=77",
		"/v1/runs/halo/graph/layout", "/v1/runs/mesh/graph/layout?rank=1&open=all&arguments=true&room=26", "/v1/runs/halo/graph/layout?open=1&site_depth=0", "/v1/runs/halo/graph/layout?room=101",
		"/v1/runs/halo/ranks", "/v1/runs/mesh/ranks?rank=3-9&order=-per_call&from=2&count=3&bins=2", "/v1/runs/mesh/ranks?rank=500", "/v1/runs/mesh/ranks?order=x",
		"/v1/runs/halo/loops", "/v1/runs/mesh/loops?rank=0", "/v1/runs/halo/phases", "/v1/runs/mesh/phases?rank=0-1", "/v1/runs/traced/waits", "/v1/runs/traced/waits?clock=raw", "/v1/runs/traced/clocks", "/v1/runs/traced/flows", "/v1/runs/traced/flows?from=1&to=2000000000&ranks=0&most=3", "/v1/runs/halo/flows", "/v1/runs/halo/clocks", "/v1/runs/halo/flame", "/v1/runs/traced/flame?of=delay", "/v1/runs/traced/flame?of=waiting&clock=raw", "/v1/runs/halo/flame?of=bytes&with=mesh", "/v1/runs/halo/flame?of=waiting", "/v1/runs/halo/flame?of=x", "/v1/runs/halo/flame?site_depth=2", "/v1/runs/halo/report?by=callsite&site_depth=0", "/v1/runs/halo/check?site_depth=x", "/v1/runs/halo/source", "/v1/runs/halo/source?at=main.c:1", "/v1/runs/halo/source?at=x&around=x", "/v1/runs/traced/phases?clock=x", "/v1/runs/traced/efficiency?loops=true&phases=true", "/v1/runs/traced/efficiency?windows=3", "/v1/runs/halo/efficiency",
		"/v1/runs/traced/whatif", "/v1/runs/traced/whatif?compute=all:2%7Crank%200:0.5&latency=1us&bandwidth=2GB/s&clock=raw", "/v1/runs/traced/whatif?compute=site%20none.c:0.5", "/v1/runs/traced/whatif?overhead=x", "/v1/runs/halo/whatif",
		"/v1/runs/counted/counters", "/v1/runs/counted/counters?rank=1&site_depth=0", "/v1/runs/halo/counters",
		"/v1/runs/halo/check", "/v1/runs/mesh/check",
		"/v1/runs/halo/diff", "/v1/runs/mesh/diff", "/v1/runs/mesh/diff?ranks=0,1", "/v1/runs/halo/diff?with=mesh", "/v1/runs/halo/diff?with=mesh&ranks=1",
		"/v1/runs/halo/file", "/v1/runs/halo/where", "/v1/runs/halo/where?groups=1", "/v1/runs/mesh/diff?ranges=1", "/v1/runs/mesh/loops?ranges=2", "/v1/runs/halo/timeline",
		"/v1/runs/traced/timeline", "/v1/runs/traced/timeline?format=json&share=1&slices=100000&width=20&rows=2&events=100", "/v1/runs/traced/timeline?from=9&to=5", "/v1/runs/halo/timeline/regions", "/v1/runs/named/timeline/regions", "/v1/runs/named/timeline/regions?from=1&to=2000000000&width=3&ranks=0&rows=1&by=class&depth=1&most=2&events=100&clock=raw", "/v1/runs/traced/timeline/regions?depth=0", "/v1/runs/halo/live", "/v1/events", "/metrics",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if path == "/v1/events" {
			ctx, cancel = context.WithTimeout(context.Background(), 100*time.Millisecond) // it does not end
		}
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		route, params, err := router.FindRoute(r)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		asked[route.Path] = true
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		in := &openapi3filter.RequestValidationInput{
			Request: r, PathParams: params, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
		}
		if err := openapi3filter.ValidateRequest(context.Background(), in); (err == nil) != (w.Code != http.StatusBadRequest || strings.Contains(path, "rank=") || strings.Contains(path, "from=9") || strings.Contains(path, "order=x") || strings.Contains(path, "none.c") || strings.Contains(path, "overhead=x") || strings.Contains(path, "from=20-30")) {
			t.Errorf("%s: status %d, as described: %v", path, w.Code, err)
		}
		err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: in, Status: w.Code, Header: w.Header(), Body: io.NopCloser(bytes.NewReader(w.Body.Bytes())), Options: in.Options,
		})
		if err != nil || w.Code >= 500 {
			t.Errorf("%s: status %d: %v", path, w.Code, err)
		}
	}
	for path := range doc.Paths.Map() {
		if !asked[path] {
			t.Errorf("%s: was not asked", path)
		}
	}
}
