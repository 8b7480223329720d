package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a manual page with its examples, the same each time.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a/man1", "b"} {
		if _, errOut, status := efgRun(t, nil, "man", filepath.Join(dir, d)); status != 0 {
			t.Fatal(errOut)
		}
	}
	for _, cmd := range newRoot().Commands() {
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
		t.Errorf("a file in place of a folder: %d, %s", status, errOut)
	}
}

// The shells' scripts come from the commands, and bash understands its own.
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
		"exp": "export\t", "export a.efg --format ": "gxl\n", "export a.efg --f": "--from\t", "import a --format ": "mtf\n",
	} {
		words := strings.Split(args, " ")
		out, _, status := efgRun(t, nil, append([]string{"__complete"}, words...)...)
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%q completes to %q", args, out)
		}
	}
}
