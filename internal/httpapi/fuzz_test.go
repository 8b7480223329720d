package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzRequest sends arbitrary requests: each answer is one of ours, nothing outside of what is
// served is named, and nothing fails inside.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{
		{"/v1/runs", "search=a&limit=3&after=halo", "gzip"}, {"/v1/runs/last/report", "rank=0-3,7&by=rank", ""},
		{"/v1/runs/../../../etc/passwd", "", ""}, {"/v1/runs/..%2f..%2fetc%2fpasswd/file", "", ""}, {"/v1/runs/.token", "", ""}, {"/v1/runs/.state/file", "", ""},
		{"/v1/runs/halo\x00/file", "", ""}, {"/v1/runs//file", "", ""}, {"/v1/runs/halo/graph", "rank=0&collapse=2&format=svg&colour=time", ""},
		{"/v1/runs/mesh/matrix", "bins=2048&collectives=1", ""}, {"/v1/runs/halo/diff", "with=../mesh", ""}, {"/v1/runs/halo/timeline", "from=-9223372036854775808&to=9223372036854775807&width=8192", ""},
		{"/v1/runs/halo/report", "rank=0-2147483647,0-2147483647", "gzip;q=0"}, {"/v1/runs/halo/loops", "rank=4294967296", ""}, {"/..%5c..%5c", "token=x", "*"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	store, spool := sampleStore(f)
	s := New(Options{Runs: NewStore(store, spool.Dir), Token: testToken, Scratch: store.Dir})
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, path, query, header string) {
		u := &url.URL{Path: path, RawQuery: query}
		if p, err := url.PathUnescape(path); err == nil {
			u.Path, u.RawPath = p, path
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if strings.Contains(path, "events") || strings.HasSuffix(path, "/live") {
			return // they do not end
		}
		r := (&http.Request{
			Method: "GET", URL: u, Host: "localhost", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Authorization": {"Bearer " + testToken}, "Accept-Encoding": {header}, "If-None-Match": {header}, "Range": {header}},
		}).WithContext(ctx)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		text := w.Body.String()
		if strings.Contains(text, testToken) || strings.Contains(text, "root:") {
			t.Errorf("it tells %s", text)
		}
		if w.Code >= 400 && w.Code != http.StatusRequestedRangeNotSatisfiable && !json.Valid(w.Body.Bytes()) {
			t.Errorf("status %d: %s", w.Code, text)
		}
	})
}
