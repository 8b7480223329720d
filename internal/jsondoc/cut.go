package jsondoc

// CutRanges keeps at most this many ranges of ranks, or ranks with their times, in each list of a
// document: for 100,000 irregularly different ranks they are most of it.
func CutRanges(v any, most int) {
	cut := func(list *[][3]int) { *list = (*list)[:min(most, len(*list))] }
	switch d := v.(type) {
	case *Overview:
		for i := range d.Classes {
			cut(&d.Classes[i].Ranks)
		}
		for i := range d.Outliers {
			cut(&d.Outliers[i].Ranks)
		}
	case *RunsDiff:
		for i := range d.Classes {
			cut(&d.Classes[i].Ranks[0])
			cut(&d.Classes[i].Ranks[1])
		}
	case *Waits:
		short := func(list *[][2]int64) { *list = (*list)[:min(most, len(*list))] }
		for i := range d.Rows {
			short(&d.Rows[i].Ranks)
			short(&d.Rows[i].ForRanks)
		}
		for i := range d.Causes {
			short(&d.Causes[i].Ranks)
		}
		short(&d.Path.Ranks)
	case *Loops:
		for i := range d.Groups {
			cut(&d.Groups[i].Ranks)
		}
	}
}

// CutRows keeps the first rows of waits, of causes and of the critical path.
func (j *Waits) CutRows(most int) {
	j.Rows = j.Rows[:min(most, len(j.Rows))]
	j.Causes = j.Causes[:min(most, len(j.Causes))]
	j.Path.Rows = j.Path.Rows[:min(most, len(j.Path.Rows))]
}
