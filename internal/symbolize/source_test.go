package symbolize

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/efg-tools/efg/efg"
)

func TestFindSource(t *testing.T) {
	exe := build(t)
	syms, id := symbols(t, exe)
	defs := []efg.Def{
		{Kind: efg.DefModule, Word: 3, Data: []byte(exe + "\x00" + id)},
		{Kind: efg.DefModule, Word: 4, Data: []byte("/nowhere/libgone.so\x0011")},
		{Kind: efg.DefModule, Word: 5, Data: []byte(exe + "\x0000112233")},
		{Kind: efg.DefSite, Word: 9, Words: []uint64{3, syms["mark_far"].Value}},
		{Kind: efg.DefSite, Word: 8, Words: []uint64{4, 0x1234}},
		{Kind: efg.DefSite, Word: 7, Words: []uint64{5, syms["mark_far"].Value}},
		{Kind: efg.DefSite, Word: 6, Words: []uint64{2, 1}},
		{Kind: efg.DefSite, Word: 5, Words: []uint64{3, 1 << 60}},
	}
	got, err := FindSource(defs, 9)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/calls.c")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(got.Path) != "calls.c" || got.Line != 15 || !bytes.Equal(got.Text, want) || got.Newer {
		t.Errorf("%s:%d, newer %v, %d bytes", got.Path, got.Line, got.Newer, len(got.Text))
	}
	for word, says := range map[uint64]string{8: "libgone.so", 7: "build-id", 6: "not known", 5: "no line numbers"} {
		if _, err := FindSource(defs, word); !errors.Is(err, ErrNoSource) || !strings.Contains(err.Error(), says) {
			t.Errorf("site %d: %v", word, err)
		}
	}
	if _, err := FindSource(defs, 1); !errors.Is(err, ErrNoSite) {
		t.Errorf("an unknown site: %v", err)
	}
}

// Debug information may name any file: only source text is read.
func TestReadSourceRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, data []byte) {
		if err := os.WriteFile(at(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good.F90", []byte("end\xff\n"))
	write("key.pem", []byte("secret"))
	write("binary.c", []byte("a\x00b"))
	write("large.c", bytes.Repeat([]byte("a"), MostSource+1))
	for name, target := range map[string]string{"link.c": "key.pem", "fine.c": "good.F90"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("pipe.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("directory.c"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"good.F90", "fine.c"} {
		if text, _, err := readSource(at(name)); err != nil || string(text) != "end\uFFFD\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for name, says := range map[string]string{
		at("key.pem"): "not the name", at("binary.c"): "not text", at("large.c"): "larger than 4 MiB", at("link.c"): "not the name", at("pipe.c"): "not a regular file",
		at("directory.c"): "not a regular file", at("none.c"): "no such file", "good.F90": "no directory",
	} {
		if _, _, err := readSource(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", name, err, says)
		}
	}
}
