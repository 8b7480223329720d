package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/daemon"
)

// Every command has a manual page with its examples, which is the same each time.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a/man1", "b"} {
		if _, errOut, status := efgRun(t, nil, "man", filepath.Join(dir, d)); status != 0 {
			t.Fatal(errOut)
		}
	}
	for _, cmd := range newRoot().Commands() {
		if cmd.Hidden { // it is internal
			continue
		}
		name := "efg-" + cmd.Name() + ".1"
		page, err := os.ReadFile(filepath.Join(dir, "a/man1", name))
		if err != nil {
			t.Error(err)
			continue
		}
		again, _ := os.ReadFile(filepath.Join(dir, "b", name))
		if string(again) != string(page) {
			t.Errorf("%s differs from time to time", name)
		}
		if !strings.Contains(string(page), ".SH NAME") || cmd.Example != "" && !strings.Contains(string(page), ".SH EXAMPLE") {
			t.Errorf("%s: %.300s", name, page)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errOut, status := efgRun(t, nil, "man", filepath.Join(dir, "file")); status != 2 || !strings.HasSuffix(errOut, "/file: not a directory\n") {
		t.Errorf("a file in place of a directory: %d, %s", status, errOut)
	}
}

// A page is dated by SOURCE_DATE_EPOCH. A test binary has no commit, so without the variable
// there is no date.
func TestManualPageDates(t *testing.T) {
	for epoch, want := range map[string]string{"": `""`, "86400": `"Jan 1970"`, "1700000000": `"Nov 2023"`} {
		dir := t.TempDir()
		t.Setenv("SOURCE_DATE_EPOCH", epoch)
		if _, errOut, status := efgRun(t, nil, "man", dir); status != 0 {
			t.Fatal(errOut)
		}
		page, err := os.ReadFile(filepath.Join(dir, "efg-hook-build.1"))
		if err != nil {
			t.Fatal(err)
		}
		if title := `.TH "EFG-HOOK-BUILD" "1" ` + want + ` "efg" "efg"`; !strings.Contains(string(page), title+"\n") {
			t.Errorf("SOURCE_DATE_EPOCH=%s: no %s in %.200s", epoch, title, page)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "today")
	if _, errOut, status := efgRun(t, nil, "man", t.TempDir()); status != 2 || errOut != "efg: SOURCE_DATE_EPOCH=today: want seconds since 1970\n" {
		t.Errorf("%d, %s", status, errOut)
	}
}

// The help lists every visible command in one of the groups, or under cobra's title for those
// without.
func TestHelpGroups(t *testing.T) {
	help, errOut, status := efgRun(t, nil, "--help")
	if status != 0 {
		t.Fatal(errOut)
	}
	rest := help
	for _, title := range []string{"Record:", "Inspect:", "Compare:", "Explain:", "Export:", "Run as a service:", "Additional Commands:"} {
		_, after, ok := strings.Cut(rest, "\n"+title+"\n")
		if !ok {
			t.Fatalf("no %s after the groups before it in %s", title, help)
		}
		rest = after
	}
	for _, c := range newRoot().Commands() {
		if n := strings.Count(help, "\n  "+c.Name()+" "); n != 1 && !c.Hidden || n > 0 && c.Hidden {
			t.Errorf("%s is listed %d times", c.Name(), n)
		}
		if c.GroupID == "" && c.Name() != "man" && !c.Hidden {
			t.Errorf("%s has no group", c.Name())
		}
	}
}

// The shells' scripts are generated from the commands, and bash accepts its own.
func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{"bash": "__start_efg", "zsh": "#compdef efg", "fish": "complete -c efg"} {
		script, errOut, status := efgRun(t, nil, "completion", shell)
		if status != 0 || errOut != "" || !strings.Contains(script, want) {
			t.Errorf("%s: %d, %s, %.100s", shell, status, errOut, script)
		}
		if shell == "bash" {
			cmd := exec.Command("bash", "-n")
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
	for args, want := range map[string]string{
		"graph a --colour ": "bytes\n", "top --sort m": "mpi\n", "run --time tr": "trace\n", "completion z": "zsh\t", "help inf": "info\t",
		"exp": "export\t", "export a.efg --format ": "gxl\n", "export a.efg --f": "--from\t", "import a --format ": "mtf\n",
	} {
		words := strings.Split(args, " ")
		out, _, status := efgRun(t, nil, append([]string{"__complete"}, words...)...)
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%q completes to %q", args, out)
		}
	}
}

// Names of stored runs are completed, and files beside them.
func TestCompletionOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	store, err := daemon.OpenStore("store", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("EFG_STORE", store.Dir)
	t.Setenv("EFG_SPOOL", t.TempDir())
	for _, name := range []string{"20260102-030405-solver", "20260203-040506-other"} {
		timedRun(t, filepath.Join("store", name+".efg"), 2, 3)
		writeFile(t, filepath.Join("store", name+".json"), `{"version":1,"name":"`+name+`"}`)
	}
	writeFile(t, "2026.efg", "")
	for args, want := range map[string]string{
		"info ":            "last 20260102-030405-solver 20260203-040506-other 2026.efg :4",
		"diff a 202601":    "20260102-030405-solver :4",
		"diff a b ":        ":4",
		"where l":          "last :4",
		"query last S":     ":4",
		"report none/":     ":0",
		"view last 202602": "20260203-040506-other :4",
	} {
		out, _, status := efgRun(t, nil, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		if got := strings.Join(strings.Fields(out), " "); status != 0 || got != want {
			t.Errorf("%q completes to %q, want %q", args, got, want)
		}
	}
}

// explained matches a line of help for a flag: its name, the name of its value if it has one,
// and what it is for.
var explained = regexp.MustCompile(`^ +(-[a-z], )?--[a-z-]+(\[=1\])?( \S+)? {2,}\S.{4,}[^.]\n$`)

// Every flag is explained.
func TestFlagsHaveHelp(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
			if !explained.MatchString(line) {
				t.Errorf("%s: %q", cmd.CommandPath(), line)
			}
		}
		if cmd.Short == "" || cmd.Runnable() && cmd.HasParent() && !cmd.HasSubCommands() && cmd.Long == "" {
			t.Errorf("%s: %q, %q", cmd.CommandPath(), cmd.Short, cmd.Long)
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(newRoot())
}
