package groundtruth

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// running lists the processes whose command lines contain a text.
func running(t *testing.T, text string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(line), text) {
			lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}

// A program that hangs is ended with all of its processes: efg, the launcher with its helpers,
// and the ranks.
func TestHungProgramsAreEnded(t *testing.T) {
	for _, b := range benches {
		t.Run(b.Name, func(t *testing.T) {
			program, err := b.Build(t.Context(), "c/stuck.c")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			file := filepath.Join(t.TempDir(), "x.efg")
			go func() {
				_, err := b.Recorded(ctx, file, 3, program, "recv")
				ended <- err
			}()
			const all = 5 // efg, the launcher, the ranks
			for len(running(t, program)) < all {
				select {
				case err := <-ended:
					t.Fatalf("ended by itself: %v", err)
				case <-time.After(20 * time.Millisecond):
				}
			}
			cancel()
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "was ended") {
				t.Errorf("error %v", err)
			}
			if left := running(t, program); len(left) > 0 {
				t.Errorf("still there: %q", left)
			}
		})
	}
}
