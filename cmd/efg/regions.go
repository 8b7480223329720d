package main

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

// regionTable shows regions, each under the one around it.
func regionTable(rep *regions.Report, rows []regions.Row) *terminal.Table {
	t := &terminal.Table{}
	t.Names("region")
	t.Right("visits")
	t.Details("ranks", "calls", "sent")
	if rep.Timed {
		t.Right("time/rank")
		t.Details("own", "per visit")
		t.Shares("MPI")
	}
	if rep.Waits {
		t.Shares("waiting")
	}
	if rep.Timed {
		t.Details("longest", "of rank")
		t.Right("balance")
	}
	for i := range rows {
		t.Row(regionCells(rep, &rows[i])...)
	}
	return t
}

func regionCells(rep *regions.Report, r *regions.Row) []string {
	visits := "-"
	if len(r.Names) > 0 {
		visits = grouped(r.Visits)
	}
	cells := []string{regionName(r.Names), visits, grouped(uint64(r.Ranks)), grouped(r.All.Calls), byteCell(r.All.Volume.Sent)}
	about := ""
	if r.About {
		about = "~"
	}
	ranks := float64(max(r.Ranks, 1))
	if rep.Timed {
		perVisit := "-"
		if r.Visits > 0 {
			perVisit = about + units.Nanoseconds(r.All.Time/float64(r.Visits))
		}
		cells = append(cells, about+units.Nanoseconds(r.All.Time/ranks), about+units.Nanoseconds(r.Own.Time/ranks), perVisit, shareOf(r.All.MPI, r.All.Time))
	}
	if rep.Waits {
		cells = append(cells, shareOf(float64(r.All.Waiting), r.All.Time))
	}
	if rep.Timed {
		cells = append(cells, about+units.Nanoseconds(r.MostUseful), fmt.Sprint(r.MostRank), fmt.Sprintf("%.1f%%", 100*r.LoadBalance()))
	}
	return cells
}

// regionName names a region under the one around it.
func regionName(names []string) string {
	if len(names) == 0 {
		return "outside of regions"
	}
	return strings.Repeat("  ", len(names)-1) + names[len(names)-1]
}

func shareOf(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*part/whole)
}

// regionNotes says what the table does not.
func regionNotes(w *terminal.Screen, rep *regions.Report) {
	for i := range rep.Rows {
		if rep.Rows[i].About {
			fmt.Fprintf(w, "\nnote: ~ times of calls that are in several regions are divided by their numbers\n")
			break
		}
	}
	if rep.Folded {
		fmt.Fprintf(w, "\nnote: very many or very deep regions are part of those around them\n")
	}
}
