package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// A server that is not the user's own shows no files; another says why it cannot.
func TestSource(t *testing.T) {
	files := sampleFiles(t)
	for _, c := range []struct {
		sources      bool
		query, wants string
		status       int
	}{
		{false, "?at=main+halo.c:1", "efg view does", http.StatusForbidden},
		{true, "?at=main+halo.c:1", "no callsite", http.StatusNotFound},
		{true, "", "want a callsite", http.StatusBadRequest},
		{true, "?at=main+halo.c:1&around=5000", "a number from 0 to 1000", http.StatusBadRequest},
	} {
		s := New(Options{Runs: files, Token: testToken, Sources: c.sources})
		if w := asked(t.Context(), s, "/v1/runs/halo/source"+c.query); w.Code != c.status || !strings.Contains(w.Body.String(), c.wants) {
			t.Errorf("%+v: status %d, %s", c, w.Code, w.Body)
		}
		s.Close()
	}
}
