package runfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Energy is what a counter of a machine counted while the command ran: of whatever ran there.
type Energy struct {
	Host string
	// Zone is what it is a counter of: package-0 is a processor, package-0/dram its memory, package-0/core a
	// part of it, psys the whole machine.
	Zone        string
	Microjoules uint64
	Nanoseconds uint64 // how long it was read
}

// Text is how a file has it: numbers, zone and host, separated by spaces.
func (e *Energy) Text() string {
	return fmt.Sprintf("%d %d %s %s", e.Microjoules, e.Nanoseconds, e.Zone, e.Host)
}

// Watts is the mean power.
func (e *Energy) Watts() float64 {
	return float64(e.Microjoules) * 1000 / float64(max(e.Nanoseconds, 1))
}

// Apart reports whether the counter has what no other has: the others have a part of what these have, or all
// of it again.
func (e *Energy) Apart() bool {
	top, part, nested := strings.Cut(e.Zone, "/")
	return strings.HasPrefix(top, "package") && (!nested || part == "dram")
}

// EnergyTexts are energies as Meta has them.
func EnergyTexts(list []Energy) (texts []string) {
	for i := range list {
		texts = append(texts, list[i].Text())
	}
	return texts
}

// EnergyOf is the energy that a file says, by host and zone, without what no version has written.
func (m *Meta) EnergyOf() (list []Energy) {
	for _, text := range m.Energy {
		var e Energy
		if n, _ := fmt.Sscanf(text, "%d %d %s %s", &e.Microjoules, &e.Nanoseconds, &e.Zone, &e.Host); n >= 3 {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(x, y Energy) int { return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Zone, y.Zone)) })
	return list
}

// EnergyTotal sums the counters of all hosts that have nothing in common.
func EnergyTotal(list []Energy) (microjoules uint64) {
	for i := range list {
		if list[i].Apart() {
			microjoules += list[i].Microjoules
		}
	}
	return microjoules
}

// maxEnergies bounds Meta.Energy.
const maxEnergies = 4096

// joinEnergy combines the energies of parts. Several efg run on a machine have all read the same
// counters: the longest time of these counts.
func joinEnergy(a, b []string) []string {
	if len(a)+len(b) == 0 {
		return nil
	}
	both := Meta{Energy: slices.Concat(a, b)}
	var list []Energy
	for _, e := range both.EnergyOf() {
		last := len(list) - 1
		if last < 0 || list[last].Host != e.Host || list[last].Zone != e.Zone {
			list = append(list, e)
		} else if cmp.Or(cmp.Compare(e.Nanoseconds, list[last].Nanoseconds), cmp.Compare(e.Microjoules, list[last].Microjoules)) > 0 {
			list[last] = e
		}
	}
	return EnergyTexts(list[:min(len(list), maxEnergies)])
}
