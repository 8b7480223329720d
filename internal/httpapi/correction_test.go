package httpapi

import (
	"bytes"
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// Answers about a run of several hosts are the same whether its clocks are corrected for them or
// were before; that is done once for all of them, by the server and by workers.
func TestCorrectionIsKept(t *testing.T) {
	paths := []string{filepath.Join(samples, "hosts.efg"), filepath.Join(samples, "traced.efg")}
	files, err := NewFiles(paths, paths)
	if err != nil {
		t.Fatal(err)
	}
	work, pids := workers(t, "work")
	for name, k := range map[string]*Workers{"here": nil, "in workers": work} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Runs: files, Token: testToken, Workers: k})
			defer s.Close()
			corrected := 0
			kept := func() (n int) {
				s.answers.mu.Lock()
				defer s.answers.mu.Unlock()
				for _, key := range s.answers.kept.Keys() {
					x, _ := s.answers.kept.Peek(key)
					if x.contentType == "" {
						n++
					}
				}
				return n
			}
			for _, request := range []string{"/clocks", "/waits?top=5", "/phases", "/efficiency", "/report?by=findings", "/flame?of=waiting", "/flows", "/whatif", "/check", "/timeline?format=json", "/timeline/regions", "/waits?clock=raw"} {
				before := len(pids())
				a := asked(t.Context(), s, "/v1/runs/hosts"+request)
				if a.Code != 200 {
					t.Fatalf("%s: %d %s", request, a.Code, a.Body)
				}
				if corrected == 0 {
					if corrected = kept(); corrected != 1 {
						t.Fatalf("%s: %d corrections are kept", request, corrected)
					}
				}
				if k != nil && request != "/clocks" && len(pids())-before > 1 {
					t.Errorf("%s: %d workers", request, len(pids())-before)
				}
				if strings.HasPrefix(request, timelinePath) {
					continue
				}
				if want := uncorrected(t, s, request); a.Body.String() != want {
					t.Errorf("%s: %.300s, want %.300s", request, a.Body, want)
				}
			}
			if kept() != 1 {
				t.Errorf("%d corrections are kept", kept())
			}
			if asked(t.Context(), s, "/v1/runs/traced/waits"); kept() != 1 {
				t.Error("a run of one host is corrected")
			}
		})
	}
}

// uncorrected is the answer of those who correct clocks themselves.
func uncorrected(t *testing.T, s *Server, request string) string {
	t.Helper()
	path, text, _ := strings.Cut(request, "?")
	values, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.source(t.Context(), "hosts")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.answers.turns.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	defer s.answers.turns.Release(1)
	var b bytes.Buffer
	if _, err := s.answer(context.Background(), path, &query{values: values}, []*source{x}, nil, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
