package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each run of a store is added once, in a process of its own; one that cannot be read is reported once.
func TestDaemonTables(t *testing.T) {
	farm, err := filepath.Abs(filepath.Join("..", "..", "efg", "text", "testdata", "farm.txt"))
	if err != nil {
		t.Fatal(err)
	}
	traced := assembled(t, "traced")
	if err := os.Mkdir("store", 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "store/one.efg", string(traced))
	writeFile(t, "store/one.json", `{"version":1}`)
	var log bytes.Buffer
	k, err := newTableKeeper("tables", "store", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	k.command = func(ctx context.Context, args ...string) *exec.Cmd {
		started++
		cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
		cmd.Env = append(os.Environ(), asMain+"=1")
		return cmd
	}
	k.round(t.Context())
	runs := func() int {
		found, err := filepath.Glob("tables/run/run=*/part.parquet")
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if runs() != 1 || log.Len() > 0 {
		t.Fatalf("%d runs, %s", runs(), &log)
	}
	if _, errOut, status := efgRun(t, nil, "assemble", farm, "-o", "store/two.efg"); status != 0 {
		t.Fatal(errOut)
	}
	writeFile(t, "store/two.json", `{"version":1}`)
	k.round(t.Context())
	k.round(t.Context())
	if runs() != 2 || started != 2 || log.Len() > 0 {
		t.Errorf("%d runs, %d processes, %s", runs(), started, &log)
	}
	if err := os.Mkdir("store/mine", 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "store/mine/file", "x")
	if _, err := newTableKeeper("store/mine", "store", nil); err == nil || !strings.Contains(err.Error(), "not a directory of these tables") {
		t.Error(err)
	}
	// Another daemon begins with what is there.
	again, err := newTableKeeper("tables", "store", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	again.command = k.command
	again.round(t.Context())
	if runs() != 2 || log.Len() > 0 {
		t.Errorf("%d runs, %s", runs(), &log)
	}
	// What cannot be added is reported, once.
	if err := os.RemoveAll("tables"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "tables", "")
	again.seen = map[string]bool{}
	again.round(t.Context())
	again.round(t.Context())
	if n := strings.Count(log.String(), "not added to tables"); n != 2 {
		t.Errorf("%d, %s", n, &log)
	}
}
