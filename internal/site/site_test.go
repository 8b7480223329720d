package site

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// written writes the files; they start this test binary.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, program); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWrite(t *testing.T) {
	dir := written(t)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if script := filepath.Ext(name) == ".sh"; script != (info.Mode().Perm() == 0o755) {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if strings.Contains(string(text), installed) {
			t.Errorf("%s: starts another efg", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"efg", "/opt/e f g", "/opt/$HOME/efg", "/opt/efg\n", "/opt/%i/efg", ""} {
		if err := Write(t.TempDir(), path); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
}

// analyzer is systemd-analyze, with the root below which it looks for units: those of the
// machine, or those that scripts/setup.sh has unpacked.
type analyzer struct{ program, root string }

func newAnalyzer(t *testing.T) analyzer {
	t.Helper()
	if program, err := exec.LookPath("systemd-analyze"); err == nil {
		return analyzer{program, "/"}
	}
	cache, err := os.UserCacheDir()
	root := filepath.Join(cache, "efg", "systemd")
	program := filepath.Join(root, "usr", "bin", "systemd-analyze")
	if _, e := os.Stat(program); err != nil || e != nil {
		t.Fatalf("no systemd-analyze: run scripts/setup.sh test (%v)", e)
	}
	return analyzer{program, root}
}

// run returns its output for the units in a directory of system or user units.
func (a analyzer) run(t *testing.T, kind, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(a.program, args...)
	libs, err := filepath.Glob(filepath.Join(a.root, "usr", "lib", "*", "systemd"))
	if err != nil {
		t.Fatal(err)
	}
	units := strings.Join([]string{dir, filepath.Join(a.root, "lib", "systemd", kind), filepath.Join(a.root, "usr", "lib", "systemd", kind)}, ":")
	cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+units, "XDG_RUNTIME_DIR="+t.TempDir(), "LD_LIBRARY_PATH="+strings.Join(libs, ":"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// systemd accepts every word of the units, and finds an error.
func TestUnits(t *testing.T) {
	a := newAnalyzer(t)
	dir := filepath.Join(written(t), "systemd")
	for kind, want := range map[string][]string{"system": {"efg.service", "efg.socket", "efg@.service"}, "user": {"efg.service", "efg.socket"}} {
		units, err := filepath.Glob(filepath.Join(dir, kind, "*"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, path := range units {
			names = append(names, filepath.Base(path))
			out, err := a.run(t, kind, filepath.Dir(path), "--"+kind, "verify", "--man=no", path)
			if err != nil || out != "" {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("units %v, want %v", names, want)
		}
	}
	mistake := filepath.Join(dir, "system", "mistake.service")
	if err := os.WriteFile(mistake, []byte("[Service]\nExecStart=/bin/true\nProtectEverything=yes\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, _ := a.run(t, "system", filepath.Dir(mistake), "verify", "--man=no", mistake); !strings.Contains(out, "ProtectEverything") {
		t.Errorf("a mistake is not found: %s", out)
	}
}

// What a system service could do beyond its task is bounded: 10 means everything.
func TestExposure(t *testing.T) {
	dir := filepath.Join(written(t), "systemd", "system")
	for unit, most := range map[string]string{"efg@.service": "20", "efg.service": "30"} { // the latter switches to users
		out, err := newAnalyzer(t).run(t, "system", dir, "security", "--offline=true", "--threshold="+most, "--no-pager", filepath.Join(dir, unit))
		if err != nil || !strings.Contains(out, "Overall exposure level") {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}
