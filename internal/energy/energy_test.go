package energy

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
)

// put writes a file of a tree as sysfs has it.
func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree is a machine with two processors, one of which has a part and memory. The type intel-rapl-mmio counts the
// first one again.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "intel-rapl", "enabled"), "1")
	for zone, name := range map[string]string{
		"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "dram", "intel-rapl:1": "package-1", "intel-rapl-mmio:0": "package-0",
	} {
		put(t, filepath.Join(dir, zone, "name"), name)
		put(t, filepath.Join(dir, zone, "energy_uj"), "1000")
		put(t, filepath.Join(dir, zone, "max_energy_range_uj"), "65000")
	}
	return dir
}

func checkSums(t *testing.T, m *Meter, want map[string]uint64) {
	t.Helper()
	list := m.Sums()
	if len(list) != len(want) {
		t.Errorf("%d counters, want %d", len(list), len(want))
	}
	host, err := os.Hostname()
	for _, e := range list {
		if used, ok := want[e.Zone]; !ok || e.Microjoules != used || e.Nanoseconds == 0 || e.Host != host || err != nil {
			t.Errorf("%+v, want %d of %s", e, used, host)
		}
	}
}

// Sums are those of all readings, also across the largest value.
func TestSums(t *testing.T) {
	dir := tree(t)
	m, why := Open(dir)
	if m == nil || why != "" {
		t.Fatal(why)
	}
	file := func(zone string) string { return filepath.Join(dir, zone, "energy_uj") }
	put(t, file("intel-rapl:0"), "64000")
	put(t, file("intel-rapl:0:0"), "1001")
	m.Read()
	put(t, file("intel-rapl:0"), "500") // began again
	put(t, file("intel-rapl:0:1"), "7000")
	m.Read()
	put(t, file("intel-rapl:0"), "400") // and again
	sums := m.Follow()()
	checkSums(t, m, map[string]uint64{"package-0": 63000 + 1500 + 64500 + 400, "package-0/core": 1, "package-0/dram": 6000, "package-1": 0})
	if total, want := runfile.EnergyTotal(sums), uint64(63000+1500+64500+400+6000); total != want {
		t.Errorf("%d in all, want %d", total, want)
	}
}

// A counter that cannot be read is left out with a line, one that cannot be read any more keeps its sum.
func TestUnreadable(t *testing.T) {
	dir := tree(t)
	bad := filepath.Join(dir, "intel-rapl:0:0", "energy_uj")
	put(t, bad, "none")
	m, why := Open(dir)
	if m == nil || !strings.Contains(why, bad) || strings.Contains(why, "\n") {
		t.Fatalf("%v, %q", m, why)
	}
	put(t, filepath.Join(dir, "intel-rapl:1", "energy_uj"), "1800")
	m.Read()
	if err := os.RemoveAll(filepath.Join(dir, "intel-rapl:1")); err != nil {
		t.Fatal(err)
	}
	m.Read()
	checkSums(t, m, map[string]uint64{"package-0": 0, "package-0/dram": 0, "package-1": 800})
}

// A machine without counters, or with none for this user, is no error but a line.
func TestNone(t *testing.T) {
	empty := t.TempDir()
	put(t, filepath.Join(empty, "intel-rapl", "enabled"), "1")
	locked := t.TempDir()
	if err := os.MkdirAll(filepath.Join(locked, "intel-rapl:0", "energy_uj"), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		filepath.Join(empty, "missing"): "has no energy counters", empty: "has no energy counters", locked: "is a directory",
	} {
		if m, why := Open(dir); m != nil || !strings.Contains(why, want) || strings.Contains(why, "\n") {
			t.Errorf("%s: %v, %q", dir, m, why)
		}
	}
	if why := explain("energy_uj", &fs.PathError{Op: "open", Path: "energy_uj", Err: fs.ErrPermission}); !strings.Contains(why, "only root may read it") {
		t.Error(why)
	}
	var none *Meter
	if sums := none.Follow()(); sums != nil {
		t.Errorf("%+v", sums)
	}
}
