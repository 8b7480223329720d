package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/internal/trusted"
)

// cache is the directory of all builds. Only the user and root can change it.
type cache string

// Builds that are kept: the most recently used ones of each kind, and all that were used
// recently, because a running job may start another process that uses its build.
const (
	keptBuilds = 8
	keptFor    = 48 * time.Hour
)

// openCache returns $XDG_CACHE_HOME/efg, or a private directory in TMPDIR if there is no home
// directory.
func openCache() (cache, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("efg-cache-%d", os.Geteuid()))
	}
	dir, err := trusted.Dir(filepath.Join(base, "efg"), 0o755)
	if err != nil {
		return "", fmt.Errorf("the hook's cache: %w (set XDG_CACHE_HOME to move it)", err)
	}
	if strings.ContainsAny(dir, " :") {
		return "", fmt.Errorf("the hook's cache: %q: LD_PRELOAD cannot hold blanks and colons: set XDG_CACHE_HOME", dir)
	}
	return cache(dir), nil
}

func (c cache) path(name string) string { return filepath.Join(string(c), name) }

// file is a file of a build, if it exists.
func (c cache) file(build, name string) (path string, ok bool, err error) {
	path = filepath.Join(c.path(build), name)
	f, err := trusted.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return path, true, f.Close()
}

// used marks a build as used now. In a cache with another owner that is impossible.
func (c cache) used(build string) {
	now := time.Now()
	os.Chtimes(c.path(build), now, now)
}

// create adds a build to the cache, completely or not at all. It waits for a process that is
// creating the same build; there reports whether the build exists after that. Remains of killed
// processes are removed.
func (c cache) create(ctx context.Context, build string, replace bool, there func() bool, fill func(dir string) error) error {
	tmp, done, err := c.scratch(ctx, build)
	if err != nil {
		return err
	}
	defer done()
	if there() {
		return nil
	}
	if err := fill(tmp); err != nil {
		return err
	}
	return publish(tmp, c.path(build), replace)
}

// scratch creates an empty directory for a build, for this process only.
func (c cache) scratch(ctx context.Context, build string) (dir string, done func(), err error) {
	unlock, err := c.lock(ctx, build)
	if err != nil {
		return "", nil, err
	}
	dir = c.path("." + build)
	done = func() { os.RemoveAll(dir); unlock() }
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

const (
	lockExt  = ".lock"
	lockPoll = 50 * time.Millisecond
)

// lock makes this process the only one that creates a build. The lock file exists while the
// lock is held, or after its holder was killed.
func (c cache) lock(ctx context.Context, build string) (unlock func(), err error) {
	for {
		f, err := c.tryLock(build)
		if err == nil {
			return func() { os.Remove(f.Name()); f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// tryLock takes a lock, or returns EWOULDBLOCK if it is held.
func (c cache) tryLock(build string) (*os.File, error) {
	path := c.path("." + build + lockExt)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		mine, err1 := f.Stat()
		now, err2 := os.Lstat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, now) {
			return f, nil
		}
		err = unix.EWOULDBLOCK // its previous holder has removed it
	}
	f.Close()
	return nil, err
}

// sweep removes what killed processes left of builds.
func (c cache) sweep() {
	locks, err := filepath.Glob(c.path(".*" + lockExt))
	if err != nil {
		return
	}
	for _, path := range locks {
		build := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "."), lockExt)
		if f, err := c.tryLock(build); err == nil {
			os.RemoveAll(c.path("." + build))
			os.Remove(path)
			f.Close()
		}
	}
}

// prune removes builds of a kind that have not been used for long. Those that cannot be removed
// remain.
func (c cache) prune(kind string) {
	entries, err := os.ReadDir(string(c))
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
		b := build{c.path(e.Name()), info.ModTime()}
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

// publish renames a build to its final name. If another process was faster, its build, which is
// the same, stays. A rebuilt one is replaced file by file, so that each name always has a
// complete file.
func publish(tmp, final string, replace bool) error {
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	err := os.Rename(tmp, final)
	if err == nil {
		return nil
	}
	if _, serr := os.Stat(final); serr != nil {
		return err
	}
	if !replace {
		return nil
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(final, failedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(tmp, e.Name()), filepath.Join(final, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
