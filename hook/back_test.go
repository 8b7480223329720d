package hook_test

import (
	"path/filepath"
	"testing"
)

// The map of requests behaves like a plain list.
func TestRequestMap(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "requests")
	command(t, ".", "mpicc.openmpi", "-std=gnu11", "-O1", "-g", "-fsanitize=undefined", "-fno-sanitize-recover=all",
		"-Wall", "-Wextra", "-Werror", "-Ishim", "-o", exe, "testdata/back/requests.c", "shim/back_request.c")
	for _, seed := range []string{"1", "2", "3"} {
		if out := command(t, ".", exe, seed); out != "ok\n" {
			t.Errorf("seed %s: %s", seed, out)
		}
	}
}
