package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

// powercap makes a tree as sysfs has it, of a processor and its memory, and returns the commands by which the
// machine uses 2.5 J and 0.25 J; the processor's counter begins again meanwhile.
func powercap(t *testing.T) (dir, use string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"intel-rapl:0/name": "package-0", "intel-rapl:0/energy_uj": "9500000", "intel-rapl:0/max_energy_range_uj": "10000000",
		"intel-rapl:0:0/name": "dram", "intel-rapl:0:0/energy_uj": "100000", "intel-rapl:0:0/max_energy_range_uj": "10000000",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, "echo 2000000 > '" + dir + "/intel-rapl:0/energy_uj'; echo 350000 > '" + dir + "/intel-rapl:0:0/energy_uj'"
}

// The energy of the machine is that which its counters have counted while the command ran, and everything shows it.
func TestEnergy(t *testing.T) {
	for i, m := range mpis {
		program := compileMPI(t, m, "../../../testdata/c/selfsend.c")
		dir, use := powercap(t)
		t.Setenv("EFG_POWERCAP", dir)
		file := filepath.Join(t.TempDir(), "energy.efg")
		names := []string{"energy", "page-faults,energy"}[i]
		args := slices.Concat([]string{"run", "--counters", names, "-o", file, "--", "sh", "-c", `"$@" && ` + use, "sh"}, m.launcher, []string{program})
		if _, errOut, status := efgRun(t, nil, args...); status != 0 || strings.Contains(errOut, "not counted") {
			t.Fatalf("%s: status %d: %s", m.name, status, errOut)
		}
		throughText(t, file)
		checkEnergy(t, file, names == "energy")
	}
}

func checkEnergy(t *testing.T, file string, alone bool) {
	t.Helper()
	var info jsondoc.Info
	var counters jsondoc.Counters
	for command, doc := range map[string]any{"info": &info, "report": &counters} {
		args := []string{command, file, "--json"}
		if command == "report" {
			args = append(args, "--counters")
		}
		out, errOut, status := efgRun(t, nil, args...)
		if err := json.Unmarshal([]byte(out), doc); err != nil || status != 0 {
			t.Fatalf("%s: status %d, %v: %s", command, status, err, errOut)
		}
	}
	for _, e := range []*jsondoc.Energy{info.Energy, counters.Energy} {
		if e == nil || e.Joules != 2.75 || len(e.Zones) != 2 || e.Zones[0].Zone != "package-0" || e.Zones[0].Joules != 2.5 || e.Zones[1].Zone != "package-0/dram" || e.Zones[1].Joules != 0.25 {
			t.Fatalf("%+v", e)
		}
		if z := &e.Zones[0]; z.Seconds <= 0 || math.Abs(z.Watts*z.Seconds-2.5) > 1e-6 {
			t.Errorf("%v W for %v s", z.Watts, z.Seconds)
		}
	}
	if alone != (len(counters.Rows) == 0) || alone != (len(counters.Counters) == 0) {
		t.Errorf("alone: %v, but %d rows", alone, len(counters.Rows))
	}
	for _, command := range []string{"info", "report --counters"} {
		f := strings.Fields(command)
		out, errOut, status := efgRun(t, nil, slices.Insert(f, 1, file)...)
		for _, want := range []string{"2.75 J", "2.50 J", "0.25 J", "package-0/dram"} {
			if status != 0 || !strings.Contains(out, want) {
				t.Errorf("%s: no %q: status %d, %s:\n%s", command, want, status, errOut, out)
			}
		}
	}
	out, errOut, status := efgRun(t, nil, "sql", file, "select zone, joules, total from energy where host = (select distinct host from ranks) order by joules", "--format", "csv")
	if want := "zone,joules,total\npackage-0/dram,0.25,1\npackage-0,2.5,1\n"; status != 0 || strings.ReplaceAll(out, "\r", "") != want {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
}

// A machine without energy counters is named in one line, and the program runs and is recorded.
func TestEnergyMissing(t *testing.T) {
	m := mpis[1]
	program := compileMPI(t, m, "../../../testdata/c/selfsend.c")
	t.Setenv("EFG_POWERCAP", filepath.Join(t.TempDir(), "none"))
	file := filepath.Join(t.TempDir(), "energy.efg")
	_, errOut, status := efgRun(t, nil, slices.Concat([]string{"run", "--counters", "energy", "-o", file, "--"}, m.launcher, []string{program})...)
	if want := "efg: counters: not counted: energy: " + os.Getenv("EFG_POWERCAP") + " has no energy counters (virtual machines and some processors have none)\n"; status != 0 || withoutBuilds(errOut) != want {
		t.Errorf("status %d: %q", status, errOut)
	}
	if out, errOut, status := efgRun(t, nil, "info", file); status != 0 || strings.Contains(out, "energy ") {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
	if _, errOut, status := efgRun(t, nil, "report", file, "--counters"); status != 2 || !strings.Contains(errOut, "nothing was counted") {
		t.Errorf("status %d: %s", status, errOut)
	}
}
