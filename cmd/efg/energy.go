package main

import (
	"fmt"
	"io"

	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
)

// mostMachines is how many machines efg info lists the energy of.
const mostMachines = 5

// writeEnergy writes a line for each machine: what its counters counted.
func (s *infoWriter) writeEnergy(w io.Writer) {
	if s.Energy == nil {
		return
	}
	fmt.Fprintf(w, "energy\t%s\n", joules(s.Energy.Joules))
	machines := 0
	for i := range s.Energy.Zones {
		z := &s.Energy.Zones[i]
		if i == 0 || z.Host != s.Energy.Zones[i-1].Host {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if machines++; machines > mostMachines {
				fmt.Fprintln(w, "\tand of more machines, which --json lists")
				return
			}
			fmt.Fprintf(w, "\tof %s:", z.Host)
		} else {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, " %s %s (%.1f W)", z.Zone, joules(z.Joules), z.Watts)
	}
	fmt.Fprintln(w)
}

// joules writes an energy.
func joules(j float64) string {
	switch {
	case j >= 1e5:
		return fmt.Sprintf("%.1f kJ", j/1e3)
	case j >= 100:
		return fmt.Sprintf("%.1f J", j)
	}
	return fmt.Sprintf("%.2f J", j)
}

// energy writes a table of the machines' counters.
func (w *countersWriter) energy(e *jsondoc.Energy) {
	if e == nil {
		return
	}
	fmt.Fprintf(w, "\nEnergy of the machines while the command ran: %s\n", joules(e.Joules))
	t := &terminal.Table{}
	t.Right("energy", "power", "time")
	t.Left("counter", "machine")
	for i := range e.Zones {
		z := &e.Zones[i]
		t.Row(joules(z.Joules), fmt.Sprintf("%.1f W", z.Watts), fmt.Sprintf("%.3f s", z.Seconds), z.Zone, z.Host)
	}
	t.Write(w)
}
