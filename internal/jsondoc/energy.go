package jsondoc

import (
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/printable"
)

// Energy is what machines used while a command ran.
type Energy struct {
	// Joules sums the zones that have nothing in common: processors, and their memory.
	Joules float64      `json:"joules"`
	Zones  []EnergyZone `json:"zones"`
}

// EnergyZone is an energy counter of a machine.
type EnergyZone struct {
	Host    string  `json:"host"`
	Zone    string  `json:"zone"`
	Joules  float64 `json:"joules"`
	Seconds float64 `json:"seconds"`
	Watts   float64 `json:"watts"`
}

// NewEnergy is nil if no energy was counted.
func NewEnergy(m *runfile.Meta) *Energy {
	list := m.EnergyOf()
	if len(list) == 0 {
		return nil
	}
	e := &Energy{Joules: float64(runfile.EnergyTotal(list)) / 1e6}
	for i := range list {
		z := &list[i]
		e.Zones = append(e.Zones, EnergyZone{
			printable.Line(z.Host), printable.Line(z.Zone), float64(z.Microjoules) / 1e6, float64(z.Nanoseconds) / 1e9, z.Watts(),
		})
	}
	return e
}
