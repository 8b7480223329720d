package trusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const stranger = 61071

// place is a directory tree that a test modifies.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t, t.TempDir()}
	p.must(os.MkdirAll(p.at("a/b/c"), 0o755))
	p.must(os.WriteFile(p.at("a/b/c/file"), []byte("text"), 0o644))
	return p
}

func (p *place) at(name string) string { return filepath.Join(p.dir, name) }

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%v (this test needs to be root)", err)
	}
}

// Everybody else who could change a path, at its end or on the way, is reported; a path that
// only the user and root can change is accepted, including links and sticky directories on the
// way.
func TestWhoCanChange(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(p *place)
		err   string // after the place; "" if there is none
		file  string // the same for a/b/c/file, if it differs
	}{
		{"nobody", func(*place) {}, "", ""},
		{"another's directory", func(p *place) { p.must(os.Chown(p.at("a/b/c"), stranger, -1)) }, "/a/b/c: belongs to user 61071, not to root: use another path", ""},
		{"another's on the way", func(p *place) { p.must(os.Chown(p.at("a"), stranger, -1)) }, "/a: belongs to user 61071, not to root: use another path", ""},
		{"for all", func(p *place) { p.must(os.Chmod(p.at("a/b/c"), 0o757)) }, "/a/b/c: writable by others: chmod go-w ", ""},
		{"for a group, on the way", func(p *place) { p.must(os.Chmod(p.at("a/b"), 0o775)) }, "/a/b: writable by others: chmod go-w ", ""},
		{"sticky on the way", func(p *place) { p.must(os.Chmod(p.at("a/b"), 0o777|fs.ModeSticky)) }, "", ""},
		{"sticky itself", func(p *place) { p.must(os.Chmod(p.at("a/b/c"), 0o777|fs.ModeSticky)) }, "/a/b/c: writable by others: chmod go-w ", ""},
		{"another's in a sticky one", func(p *place) {
			p.must(os.Chmod(p.at("a"), 0o777|fs.ModeSticky))
			p.must(os.Chown(p.at("a/b"), stranger, -1))
		}, "/a/b: belongs to user 61071", ""},
		{"a link", func(p *place) { p.must(os.Rename(p.at("a/b"), p.at("x"))); p.must(os.Symlink("../x", p.at("a/b"))) }, "", ""},
		{"a link from the root", func(p *place) { p.must(os.Rename(p.at("a/b"), p.at("x"))); p.must(os.Symlink(p.at("x"), p.at("a/b"))) }, "", ""},
		{"a link to what is another's", func(p *place) {
			p.must(os.Rename(p.at("a/b"), p.at("x")))
			p.must(os.Symlink("../x", p.at("a/b")))
			p.must(os.Chown(p.at("x"), stranger, -1))
		}, "/x: belongs to user 61071", ""},
		{"another's link", func(p *place) {
			p.must(os.Rename(p.at("a/b"), p.at("x")))
			p.must(os.Symlink("../x", p.at("a/b")))
			p.must(os.Lchown(p.at("a/b"), stranger, -1))
		}, "/a/b: belongs to user 61071", ""},
		{"a link to itself", func(p *place) { p.must(os.RemoveAll(p.at("a/b"))); p.must(os.Symlink("b", p.at("a/b"))) }, "/a/b: too many levels of symbolic links", ""},
		{"another's file", func(p *place) { p.must(os.Chown(p.at("a/b/c/file"), stranger, -1)) }, "", "/a/b/c/file: belongs to user 61071"},
		{"a file for all", func(p *place) { p.must(os.Chmod(p.at("a/b/c/file"), 0o666)) }, "", "/a/b/c/file: writable by others"},
		{"a link in the place of the file", func(p *place) {
			p.must(os.Rename(p.at("a/b/c/file"), p.at("a/b/c/x")))
			p.must(os.Symlink("x", p.at("a/b/c/file")))
		}, "", "/a/b/c/file: too many levels of symbolic links"},
		{"a directory in its place", func(p *place) {
			p.must(os.Remove(p.at("a/b/c/file")))
			p.must(os.Mkdir(p.at("a/b/c/file"), 0o755))
		}, "", "/a/b/c/file: is not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			c.spoil(p)
			check := func(what string, err error, want string) {
				t.Helper()
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), p.dir+want)) {
					t.Errorf("%s: %v, want %q", what, err, want)
				}
			}
			_, err := Dir(p.at("a/b/c"), 0)
			check("directory", err, c.err)
			want := c.err
			if c.file != "" {
				want = c.file
			}
			f, err := Open(p.at("a/b/c/file"))
			check("file", err, want)
			if err == nil {
				text, err := io.ReadAll(f)
				if f.Close(); string(text) != "text" || err != nil {
					t.Errorf("%q, %v", text, err)
				}
			}
		})
	}
}

// Missing directories are created on request, but not in directories of others.
func TestMake(t *testing.T) {
	p := newPlace(t)
	if _, err := Dir(p.at("a/new/er"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	p.must(os.Symlink("a", p.at("link")))
	dir, err := Dir(p.at("link/new/er/"), 0o700)
	if err != nil || dir != p.at("a/new/er") {
		t.Errorf("%q, %v", dir, err)
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode() != fs.ModeDir|0o700 {
		t.Errorf("%v, %v", fi, err)
	}
	if again, err := Dir(p.at("a/../a/new/er"), 0o700); err != nil || again != dir {
		t.Errorf("%q, %v", again, err)
	}
	if _, err := Dir(p.at("a/b/c/file/x"), 0o700); err == nil {
		t.Error("a directory in a file")
	}
	p.must(os.Chown(p.at("a/b"), stranger, -1))
	if _, err := Dir(p.at("a/b/x"), 0o700); !errors.As(err, new(*Error)) {
		t.Error(err)
	}
	if _, err := os.Lstat(p.at("a/b/x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made in another's: %v", err)
	}
}

// No descriptor stays open, whether the path is accepted or not.
func TestDescriptors(t *testing.T) {
	p := newPlace(t)
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		p.must(err)
		return len(entries)
	}
	before := count()
	for i := range 20 {
		Dir(p.at(fmt.Sprintf("a/n%d/m", i)), 0o755)
		Dir(p.at("a/b/c/file/x"), 0)
		Dir(p.at("none"), 0)
		Open(p.at("a/b/c"))
		Open(p.at("a/b/c/none"))
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors were open, %d are", before, after)
	}
}
