package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// throughText converts a run file to text, and the text to the same bytes.
func throughText(t *testing.T, file string) {
	t.Helper()
	text, again := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "again.efg")
	for _, args := range [][]string{{"dump", file, "-o", text}, {"assemble", text, "-o", again}} {
		if _, errOut, status := efgRun(t, nil, args...); status != 0 {
			t.Fatalf("efg %q: status %d: %s", args, status, errOut)
		}
	}
	want, err1 := os.ReadFile(file)
	got, err2 := os.ReadFile(again)
	if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
		t.Errorf("the text of %s makes %d other bytes, not %d (%v, %v)", file, len(got), len(want), err1, err2)
	}
}

// Runs of all kinds are restored from their text: without times, with several threads, with
// several worlds, killed ones.
func TestTextOfRecordedRuns(t *testing.T) {
	for _, m := range mpis {
		launch := strings.Join(m.launcher, " ")
		for _, source := range []string{"jacobi.c", "threads.c", "farm.c", "spawn.c"} {
			program := compileMPI(t, m, filepath.Join("..", "..", "..", "testdata", "c", source))
			for _, time := range []string{"off", "stats", "trace=1"} {
				file := filepath.Join(t.TempDir(), "run.efg")
				script := launch + " " + program + "; timeout -s KILL 1 " + launch + " " + program
				_, errOut, _ := efgRun(t, nil, "run", "--time", time, "-o", file, "--", "sh", "-c", script)
				if _, err := os.Stat(file); err != nil {
					t.Fatalf("%s under %s: %s", source, m.name, errOut)
				}
				throughText(t, file)
			}
		}
	}
}

// Standard output and input can be used.
func TestDumpIntoAssemble(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "a.efg")
	text, errOut, status := efgRun(t, nil, "dump", "a.efg")
	if status != 0 || !strings.HasPrefix(text, "efg-text 1\n") {
		t.Fatalf("status %d, %s: %.100s", status, errOut, text)
	}
	if _, errOut, status := efgRun(t, strings.NewReader(text), "assemble", "-", "-o", "b.efg"); status != 0 {
		t.Fatalf("status %d, %s", status, errOut)
	}
	a, err1 := os.ReadFile("a.efg")
	b, err2 := os.ReadFile("b.efg")
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("other bytes (%v, %v)", err1, err2)
	}
}

// Invalid commands print one line, and write no file.
func TestTextErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "a.efg")
	good, _, _ := efgRun(t, nil, "dump", "a.efg")
	for name, text := range map[string]string{
		"empty.txt": "", "word.txt": strings.Replace(good, "MPI_Barrier ", "MPI_Barriere ", 1), "cut.txt": good[:len(good)/2] + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"dump", "efg: efg dump: accepts 1 arg(s), received 0\n"},
		{"dump none.efg", "efg: none.efg: no such file or directory\n"},
		{"dump empty.txt", "efg: empty.txt: not an efg run file\n"},
		{"dump a.efg -o none/a.txt", "efg: open none/a.txt: no such file or directory\n"},
		{"assemble empty.txt", "efg: efg assemble: -o FILE is missing\n"},
		{"assemble none.txt -o b.efg", "efg: open none.txt: no such file or directory\n"},
		{"assemble empty.txt -o b.efg", "efg: empty.txt:1:1: not a dump of a run file: the first line is not \"efg-text 1\"\n"},
		{"assemble word.txt -o b.efg", "no MPI procedure \"MPI_Barriere\"\n"},
		{"assemble cut.txt -o b.efg", "efg: cut.txt:"},
	} {
		_, errOut, status := efgRun(t, nil, strings.Fields(c.args)...)
		if status != 2 || !strings.Contains(errOut, c.want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("efg %s: status %d, %q, want %q", c.args, status, errOut, c.want)
		}
	}
	if _, err := os.Stat("b.efg"); err == nil {
		t.Error("b.efg was made of nothing")
	}
}
