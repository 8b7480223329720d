package hook

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answer publishes settings in a directory as soon as the front asks for a back end there.
func (s *testFront) answer(t *testing.T, dir, settings string) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		for said := false; ; {
			c, err := l.Accept()
			if err != nil {
				done <- nil
				return
			}
			asked, err := bufio.NewReader(c).ReadString(0)
			c.Close()
			if err != nil || asked != "libmpi.so.40\x00" {
				t.Errorf("asked %q, %v", asked, err)
			}
			if !said {
				said = true
				if err := s.say(dir, settings); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

// say replaces settings atomically.
func (s *testFront) say(dir, settings string) error {
	hook := filepath.Join(dir, "hook")
	if err := os.WriteFile(hook+".new", []byte(settings), 0o600); err != nil {
		return err
	}
	return os.Rename(hook+".new", hook)
}

// A process whose back end is still being compiled waits for it, whoever compiles it: a daemon,
// a service for all users, efg run. It continues unrecorded, and says so, if there will be
// none, or if nobody is compiling it any longer.
func TestFrontWaits(t *testing.T) {
	s := newTestFront(t)
	const building = "EFG_BACK=other.so=/x\nEFG_BUILDING=1\n"
	good := "EFG_BACK=libmpi.so.40=" + s.path("back.so") + "\nEFG_BUILDING=1\n"
	const waits = "efg: the program waits until its part of the hook is compiled, for libmpi.so.40\n"
	unrecorded := "efg: no back end for this MPI (libmpi.so.40, " + s.path("libmpi.so.40") + "): the program runs unrecorded\n"
	for _, c := range []struct {
		name   string
		run    bool   // by efg run
		answer string // "": nobody listens
		out    string
		err    string
	}{
		{"daemon", false, good, wrapped("program"), ""},
		{"run", true, good, wrapped("program"), ""},
		{"failure", false, "EFG_BACK=libmpi.so.40=\nEFG_BUILDING=1\n", passed, unrecorded},
		{"failure of run", true, "EFG_BACK=libmpi.so.40=\nEFG_BUILDING=1\n", passed, unrecorded},
		{"unknown", false, "EFG_BACK=other.so=/x\nEFG_BUILDING=0\n", passed, unrecorded},
		{"unknown to run", true, "EFG_BACK=other.so=/x\nEFG_BUILDING=0\n", passed, unrecorded},
		{"killed", false, "", passed, waits + unrecorded},
		{"killed run", true, "", passed, waits + unrecorded},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "efg-wait-") // sockets need short names
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			env := []string{"EFG_SPOOL=" + dir}
			if c.run {
				env = []string{"EFG_DIR=" + dir, "EFG_BACK=other.so=/x", "EFG_BUILDING=1"}
			} else if err := s.say(dir, building); err != nil {
				t.Fatal(err)
			}
			if c.answer != "" {
				s.answer(t, dir, c.answer)
			}
			out, errOut, status := s.run(t, env, "program", "all")
			if c.answer != "" { // it may come late
				errOut = strings.TrimPrefix(errOut, waits)
			}
			if out != c.out || errOut != c.err || status != 5 {
				t.Errorf("status %d\n--- output\n%s--- want\n%s--- errors\n%s--- want\n%s", status, out, c.out, errOut, c.err)
			}
		})
	}
	t.Run("service", func(t *testing.T) {
		env := s.service(t, "late", 0o755, 0o644)
		settings := "EFG_SPOOLS=" + filepath.Dir(s.spool("late")) + "\nEFG_BUILDING="
		if err := s.say(s.path("late"), settings+"1\nEFG_BACK=\n"); err != nil {
			t.Fatal(err)
		}
		s.answer(t, s.path("late"), settings+"0\nEFG_BACK=libmpi.so.40="+s.path("back.so")+"\n")
		out, errOut, status := s.run(t, []string{env}, "program", "all")
		if out != wrapped("program") || strings.TrimPrefix(errOut, waits) != "" || status != 5 {
			t.Errorf("status %d, %s%s", status, out, errOut)
		}
	})
}
