package daemon

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/segment"
)

// otherVar makes the test binary another version of efg that reads only segments of
// otherVersion; it holds the directory in which that works.
const otherVar = "EFG_TEST_OTHER"

const otherVersion = 0x1234567890

const layoutAt = 8 // in a segment

// otherEFG is "efg merge -o OUTPUT SEGMENT..." of another version.
func otherEFG(dir string, args []string) error {
	var paths []string
	for _, path := range args[3:] {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if binary.LittleEndian.Uint64(data[layoutAt:]) != otherVersion {
			return fmt.Errorf("%s: %w", path, segment.ErrVersion)
		}
		binary.LittleEndian.PutUint64(data[layoutAt:], segment.LayoutHash())
		paths = append(paths, filepath.Join(dir, filepath.Base(path)))
		if err := os.WriteFile(paths[len(paths)-1], data, 0o600); err != nil {
			return err
		}
	}
	_, err := merge.Run(paths, merge.Options{Output: args[2], Workers: 1, Tool: "efg of old"})
	return err
}

// putOther puts segments of another version into a spool.
func putOther(t *testing.T, spool string, files []string) {
	t.Helper()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(data[layoutAt:], otherVersion)
		to := filepath.Join(spool, filepath.Base(file))
		write(t, to+jobExt, fmt.Appendf(nil, `{"job":"launcher 1.2","tool":"efg of old","command":["/bin/app","7"]}`))
		write(t, to, data)
	}
}

// After an update, segments of the previous version stay, and the daemon says so, until that
// version is found; then it reads them. Segments that it cannot read are set aside.
func TestOtherVersion(t *testing.T) {
	opt := testOptions(t.TempDir(), privateDir(t))
	t.Setenv(otherVar, t.TempDir())
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opt.Tool = "efg of today"
	stop := serve(t, opt)
	made := t.TempDir()
	simulated(t, made, 5, 3)
	files := names(t, made, "*.seg")
	putOther(t, opt.Spool, files)
	s := &Store{opt.Store}
	waitFor(t, func() bool {
		x, err := s.State()
		return err == nil && len(x.Problems) == 1 && strings.Contains(x.Problems[0], "app: recorded by efg of old, which efg of today cannot read: kept in "+opt.Spool)
	})
	put(t, opt.Spool, simulated(t, t.TempDir(), 3, 7))
	waitFor(t, func() bool { return len(names(t, opt.Spool, "*.seg")) == len(files) })
	stop()

	opt.Reader = func(layout uint64) (string, bool) { return program, layout == otherVersion }
	stop = serve(t, opt)
	runs := list(t, opt, 2)
	old := runs[0]
	if old.Ranks == 3 {
		old = runs[1]
	}
	if old.Ranks != 5 || !old.Complete || time.Since(old.Started) > 24*time.Hour {
		t.Errorf("%+v", old)
	}
	verify(t, s.RunFile(old.Name))
	waitFor(t, func() bool { x, err := s.State(); return err == nil && len(x.Problems) == 0 })

	made = t.TempDir()
	simulated(t, made, 4, 9)
	files = names(t, made, "*.seg")
	data, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	write(t, files[1], data[:segment.HeaderSize+64])
	putOther(t, opt.Spool, files)
	for _, x := range list(t, opt, 3) {
		if len(x.LeftOut) > 0 {
			old = x
		}
	}
	if old.Ranks != len(files)-1 || len(old.LeftOut) != 1 || len(names(t, opt.Store, brokenDir+"/*.seg")) != 1 {
		t.Errorf("%+v", old)
	}
	stop()
	if left := names(t, opt.Store, nodesDir+"/*.translated"); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// If a reader cannot be started, segments are not given up.
func TestOtherVersionFails(t *testing.T) {
	opt := testOptions(t.TempDir(), privateDir(t))
	broken := filepath.Join(t.TempDir(), "efg")
	opt.Reader = func(uint64) (string, bool) { return broken, true }
	serve(t, opt)
	made := t.TempDir()
	simulated(t, made, 2, 3)
	putOther(t, opt.Spool, names(t, made, "*.seg"))
	s := &Store{opt.Store}
	waitFor(t, func() bool {
		x, err := s.State()
		return err == nil && len(x.Problems) == 1 && strings.Contains(x.Problems[0], "no such file")
	})
	if n := len(names(t, opt.Spool, "*.seg")); n != 2 {
		t.Errorf("%d segments are left", n)
	}
	out, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	if otherLayout(out) != 0 {
		t.Error("a program is taken for a segment")
	}
}
