package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/account"
)

func TestExpand(t *testing.T) {
	a := &account.Account{Name: "ann", UID: 7, Home: "/h/ann"}
	for path, want := range map[string]string{
		"/s/%u": "/s/ann", "/s/%U/": "/s/7", "%h/efg": "/h/ann/efg", "/s/%%u": "/s/%u", "/s/%u-%U": "/s/ann-7", "/s": "/s", "": ".",
	} {
		if got, err := Expand(path, a); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"/s/%": "% at the end", "/s/%i": "%i: want %u, %U, %h or %%"} {
		if _, err := Expand(path, a); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := Expand("%h/efg", &account.Account{Name: "ann"}); err == nil {
		t.Error("a user without a home has a directory in it")
	}
}

// Only a directory that root has made, and that nobody else can change, is a service.
func TestFind(t *testing.T) {
	const good = "EFG_BACK=b\nEFG_SPOOLS=/spools\nEFG_STORE=/s/%U\n"
	for _, c := range []struct {
		name      string
		dir, file os.FileMode
		text      string
		owner     int
		ok        bool
	}{
		{"good", 0o755, 0o644, good, 0, true},
		{"good, and more to come", 0o755, 0o644, good + "EFG_BUILDING=1\n", 0, true},
		{"directory for all", 0o777, 0o644, good, 0, false},
		{"directory for a group", 0o775, 0o644, good, 0, false},
		{"file for all", 0o755, 0o666, good, 0, false},
		{"another's file", 0o755, 0o644, good, 61041, false},
		{"no store", 0o755, 0o644, "EFG_SPOOLS=/spools\n", 0, false},
		{"spools anywhere", 0o755, 0o644, "EFG_SPOOLS=spools\nEFG_STORE=/s/%U\n", 0, false},
		{"empty", 0o755, 0o644, "", 0, false},
	} {
		dir := filepath.Join(t.TempDir(), "service")
		file := filepath.Join(dir, SiteFile)
		for _, err := range []error{
			os.Mkdir(dir, 0o755), os.WriteFile(file, []byte(c.text), 0o644), os.Chmod(file, c.file), os.Chown(file, c.owner, -1), os.Chmod(dir, c.dir),
		} {
			if err != nil {
				t.Fatalf("%v (this test needs to be root)", err)
			}
		}
		t.Setenv(DirName, dir)
		s, ok := Find()
		if ok != c.ok || ok && (*s != Service{Dir: dir, Spools: "/spools", Store: "/s/%U", Back: "b", Building: strings.Contains(c.text, "BUILDING")} || s.Spool(7) != "/spools/efg-7") {
			t.Errorf("%s: %+v, %v", c.name, s, ok)
		}
	}
	t.Setenv(DirName, filepath.Join(t.TempDir(), "none"))
	if s, ok := Find(); ok {
		t.Errorf("%+v", s)
	}
}
