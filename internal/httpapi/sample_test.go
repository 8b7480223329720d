package httpapi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/testing/sim"
)

const testToken = "the-token-of-the-tests"

// samples is a directory with simulated runs: halo.efg of 8 ranks, mesh.efg of 27, traced.efg
// of 4 with the times of each call, hosts.efg of 256 on four hosts with these; and in segments those of a job of 3 ranks.
var samples string

func TestMain(m *testing.M) {
	if address := os.Getenv(dialVar); address != "" {
		os.Exit(dial(address))
	}
	if socket := os.Getenv(clientVar); socket != "" {
		os.Exit(client(socket))
	}
	if how := os.Getenv(workerVar); how != "" {
		os.Exit(worker(how))
	}
	os.Exit(func() int {
		var err error
		if samples, err = os.MkdirTemp("", "efg-api-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(samples)
		if err := makeSamples(samples); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

func makeSamples(dir string) error {
	feeder := filepath.Join(dir, "feeder")
	if err := sim.BuildFeeder("../..", feeder); err != nil {
		return err
	}
	for name, c := range map[string]sim.Config{
		"halo":     {Program: "halo", Ranks: 8, Steps: 10, Seed: 1, Stats: true},
		"mesh":     {Program: "mesh", Ranks: 27, Steps: 8, Seed: 1},
		"traced":   {Program: "halo", Ranks: 4, Steps: 20, Seed: 1, Trace: true},
		"segments": {Program: "halo", Ranks: 3, Steps: 12, Seed: 2, Stats: true},
	} {
		files := filepath.Join(dir, name)
		if err := os.Mkdir(files, 0o700); err != nil {
			return err
		}
		if err := c.WriteSegments(feeder, files, 1); err != nil {
			return err
		}
		if name == "segments" {
			continue
		}
		list, err := filepath.Glob(filepath.Join(files, "*.seg"))
		if err != nil {
			return err
		}
		if _, err := merge.Run(list, merge.Options{Output: files + ".efg", Workers: 1, Tool: "test"}); err != nil {
			return err
		}
	}
	list, err := sim.Config{Program: "halo", Ranks: 256, Steps: 8, Periodic: true}.TracedNodes(dir, 1)
	if err != nil {
		return err
	}
	_, err = merge.Run(list, merge.Options{Output: filepath.Join(dir, "hosts.efg"), Workers: 1, Tool: "test"})
	return err
}

// sampleFiles are the runs of samples.
func sampleFiles(t testing.TB, paths ...string) *Files {
	t.Helper()
	for _, name := range []string{"halo", "mesh", "traced"} {
		paths = append(paths, filepath.Join(samples, name+".efg"))
	}
	f, err := NewFiles(paths, paths)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sampleStore is a store with the runs "halo" and "mesh", and a spool with a job of 3
// ranks.
func sampleStore(t testing.TB) (store *daemon.Store, spool *daemon.Spool) {
	t.Helper()
	store, err := daemon.OpenStore(filepath.Join(t.TempDir(), "store"), true)
	if err != nil {
		t.Fatal(err)
	}
	if spool, err = daemon.OpenSpool(filepath.Join(t.TempDir(), "spool"), true); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"halo", "mesh"} {
		copyTo(t, filepath.Join(samples, name+".efg"), store.RunFile(name))
		text := fmt.Sprintf(`{"version":1,"name":%q,"command":["/opt/sim/%s","10"],"started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:06Z","ranks":8,"size":8,"events":100,"bytes":99,"complete":true}`, name, name)
		if err := os.WriteFile(filepath.Join(store.Dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := filepath.Glob(filepath.Join(samples, "segments", "*.seg"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		copyTo(t, path, filepath.Join(spool.Dir, filepath.Base(path)))
	}
	return store, spool
}

func copyTo(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
