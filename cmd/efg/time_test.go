package main

import (
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func TestTimeForHook(t *testing.T) {
	for s, want := range map[string]string{
		"off": "off", "stats": "stats", "trace": "trace=500", "trace=5": "trace=500", "trace=5%": "trace=500",
		"trace=0.1": "trace=10", "trace=2.5%": "trace=250", "trace=25": "trace=2500", "trace=exact": "trace=0", "trace=0": "",
		"trace=0.05": "", "trace=26": "", "auto": "trace=500,33554432", "auto=64MiB": "trace=500,67108864", "auto=4KiB": "trace=500,4096", "auto=1.5GB": "trace=500,1500000000",
		"auto=64GiB": "trace=500,68719476736", "trace=1,1MiB": "trace=100,1048576", "trace=exact,4096B": "trace=0,4096",
		"auto=": "", "auto=0": "", "auto=255B": "", "auto=256B": "trace=500,256", "auto=65GiB": "", "auto=1e30GiB": "", "auto=-1MiB": "", "auto=much": "", "auto=32": "", "auto=NaNMiB": "",
		"trace=5,": "", "trace=5,0": "", "trace=,1MiB": "", "trace=": "", "trace=x": "", "trace=NaN": "", "stats=5": "", "": "",
	} {
		got, err := timeForHook(s)
		if err != nil {
			got = ""
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", s, got, err, want)
		}
	}
}

// The run file states the error as --time does.
func TestTimeForMeta(t *testing.T) {
	for s, want := range map[string]string{
		"off": "off", "stats": "stats", "trace=500": "trace=5", "trace=10": "trace=0.1", "trace=250": "trace=2.5", "trace=2500": "trace=25", "trace=0": "trace=exact",
		"trace=500,33554432": "trace=5,32MiB", "trace=0,4096": "trace=exact,4KiB", "trace=10,5000": "trace=0.1,5000B", "trace=500,1073741824": "trace=5,1GiB",
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
	if got, want := (&infoWriter{&jsondoc.Info{Time: "trace=5,32MiB"}}).recorded(), "times: trace, within 5 %, up to 32MiB in each process"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
