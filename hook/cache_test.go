package hook

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestPrune(t *testing.T) {
	cache := cache(t.TempDir())
	age := func(name string, d time.Duration) {
		t.Helper()
		dir := cache.path(name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-d)
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
	}
	for i := range keptBuilds + 3 {
		age(fmt.Sprintf("back-%02d", i), keptFor+time.Duration(i)*time.Hour)
	}
	age("back-used", keptFor/2)
	age("front-old", 10*keptFor)
	age(".back-interrupted", 2*keptFor)
	age(".back-running", time.Minute)
	cache.used("back-10")
	cache.prune("back")
	want := []string{".back-running", "back-00", "back-01", "back-02", "back-03", "back-04", "back-05", "back-10", "back-used", "front-old"}
	entries, err := os.ReadDir(string(cache))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("left %v, want %v", got, want)
	}
}
