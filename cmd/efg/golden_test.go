package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenDir is testdata/golden, whatever the test's working directory.
func goldenDir(t *testing.T) string {
	t.Helper()
	golden, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	return golden
}

// checkGolden compares what commands print with files of a directory.
func checkGolden(t *testing.T, golden string, commands map[string]string) {
	t.Helper()
	for name, args := range commands {
		checkPrints(t, filepath.Join(golden, name+".txt"), strings.Fields(args))
	}
}

// checkPrints compares what a command prints with a file.
func checkPrints(t *testing.T, file string, args []string) {
	t.Helper()
	t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
		out, errOut, status := efgRun(t, nil, args...)
		if status != 0 || errOut != "" {
			t.Fatalf("status %d: %s", status, errOut)
		}
		compareGolden(t, file, out)
	})
}

// compareGolden compares an output with a file, or writes the file.
func compareGolden(t *testing.T, file, out string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out != string(want) {
		t.Errorf("prints\n%s\nwant\n%s", out, want)
	}
}

// checkMistakes runs command lines that are invalid: one clear line, status 2.
func checkMistakes(t *testing.T, mistakes map[string]string) {
	t.Helper()
	for args, want := range mistakes {
		checkRefused(t, strings.Fields(args), want)
	}
}

// checkRefused is checkMistakes for one command.
func checkRefused(t *testing.T, args []string, want string) {
	t.Helper()
	out, errOut, status := efgRun(t, nil, args...)
	if out != "" || errOut != "efg: "+want+"\n" || status != 2 {
		t.Errorf("%s: status %d, output %q, errors %q; want %q", args, status, out, errOut, want)
	}
}
