package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// launcher stands for mpiexec in the examples. One of them needs rank 7.
const launcher = `#!/bin/sh
shift 2
exec timeout 60 mpiexec.openmpi --oversubscribe -n 8 "$@"
`

// keptSegments makes the directory that the examples of efg where examine.
const keptSegments = `mv "$(efg run --keep -o kept.efg -- mpiexec -n 4 ./jacobi 20 2>&1 | sed -n 's/^efg: segments are in //p')" segments`

// TestExamples runs the examples of all help texts, and the reading commands of the
// documentation, on the recording of the example of efg run.
func TestExamples(t *testing.T) {
	var lines []string
	collectExamples(newRoot(), &lines)
	if len(lines) < 5 || !strings.HasPrefix(lines[0], "efg run -o jacobi.efg ") {
		t.Fatalf("examples, run first: %q", lines)
	}
	for _, page := range []string{"guide", "reading", "report", "check", "phases", "waits", "clocks", "efficiency", "whatif", "diff", "query", "sql", "exchange", "graph", "loops", "timeline", "callpaths"} {
		lines = append(lines, commandsOf(t, page)...)
	}
	// The examples of efg merge merge what the first one has recorded.
	lines = slices.Insert(lines, 1, "mkdir parts && cp jacobi.efg parts/node1.efg")
	lines = slices.Insert(lines, 2, keptSegments, "efg run --time trace -o traced.efg -- mpiexec -n 4 ./jacobi 400", "efg run --callpath -o paths.efg -- mpiexec -n 4 ./jacobi 50")
	prepareExamples(t)
	var lasting, asking []string
	for _, line := range lines {
		switch {
		case readyWith(line) != "":
			lasting = append(lasting, line)
		case strings.HasPrefix(line, "efg open"):
			asking = append(asking, line)
		default:
			runExample(t, line)
		}
	}
	if len(lasting) < 4 || len(asking) < 2 || !strings.HasPrefix(lasting[0], "efg daemon") {
		t.Fatalf("examples that last: %q; that ask the daemon: %q", lasting, asking)
	}
	for i, line := range lasting {
		stop := startExample(t, line)
		if i == 0 {
			for _, line := range slices.Concat([]string{recordedByDaemon, "efg runs --wait 60s"}, asking) {
				runExample(t, line)
			}
		}
		stop()
	}
}

// recordedByDaemon makes a run that the examples of efg open find.
const recordedByDaemon = "LD_PRELOAD=$(efg hook path) mpiexec -n 4 ./jacobi 20"

func runExample(t *testing.T, line string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// readyWith is what a command that works until it is interrupted prints when it is ready; ""
// for other commands.
func readyWith(line string) string {
	switch {
	case strings.HasPrefix(line, "efg daemon"):
		return "msg=recording "
	case strings.HasPrefix(line, "efg view"):
		return "http://"
	}
	return ""
}

// startExample starts a command that works until it is interrupted, and waits until it is
// ready. stop interrupts it, and demands that it ends successfully.
func startExample(t *testing.T, line string) (stop func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "exec "+line)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	said, ready := bufio.NewScanner(out), false
	for !ready && said.Scan() {
		ready = strings.Contains(said.Text(), readyWith(line))
	}
	if !ready {
		t.Fatalf("%s: does not get ready: %v", line, cmd.Wait())
	}
	rest := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, out)
		rest <- err
	}()
	return func() {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(<-rest, cmd.Wait()); err != nil {
			t.Errorf("%s: interrupted: %v", line, err)
		}
	}
}

// collectExamples puts those of efg run first. Every command has examples. It leaves out efg
// hook build: the tests of the hook compile the same.
func collectExamples(cmd *cobra.Command, lines *[]string) {
	if cmd.Hidden || cmd.CommandPath() == "efg hook build" {
		return
	}
	if !cmd.HasSubCommands() && cmd.Example == "" {
		*lines = append(*lines, "false # no example of "+cmd.CommandPath())
	}
	for line := range strings.Lines(cmd.Example) {
		line = strings.TrimSpace(line)
		if cmd.Name() == "run" {
			*lines = append([]string{line}, *lines...)
		} else {
			*lines = append(*lines, line)
		}
	}
	for _, c := range cmd.Commands() {
		collectExamples(c, lines)
	}
}

var readingCommand = regexp.MustCompile(`(?m)^    (efg (?:info|reconstruct|graph|loops|report|matrix|check|phases|waits|clocks|efficiency|whatif|timeline|diff|dump|query|sql|assemble|merge|export|import) .*?)(?:   .*)?$`)

// commandsOf returns the commands in a page that read jacobi.efg.
func commandsOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page+".md"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range readingCommand.FindAllStringSubmatch(string(text), -1) {
		lines = append(lines, m[1])
	}
	if len(lines) < 1 {
		t.Fatalf("%s.md has the commands %q", page, lines)
	}
	return lines
}

// prepareExamples makes a directory with the program, and a PATH with efg and mpiexec.
func prepareExamples(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	for _, args := range [][]string{
		{"go", "build", "-o", filepath.Join(dir, "efg"), "."},
		{"mpicc.openmpi", "-g", "-o", filepath.Join(dir, "jacobi"), "../../testdata/c/jacobi.c", "-lm"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "mpiexec"), []byte(launcher), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EFG_STORE", filepath.Join(dir, "store"))
	t.Setenv("EFG_SPOOL", filepath.Join(dir, "spool"))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Chdir(dir)
}
