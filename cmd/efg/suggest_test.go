package main

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"report", "reconstruct", "run", "runs", "sql", "query"}
	for word, want := range map[string]string{
		"reprot": "report", "rport": "report", "qeury": "query", "rn": "run", "runn": "run", "sq": "sql",
		"fly": "", "x": "", "": "", "reconstruction": "", "REPORT": "",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
