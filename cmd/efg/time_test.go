package main

import (
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func TestTimeForHook(t *testing.T) {
	for s, want := range map[string]string{
		"off": "off", "stats": "stats", "trace": "trace=500", "trace=5": "trace=500", "trace=5%": "trace=500",
		"trace=0.1": "trace=10", "trace=2.5%": "trace=250", "trace=25": "trace=2500", "trace=exact": "trace=0", "trace=0": "",
		"trace=0.05": "", "trace=26": "", "trace=": "", "trace=x": "", "trace=NaN": "", "stats=5": "", "": "",
	} {
		got, err := timeForHook(s)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", s, got, err, want)
		}
	}
}

// The run file states the error as --time does.
func TestTimeForMeta(t *testing.T) {
	for s, want := range map[string]string{
		"off": "off", "stats": "stats", "trace=500": "trace=5", "trace=10": "trace=0.1", "trace=250": "trace=2.5", "trace=2500": "trace=25", "trace=0": "trace=exact",
	} {
		if got := timeForMeta(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
		if again, err := timeForHook(timeForMeta(s)); again != s || err != nil {
			t.Errorf("%q: comes back as %q, %v", s, again, err)
		}
	}
	if got, want := (&infoWriter{&jsondoc.Info{Time: "trace=0.1"}}).recorded(), "times: trace, within 0.1 %"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
