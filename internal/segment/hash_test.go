package segment

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/signature"
)

const hashVectors = "../../signature/testdata/xxh64.txt"

// The recorder's XXH64 and Go's are tested with one list of vectors.
func TestHashVectors(t *testing.T) {
	data, err := os.ReadFile(hashVectors)
	if err != nil {
		t.Fatal(err)
	}
	vectors := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		text, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%016x", signature.HashString(string(b))); got != want {
			t.Errorf("Go: hash of %q is %s, want %s", text, got, want)
		}
		vectors++
	}
	exe := filepath.Join(t.TempDir(), "hashes")
	if out, err := exec.Command("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", "../../hook/shim", "-o", exe, "testdata/hashes.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	c := exec.Command(exe)
	c.Stdin = strings.NewReader(string(data))
	out, err := c.Output()
	if want := fmt.Sprintf("%d\n", vectors); err != nil || string(out) != want || vectors < 50 {
		t.Errorf("C: %v, printed %q, want %q of at least 50", err, out, want)
	}
}
