package account

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nameService replaces the machine's getent.
func nameService(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "getent"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// The machine's own users are found.
func TestMachine(t *testing.T) {
	root, err := ByUID(context.Background(), 0)
	if err != nil || root.Name != "root" || root.GID != 0 || root.Home == "" || !slices.Contains(root.Groups, 0) {
		t.Errorf("%+v, %v", root, err)
	}
	if a, err := ByName(context.Background(), "root"); err != nil || a.UID != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := ByUID(context.Background(), 4000000000); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	for _, name := range []string{"", "0", "no-such-user", "-x", "../root", "root:x", "a b"} {
		if a, err := ByName(context.Background(), name); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %+v, %v", name, a, err)
		}
	}
}

func TestGroups(t *testing.T) {
	nameService(t, `case $2 in passwd) echo "ann:*:70001:70002:Ann:/h/ann:/bin/sh";; initgroups) echo "ann      70003 70002  70004";; esac`)
	a, err := ByUID(context.Background(), 70001)
	if err != nil || a.Home != "/h/ann" || !slices.Equal(a.Groups, []uint32{70002, 70003, 70004}) {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := ByUID(context.Background(), 70002); !errors.Is(err, ErrUnknown) {
		t.Errorf("another user's number: %+v, %v", a, err)
	}
}

// Invalid output of a name service makes nobody a user, least of all root.
func TestNonsense(t *testing.T) {
	for _, line := range []string{
		"", "ann", "ann:x:1:1:::x:", "ann:x:1:1:h:/bin/sh", "ann:x::1::/h:/bin/sh", "ann:x:-1:1::/h:/bin/sh", "ann:x:4294967295:1::/h:/bin/sh",
		"ann:x:1:4294967295::/h:/bin/sh", "ann:x:1:x::/h:/bin/sh", ":x:1:1::/h:/bin/sh", "../ann:x:1:1::/h:/bin/sh", ".:x:1:1::/h:/bin/sh", "a b:x:1:1::/h:/bin/sh",
	} {
		nameService(t, "echo '"+line+"'")
		if a, err := ByUID(context.Background(), 1); err == nil {
			t.Errorf("%q: %+v", line, a)
		}
	}
	nameService(t, "echo >&2 no network; exit 1")
	if _, err := ByUID(context.Background(), 1); err == nil || errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "getent passwd 1: exit status 1") {
		t.Error(err)
	}
}

// A group is private if it is the user's own by name and number.
func TestPrivateGroup(t *testing.T) {
	for _, c := range []struct {
		uid, gid uint32
		want     bool
	}{{1, 1, true}, {1, 2, false}, {1, 0, false}, {61099, 61099, false}, {6, 12, true}, {41, 60, false}} {
		if got := PrivateGroup(t.Context(), c.uid, c.gid); got != c.want {
			t.Errorf("user %d, group %d: %v", c.uid, c.gid, got)
		}
	}
}
