package main

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"
)

// socketClient asks the daemon at its socket.
func socketClient(spool string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(spool, "http"))
		},
	}}
}

const daemonAddress = "http://localhost/v1/runs/"

// askRunning requests a daemon's only job, in which two ranks wait for each other.
func askRunning(t *testing.T, spool string) {
	t.Helper()
	c := socketClient(spool)
	for path, want := range map[string]string{
		"last":              `"processes": 2,`,
		"last/where":        `"deadlocks": [` + "\n    {",
		"last/live":         `"op":"MPI_Recv"`,
		"last/report":       `"op": "MPI_Sendrecv"`,
		"last/graph?rank=1": `"op": "MPI_Sendrecv"`,
	} {
		if got := string(fetch(t, c, daemonAddress+path)); !strings.Contains(got, want) {
			t.Errorf("%s of a running job: %s", path, got)
		}
	}
	if out, _, _ := efgRun(t, nil, "runs"); !strings.Contains(out, "\npage: http://127.0.0.1:") {
		t.Errorf("no page: %s", out)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", daemonAddress+"last/live?interval=100", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b := bufio.NewReader(answer.Body)
	for line := ""; !strings.Contains(line, `"op":"MPI_Recv"`); {
		if line, err = b.ReadString('\n'); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

// askStored compares a daemon's answers about its only run with the output of the commands, and
// opens the page at the address that efg runs prints.
func askStored(t *testing.T, spool, name string) {
	t.Helper()
	c := socketClient(spool)
	for _, command := range []string{"info", "report", "matrix", "loops", "phases", "check", "diff", "where"} {
		want, _, _ := efgRun(t, nil, command, name, "--json")
		path := name + "/" + command
		if command == "info" {
			path = name
		}
		if got := string(fetch(t, c, daemonAddress+path)); got != want {
			t.Errorf("%s is\n%s\nand the command writes\n%s", path, got, want)
		}
	}
	want, _, _ := efgRun(t, nil, "runs", "--json")
	if got := string(fetch(t, c, strings.TrimSuffix(daemonAddress, "/"))); got != want {
		t.Errorf("the list is\n%s\nand the command writes\n%s", got, want)
	}
	out, _, _ := efgRun(t, nil, "runs")
	_, address, _ := strings.Cut(out, "\npage: ")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	if page := string(fetch(t, browser, strings.TrimSpace(address))); !strings.Contains(page, "<html") {
		t.Errorf("the page is %s", page)
	}
	metrics := string(fetch(t, c, "http://localhost/metrics"))
	for _, want := range []string{"efg_runs 1", "efg_jobs 0", "efg_sealed_runs_total 1", "efg_sealed_ranks_total 2"} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("no %s in %s", want, metrics)
		}
	}
}
