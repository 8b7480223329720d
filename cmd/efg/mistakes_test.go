package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// mistaken are command lines of each command: those with FILE read a file, the others are usage
// errors.
var mistaken = []string{
	"info FILE", "report FILE", "matrix FILE", "check FILE", "phases FILE", "waits FILE", "clocks FILE", "efficiency FILE", "whatif FILE", "loops FILE", "timeline FILE", "diff FILE", "diff FILE FILE", "diff FILE FILE --ignore site,time", "generate FILE -o out", "generate FILE -o out --ranks 8", "mcp FILE",
	"diff FILE --ranks 0,1", "graph FILE", "where FILE", "reconstruct FILE", "reconstruct FILE --verify", "query FILE SELECT|SENDS",
	"query FILE SELECT|COUNT|OF|SENDS", "sql FILE select|*|from|events", "dump FILE", "export FILE --format gxl -o out",
	"export FILE --format mtf -o out", "merge -o out FILE",
	"work hard", "view none", "view text", "import none -o out", "import text -o out", "assemble none -o out", "assemble text -o out", "top none", "top text",
	"open none", "fleet FILE", "fleet none", "fleet good --slower 0", "fleet good --top -1", "runs --last -1", "runs x", "run", "run --time x -- true", "run --replay FILE -- true", "run --force -- true", "run --generated -- true", "run --replay good -- true", "run --replay good --force --on-divergence x -- true", "run --replay good --force --at-end x -- true", "run --replay good --force --queries -- true", "run --replay good --force -o good -- true", "daemon --time x", "daemon --tables text", "daemon x", "hook x", "hook build x", "hook path x", "hook include", "hook include text", "hook include text/x", "measure-network", "measure-network --pairs 0 -- true", "measure-network -- true", "man",
	"man text", "site", "site text", "completion x", "x", "info --x",
	"generate good", "generate good -o out --compute x", "generate good -o out --ranks 8x", "generate good -o out --ranks 0", "generate good -o out --ranks 2x2x2x2x2", "generate good -o out --compute-with x", "diff good good --ignore site", "diff good good --ignore x", "diff good --ignore time", "report good --csv=x", "report good --csv=", "report good --csv --json", "report good --colour x", "report good --site-depth -1", "report good --tree --by rank", "report good --counters", "report good --counters --tree", "run --counters x -- true", "run --time off --counters cycles -- true", "report good --tree --top -1", "report good --tree --csv=callsites.x", "loops good --site-depth x", "export good -o x.gxl --site-depth 2", "check good --site-depth -1", "where segments --site-depth 2", "report good --flame x.svg --by rank", "diff good good --ignore time --site-depth 2", "info good --csv=x",
}

// TestMistakes gives every command a file that does not exist, is of another kind, or is
// broken: one line says what is wrong, and the status is not 0. A broken part that a command
// does not read may go unnoticed.
func TestMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("EFG_STORE", t.TempDir())
	t.Setenv("EFG_SPOOL", t.TempDir())
	timedRun(t, "good", 2, 20)
	good, err := os.ReadFile("good")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"text": []byte("hello\n"), "empty": nil, "cut": good[:len(good)-5], "half": good[:len(good)/2]}
	for at := 0; at < len(good); at += 53 {
		broken := bytes.Clone(good)
		broken[at] ^= 1
		files[fmt.Sprint("broken", at)] = broken
	}
	for name, content := range files {
		writeFile(t, name, string(content))
	}
	named := map[string]bool{}
	for _, line := range mistaken {
		command, _, _ := strings.Cut(line, " ")
		named[command] = true
		if !strings.Contains(line, "FILE") {
			checkMistake(t, line, false)
			continue
		}
		checkMistake(t, strings.ReplaceAll(line, "FILE", "none"), false)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			checkMistake(t, strings.ReplaceAll(line, "FILE", name), strings.HasPrefix(name, "broken"))
		}
	}
	for _, cmd := range newRoot().Commands() {
		if !named[cmd.Name()] {
			t.Errorf("no mistake with efg %s", cmd.Name())
		}
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("a mistake leaves a file")
	}
}

// checkMistake runs a command; with mayWork it need not fail.
func checkMistake(t *testing.T, line string, mayWork bool) {
	t.Helper()
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "|", " ")
	}
	_, errOut, status := efgRun(t, nil, args...)
	switch {
	case mayWork && errOut == "" && status <= 1:
		os.Remove("out")
	case status != 1 && status != 2 || strings.Count(errOut, "\n") != 1 || !strings.HasPrefix(errOut, "efg: ") || len(errOut) > 300:
		t.Errorf("efg %s: status %d, %.500q", line, status, errOut)
	}
}
