package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/signature"
)

// extraProcedures names a file with additional procedures, if the program is efg itself.
const extraProcedures = "EFG_TEST_PROCEDURES"

func extendTable() {
	name := os.Getenv(extraProcedures)
	if name == "" {
		return
	}
	f, err := os.Open(name)
	if err == nil {
		err = signature.Extend(f)
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

var procedureWord = regexp.MustCompile(`\bMPI_[A-Z][A-Za-z_]*\b`)

// madeUp is the name of a made-up procedure that does what another one does.
func madeUp(name string) string { return "Xyz" + strings.TrimPrefix(name, "MPI") }

// withMadeUp replaces the procedures in a text by made-up ones. used collects which.
func withMadeUp(text string, used map[string]bool) string {
	return procedureWord.ReplaceAllStringFunc(text, func(word string) string {
		if p := signature.ProcByName(word); p == nil || p.Class == signature.Pass {
			return word
		}
		used[word] = true
		return madeUp(word)
	})
}

// tableOf is a table of made-up procedures like those used.
func tableOf(t *testing.T, used map[string]bool) string {
	t.Helper()
	table, err := os.ReadFile("../../signature/procedures.tbl")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(table)) {
		if name, rest, ok := strings.Cut(line, " "); ok && used[name] {
			lines = append(lines, madeUp(name)+" "+rest)
		}
	}
	if len(lines) != len(used) {
		t.Fatalf("%d lines for %d procedures", len(lines), len(used))
	}
	return strings.Join(lines, "")
}

// asProgram runs a command in a process of its own, with a table of additional procedures.
func asProgram(t *testing.T, table string, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asMain+"=1", extraProcedures+"="+table)
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() < 0 || exit.ExitCode() == 2) {
		t.Fatalf("efg %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Procedures that are only in the table are understood everywhere: the output of commands for a
// run equals that for the same run with made-up procedures in place of MPI's.
func TestMadeUpProcedures(t *testing.T) {
	commands := []string{
		"report --json", "report", "matrix --collectives --one-sided --json", "check --json", "check", "phases --json", "loops --json",
		"reconstruct --format mtf", "reconstruct --format text",
	}
	for _, name := range []string{"persistent", "stuck", "waiting", "farm", "fail", "worlds"} {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile("../../efg/text/testdata/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			used := map[string]bool{}
			text := withMadeUp(string(source), used)
			table := filepath.Join(dir, "table")
			writeFile(t, table, tableOf(t, used))
			files := map[string]string{"mpi": string(source), "xyz": text}
			for file, text := range files {
				writeFile(t, filepath.Join(dir, file), text)
				asProgram(t, table, "assemble", filepath.Join(dir, file), "-o", filepath.Join(dir, file+".efg"))
			}
			for _, c := range commands {
				args := strings.Fields(c)
				args = append(args, filepath.Join(dir, "mpi.efg"))
				want := asProgram(t, table, args...)
				args[len(args)-1] = filepath.Join(dir, "xyz.efg")
				got := strings.NewReplacer("xyz.efg", "mpi.efg", "Xyz_", "MPI_").Replace(asProgram(t, table, args...))
				if got, want := rounded(got), rounded(want); got != want {
					t.Errorf("efg %s: made-up procedures are not understood\n%s", c, firstDifference(got, want))
				}
			}
		})
	}
}

var fraction = regexp.MustCompile(`\d+\.\d+`)

// rounded keeps six digits of each number with a fraction: sums computed by several goroutines
// differ in the last ones.
func rounded(text string) string {
	return fraction.ReplaceAllStringFunc(text, func(s string) string {
		v, _ := strconv.ParseFloat(s, 64)
		return strconv.FormatFloat(v, 'g', 6, 64)
	})
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one goes on"
}
