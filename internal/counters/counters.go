// Package counters knows what can be counted at each call: hardware events, and what the kernel
// counts of threads; by the names that perf, PAPI and people use.
package counters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
)

// Sources of counters: types of perf events, and two of the hook's own.
const (
	hardware = 0
	software = 1
	cache    = 3
	raw      = 4
	usage    = 256 // getrusage of the thread
	clock    = 257 // processor time of the thread
	machine  = 258 // of the machine: not read at calls
)

// Counter is something that can be counted.
type Counter struct {
	Name   string
	Unit   string // "": a number of events
	Source uint32
	Config uint64
	Other  []string // names that stand for the same
	Means  string
}

// Values of config for cache events: cache | operation<<8 | result<<16.
const (
	l1d, l1i, lastLevel, dtlb, itlb = 0, 1, 2, 3, 4

	write    = 1 << 8
	missed   = 1 << 16
	accessed = 0
)

// known are all counters with names.
var known = []Counter{
	{"instructions", "", hardware, 1, []string{"PAPI_TOT_INS"}, "instructions of the program"},
	{"cycles", "", hardware, 0, []string{"PAPI_TOT_CYC", "cpu-cycles"}, "cycles in the program"},
	{"ref-cycles", "", hardware, 9, []string{"PAPI_REF_CYC"}, "cycles at the reference frequency"},
	{"cache-references", "", hardware, 2, []string{"PAPI_L3_TCA"}, "accesses to the last cache"},
	{"cache-misses", "", hardware, 3, []string{"PAPI_L3_TCM"}, "of these, misses"},
	{"branches", "", hardware, 4, []string{"PAPI_BR_INS", "branch-instructions"}, "branches"},
	{"branch-misses", "", hardware, 5, []string{"PAPI_BR_MSP"}, "mispredicted branches"},
	{"stalled-cycles-frontend", "", hardware, 7, nil, "cycles without instructions to execute"},
	{"stalled-cycles-backend", "", hardware, 8, []string{"PAPI_RES_STL"}, "cycles that wait for resources"},
	{"L1-dcache-loads", "", cache, l1d | accessed, []string{"PAPI_L1_DCA"}, "loads"},
	{"L1-dcache-load-misses", "", cache, l1d | missed, []string{"PAPI_L1_DCM", "PAPI_L1_LDM"}, "loads that miss the first cache"},
	{"L1-icache-load-misses", "", cache, l1i | missed, []string{"PAPI_L1_ICM"}, "instruction fetches that miss it"},
	{"LLC-loads", "", cache, lastLevel | accessed, nil, "loads from the last cache"},
	{"LLC-load-misses", "", cache, lastLevel | missed, []string{"PAPI_L3_LDM"}, "loads that miss it"},
	{"LLC-stores", "", cache, lastLevel | write, nil, "stores to the last cache"},
	{"dTLB-load-misses", "", cache, dtlb | missed, []string{"PAPI_TLB_DM"}, "loads whose page is not in the TLB"},
	{"iTLB-load-misses", "", cache, itlb | missed, []string{"PAPI_TLB_IM"}, "instruction fetches whose page is not"},
	{"task-clock", "ns", clock, 0, []string{"cpu-clock"}, "processor time of the thread"},
	{"page-faults", "", usage, 2, []string{"faults"}, "page faults"},
	{"minor-faults", "", usage, 0, nil, "those without input"},
	{"major-faults", "", usage, 1, nil, "those that read from a disk"},
	{"context-switches", "", usage, 3, []string{"cs"}, "how often the thread left its processor"},
	{"cpu-migrations", "", software, 4, []string{"migrations"}, "how often it moved to another one"},
	{"max-rss", "KiB", usage, 4, []string{"rss"}, "growth of the most memory that the process had"},
	{"energy", "µJ", machine, 0, nil, "energy of the machine"},
}

// Parse reads a list of names, with commas between them. What is named twice is counted once. energy is what
// machines count: it is not in the list.
func Parse(text string) (list []Counter, energy bool, err error) {
	if text == "" {
		return nil, false, nil
	}
	for _, name := range strings.Split(text, ",") {
		c, err := find(strings.TrimSpace(name))
		switch {
		case err != nil:
			return nil, false, err
		case c.Source == machine:
			energy = true
			continue
		}
		if !slices.ContainsFunc(list, func(o Counter) bool { return o.Name == c.Name }) {
			list = append(list, c)
		}
	}
	if len(list) > efg.MaxCounters {
		return nil, false, fmt.Errorf("%d counters: want at most %d", len(list), efg.MaxCounters)
	}
	return list, energy, nil
}

// usual are some of the names, for messages.
const usual = "instructions, cycles, branch-misses, cache-misses, L1-dcache-load-misses, task-clock, page-faults, context-switches, max-rss, energy"

func find(name string) (Counter, error) {
	for _, c := range known {
		if strings.EqualFold(c.Name, name) || slices.ContainsFunc(c.Other, func(o string) bool { return strings.EqualFold(o, name) }) {
			return c, nil
		}
	}
	if code, ok := strings.CutPrefix(name, "r"); ok && code != "" {
		if config, err := strconv.ParseUint(code, 16, 64); err == nil {
			return Counter{Name: "r" + strconv.FormatUint(config, 16), Source: raw, Config: config, Means: "event of this processor"}, nil
		}
	}
	return Counter{}, fmt.Errorf("unknown counter %q; known are %s, others that docs/counters.md lists, PAPI names, and rHEX, an event of this processor", name, usual)
}

// ForHook writes counters as the hook reads them: NAME:UNIT:SOURCE:CONFIG, ….
func ForHook(list []Counter) string {
	var b strings.Builder
	for i, c := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s:%d:%#x", c.Name, c.Unit, c.Source, c.Config)
	}
	return b.String()
}

// ForMeta are the counters as the metadata of a run has them.
func ForMeta(list []Counter) []string {
	var texts []string
	for i := range list {
		texts = append(texts, (&efg.Counter{Name: list[i].Name, Unit: list[i].Unit}).Text())
	}
	return texts
}
