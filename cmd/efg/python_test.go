package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The Python package gives what efg gives, with Debian's pandas.
func TestPythonPackage(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	assembled(t, "traced")
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-m", "unittest", "discover", "-s", filepath.Join(root, "python", "tests"))
	cmd.Env = append(os.Environ(), "RUN=a.efg", "EFG="+self, asMain+"=1", "PYTHONPATH="+filepath.Join(root, "python"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
