package hook

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Builds that are kept: of each kind the ones used last, and all that were used of
// late, for a run that goes on may start another process with its own.
const (
	keptBuilds = 8
	keptFor    = 48 * time.Hour
)

// used notes that a build is used now, and tells whether its folder is there.
func used(dir string) bool {
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err == nil {
		return true
	}
	_, err := os.Stat(dir) // in a cache that others own
	return err == nil
}

// prune removes builds of a kind that nobody has used for long, and what builds
// that were interrupted have left. What cannot be removed stays.
func prune(cache, kind string) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	type build struct {
		dir  string
		used time.Time
	}
	var builds []build
	old := time.Now().Add(-keptFor)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		b := build{filepath.Join(cache, e.Name()), info.ModTime()}
		switch {
		case strings.HasPrefix(e.Name(), kind+"-"):
			builds = append(builds, b)
		case strings.HasPrefix(e.Name(), "."+kind+"-") && b.used.Before(old):
			os.RemoveAll(b.dir)
		}
	}
	slices.SortFunc(builds, func(a, b build) int { return cmp.Compare(b.used.UnixNano(), a.used.UnixNano()) })
	for i, b := range builds {
		if i >= keptBuilds && b.used.Before(old) {
			os.RemoveAll(b.dir)
		}
	}
}
