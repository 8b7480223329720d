package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
)

// staticAnswers reads the answers in a page.
func staticAnswers(t *testing.T, file string) (page string, run string, answers map[string][]byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)<script type="application/json" id="efg-answers">(.*?)</script>`).FindSubmatch(data)
	if m == nil {
		t.Fatal("the page has no answers")
	}
	var kept struct {
		Run     string
		Answers map[string]string
	}
	if err := json.Unmarshal(m[1], &kept); err != nil {
		t.Fatal(err)
	}
	answers = map[string][]byte{}
	for request, text := range kept.Answers {
		packed, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if answers[request], err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return string(data), kept.Run, answers
}

// The page holds what the commands say, and nothing that ends its elements early.
func TestReportHTML(t *testing.T) {
	assembled(t, "traced")
	if out, errOut, status := efgRun(t, nil, "report", "a.efg", "--html", "a.html"); status != 0 || out != "" || errOut != "" {
		t.Fatalf("status %d, output %q, errors %q", status, out, errOut)
	}
	page, run, answers := staticAnswers(t, "a.html")
	if run != "a" || strings.Count(page, "<script") != 2 || strings.Count(page, "</script>") != 2 || regexp.MustCompile(`(src|href)="`).MatchString(page[:strings.Index(page, "<script")]) {
		t.Errorf("run %q; the page is not one file", run)
	}
	for request, args := range map[string][]string{"phases": {"phases"}, "whatif": {"whatif"}, "loops?ranges=25": {"loops"}, "waits?top=100&ranges=256": {"waits"}} {
		want, _, _ := efgRun(t, nil, append(args, "--json", "a.efg")...)
		if got := answers["v1/runs/a/"+request]; string(got) != want || want == "" {
			t.Errorf("%s: %s\nwant %s", request, got, want)
		}
	}
	for _, request := range []string{"?streams=incomplete&limit=500", "/report?by=findings", "/matrix?bins=256", "/flows?most=2000"} {
		if len(answers["v1/runs/a"+request]) == 0 {
			t.Errorf("nothing about %s", request)
		}
	}
	if line, _, _ := bytes.Cut(answers["v1/runs/a/timeline?width=1600&rows=400&slices=4000"], []byte("\n")); !bytes.Contains(line, []byte(`"complete":true`)) {
		t.Errorf("the timeline: %s", line)
	}
}

// Of a run without times there is what is known; of 1,024 ranks the page is small.
func TestReportHTMLOfMany(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	for _, file := range []string{"app", "many"} {
		if file == "many" {
			if err := os.Mkdir("parts", 0o700); err != nil {
				t.Fatal(err)
			}
			parts, err := sim.Config{Program: "halo", Ranks: 1024, Steps: 10, Seed: 1, Periodic: true}.TracedNodes("parts", 2)
			if err != nil {
				t.Fatal(err)
			}
			if _, errOut, status := efgRun(t, nil, append([]string{"merge", "-o", "many.efg"}, parts...)...); status != 0 {
				t.Fatal(errOut)
			}
		}
		if _, errOut, status := efgRun(t, nil, "report", file+".efg", "--html", file+".html"); status != 0 {
			t.Fatalf("%s: %s", file, errOut)
		}
	}
	_, _, answers := staticAnswers(t, "app.html")
	if len(answers["v1/runs/app/report?by=procedure%2Ccallsite"]) == 0 || answers["v1/runs/app/waits?top=100&ranges=256"] != nil {
		t.Errorf("%d answers of a run without times", len(answers))
	}
	info, err := os.Stat("many.html")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 2<<20 {
		t.Errorf("a page of 1,024 ranks takes %d bytes", info.Size())
	}
}

func TestReportHTMLMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	for args, want := range map[string]string{
		"report none.efg --html x.html":           "efg: none.efg: no such file or directory\n",
		"report app.efg --html x.html --json":     "efg: --html writes all of the run: no other option goes with it\n",
		"report app.efg --html none/x.html":       "efg: open none/",
		"report app.efg --html x.html --rank 0-1": "efg: --html writes all of the run: no other option goes with it\n",
	} {
		_, errOut, status := efgRun(t, nil, strings.Fields(args)...)
		if status == 0 || !strings.HasPrefix(errOut, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errOut, want)
		}
	}
	if left, _ := filepath.Glob("*x.html*"); left != nil {
		t.Errorf("left: %q", left)
	}
}
