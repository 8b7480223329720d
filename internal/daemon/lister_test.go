package daemon

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// A run is read only once; added and removed runs are noticed, and all are in order.
func TestLister(t *testing.T) {
	s := &Store{t.TempDir()}
	add := func(i int) {
		name := fmt.Sprint("run", i)
		write(t, s.RunFile(name), nil)
		write(t, s.path(name, summaryExt), fmt.Appendf(nil, `{"version":1,"name":%q,"started":"2026-01-%02dT00:00:00Z"}`, name, i))
	}
	encoded := 0
	l := NewLister(s, func(x Summary) Text {
		return func() []byte { encoded++; return []byte(x.Name) }
	})
	check := func(want ...string) {
		t.Helper()
		list, texts, err := l.List()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range list {
			got = append(got, list[i].Name)
			if text := string(texts[i]()); text != list[i].Name {
				t.Errorf("the text of %s is %s", list[i].Name, text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		plain, err := s.List()
		if err != nil || len(plain) != len(list) {
			t.Errorf("%d runs, %v", len(plain), err)
		}
	}
	add(5)
	add(12)
	check("run5", "run12")
	add(7)
	check("run5", "run7", "run12")
	if err := os.WriteFile(s.path("run7", summaryExt), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, _, err := l.List(); err != nil || len(list) != 3 {
		t.Errorf("%d runs: what was read was read again; %v", len(list), err)
	}
	if err := s.remove("run7"); err != nil {
		t.Fatal(err)
	}
	check("run5", "run12")
	add(7)
	add(1)
	check("run1", "run5", "run7", "run12")
	if err := os.Mkdir(s.path("run12", ""), 0o700); err != nil { // it has parts, so it may be written again
		t.Fatal(err)
	}
	check("run1", "run5", "run7", "run12")
	write(t, s.path("run12", summaryExt), []byte(`{"version":1,"started":"2025-01-01T00:00:00Z"}`))
	check("run12", "run1", "run5", "run7")
	write(t, s.path("run12", summaryExt), []byte(`{"version":1,"started":"2027-01-01T00:00:00Z"}`))
	if err := os.Remove(s.path("run12", "")); err != nil {
		t.Fatal(err)
	}
	check("run1", "run5", "run7", "run12")
}
