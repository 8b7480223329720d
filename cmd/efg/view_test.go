package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// viewing runs efg view until the test ends. It returns the address with the token, and a
// browser.
func viewing(t *testing.T, opt *httpOptions, files ...string) (string, *http.Client) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- errClose(in, view(ctx, files, opt, in)) }()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	browser := &http.Client{Jar: jar, Transport: transport}
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), browser
}

func errClose(w *io.PipeWriter, err error) error {
	w.Close()
	return err
}

func fetch(t *testing.T, c *http.Client, address string) []byte {
	t.Helper()
	r, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("%s: status %d, %v: %s", address, r.StatusCode, err, text)
	}
	return text
}

// The API answers with the bytes that the commands write with --json.
func TestAnswersAreThoseOfCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 20)
	sampleRun(t, "app.efg")
	address, browser := viewing(t, &httpOptions{address: "127.0.0.1:0"}, "ring.efg", "app.efg")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if page := fetch(t, browser, address); !strings.Contains(string(page), "<html") {
		t.Errorf("the page is %s", page)
	}
	u.RawQuery, u.Path = "", "/v1/runs/"
	for path, command := range map[string]string{
		"ring":                 "info ring.efg --json",
		"app":                  "info app.efg --json",
		"ring/report":          "report ring.efg --json",
		"ring/report?rank=0-1": "report ring.efg --json --rank 0-1",
		"app/report?by=rank":   "report app.efg --json --by rank",
		"ring/matrix":          "matrix ring.efg --json",
		"ring/matrix?collectives=true&one_sided=true":  "matrix ring.efg --json --collectives --one-sided",
		"ring/graph?rank=1":                            "graph ring.efg --rank 1 --format json",
		"ring/graph?collapse=1&format=dot&colour=time": "graph ring.efg --collapse=1 --format dot --colour time",
		"ring/graph?format=svg":                        "graph ring.efg --format svg",
		"ring/graph?format=graphml":                    "graph ring.efg --format graphml",
		"ring/loops":                                   "loops ring.efg --json",
		"app/phases?rank=0,2":                          "phases app.efg --json --rank 0,2",
		"app/check":                                    "check app.efg --json",
		"ring/diff":                                    "diff ring.efg --json",
		"ring/diff?ranks=0,2":                          "diff ring.efg --json --ranks 0,2",
		"ring/diff?with=app":                           "diff ring.efg app.efg --json",
		"ring/diff?with=app&ranks=1":                   "diff ring.efg app.efg --json --ranks 1",
	} {
		want, errOut, status := efgRun(t, nil, strings.Fields(command)...)
		if status > 1 || errOut != "" {
			t.Fatalf("%s: status %d, %s", command, status, errOut)
		}
		if got := fetch(t, browser, u.String()+path); string(got) != want {
			t.Errorf("%s is\n%s\nand efg %s\n%s", path, got, command, want)
		}
	}
	file, err := os.ReadFile("app.efg")
	if err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, browser, u.String()+"app/file"); string(got) != string(file) {
		t.Error("the file is another one")
	}
}

// Access from other machines requires a given token, and the machine's name.
func TestViewWithToken(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	if err := os.WriteFile("token", []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address, browser := viewing(t, &httpOptions{address: "0.0.0.0:0", token: "token"}, "app.efg")
	if !strings.HasSuffix(address, "/?token=0123456789abcdef") {
		t.Errorf("address %s", address)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{u.Host, "127.0.0.1:" + u.Port(), "evil.example"} {
		r, err := http.NewRequest("GET", "http://127.0.0.1:"+u.Port()+"/v1/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Authorization", "Bearer 0123456789abcdef")
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if found := strings.Contains(string(text), `"total": 1`); err != nil || found != (host != "evil.example") {
			t.Errorf("called %s it says %s, %v", host, text, err)
		}
	}
}

func TestViewMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	if err := os.WriteFile("open", []byte("0123456789abcdef\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "store")
	checkMistakes(t, map[string]string{
		"view":                                  "efg view: requires at least 1 arg(s), only received 0",
		"view none.efg":                         "none.efg: no such file or directory",
		"view open":                             "open: not an efg run file",
		"view app.efg --http off":               "--http off: nothing to serve",
		"view app.efg --http 0.0.0.0:0":         "--http 0.0.0.0:0: is reachable from other machines: want --token FILE",
		"view app.efg --http :0":                "--http :0: is reachable from other machines: want --token FILE",
		"view app.efg --http 80":                "--http 80: address 80: missing port in address",
		"view app.efg --token none":             "--token: open none: no such file or directory",
		"view app.efg --token open":             "--token: open: others can read it; chmod 600",
		"view app.efg --tls-cert x":             "--tls-cert and --tls-key: want both",
		"view app.efg --tls-cert x --tls-key y": "open x: no such file or directory",
		"daemon --http 0.0.0.0:0 --store " + store + " --spool /none/efg": "--http 0.0.0.0:0: is reachable from other machines: want --token FILE",
		"daemon --tls-key y --store " + store + " --spool /none/efg":      "--tls-cert and --tls-key: want both",
	})
}
