package sql

import "github.com/efg-tools/efg/efg/runfile"

const energyColumns = `host TEXT, zone TEXT, joules REAL, seconds REAL, watts REAL, total INTEGER`

// openEnergy opens the energy counters of the machines: no constraints are passed to it.
func openEnergy(db *Database, _ *request) (rows, error) {
	var list [][]any
	energies := db.run.Meta.EnergyOf()
	for i := range energies {
		e, total := &energies[i], int64(0)
		if e.Apart() {
			total = 1
		}
		list = append(list, []any{e.Host, e.Zone, float64(e.Microjoules) / 1e6, float64(e.Nanoseconds) / 1e9, e.Watts(), total})
	}
	return &listed{procs: []int{0}, more: func(int) ([][]any, error) { return list, nil }}, nil
}

func countEnergy(run *runfile.Run) float64 { return float64(len(run.Meta.Energy)) }
