// Package energy reads the energy that a machine uses, as its processors count it: RAPL, by the
// powercap interface of Linux. Counters are of the whole machine, count at all times, start again from
// zero, and change about a thousand times a second: they say nothing about single calls.
package energy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
)

const (
	// directory is where Linux shows the counters.
	directory = "/sys/class/powercap"
	// DirectoryVar names another one in the environment.
	DirectoryVar = "EFG_POWERCAP"
	// maxZones bounds the counters of a machine.
	maxZones = 256
	// interval is the time between readings. The smallest counters start again after 65 kJ: at 6 kW not
	// within it.
	interval = 10 * time.Second
)

// zone is a counter: of a processor, a part of it, or its memory.
type zone struct {
	name  string
	file  string
	wraps uint64 // the largest value; 0: unknown
	last  uint64
	used  uint64    // µJ
	until time.Time // the last reading
}

// Meter sums the energy that a machine has used since it was opened. It is not safe for concurrent use.
type Meter struct {
	began time.Time
	zones []zone
}

// Directory is where counters are looked for.
func Directory() string { return cmp.Or(os.Getenv(DirectoryVar), directory) }

// Open finds the counters in a directory and reads them for the first time. Those that cannot be read are left
// out. why is a line about these; the meter is nil if there are no others.
func Open(dir string) (m *Meter, why string) {
	// intel-rapl also has the processors of AMD. Other types show the same counters again.
	paths, err := filepath.Glob(filepath.Join(dir, "intel-rapl:*"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Sprintf("%s has no energy counters (virtual machines and some processors have none)", dir)
	}
	m = &Meter{began: time.Now()}
	for _, path := range paths[:min(len(paths), maxZones)] {
		z := zone{name: nameOf(path), file: filepath.Join(path, "energy_uj")}
		if z.last, err = number(z.file); err != nil {
			if why == "" {
				why = explain(z.file, err)
			}
			continue
		}
		z.wraps, _ = number(filepath.Join(path, "max_energy_range_uj")) // 0 if that is unknown
		z.until = time.Now()
		m.zones = append(m.zones, z)
	}
	if len(m.zones) == 0 {
		return nil, why
	}
	return m, why
}

// nameOf names a counter, a part of another by that one's name, too: package-0/dram.
func nameOf(path string) string {
	name := strings.TrimPrefix(filepath.Base(path), "intel-rapl:")
	if data, err := os.ReadFile(filepath.Join(path, "name")); err == nil && len(strings.Fields(string(data))) > 0 {
		name = strings.Join(strings.Fields(string(data)), "-")
	}
	if i := strings.LastIndexByte(path, ':'); strings.Count(filepath.Base(path), ":") > 1 {
		return nameOf(path[:i]) + "/" + name
	}
	return name
}

func number(file string) (uint64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
}

func explain(file string, err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return file + ": permission denied (since Linux 5.10 only root may read it, unless the administrator allows others to)"
	case errors.As(err, &p):
		err = p.Err
	}
	return fmt.Sprintf("%s: %v", file, err)
}

// Read adds what was used since the last reading. A counter that cannot be read any more keeps its sum.
func (m *Meter) Read() {
	for i := range m.zones {
		z := &m.zones[i]
		v, err := number(z.file)
		switch {
		case err != nil:
			continue
		case v >= z.last:
			z.used += v - z.last
		case z.wraps >= z.last:
			z.used += z.wraps - z.last + v
		default:
			z.used += v // it was reset, or begins again at an unknown value: at least this much
		}
		z.last, z.until = v, time.Now()
	}
}

// Sums are what was used until the last reading of each counter.
func (m *Meter) Sums() (list []runfile.Energy) {
	host, _ := os.Hostname() // "" is shown as unknown
	for i := range m.zones {
		z := &m.zones[i]
		list = append(list, runfile.Energy{Host: host, Zone: z.name, Microjoules: z.used, Nanoseconds: uint64(max(0, z.until.Sub(m.began)))})
	}
	slices.SortFunc(list, func(a, b runfile.Energy) int { return cmp.Compare(a.Zone, b.Zone) })
	return list
}

// Follow reads the counters from time to time, often enough for those that start again from zero, until the
// function that it returns is called. That one reads them once more and returns the sums. m may be nil: no
// sums.
func (m *Meter) Follow() (stop func() []runfile.Energy) {
	if m == nil {
		return func() []runfile.Energy { return nil }
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.Read()
			case <-done:
				return
			}
		}
	}()
	return func() []runfile.Energy {
		close(done)
		<-ended
		m.Read()
		return m.Sums()
	}
}
