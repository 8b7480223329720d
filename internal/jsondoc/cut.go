package jsondoc

// CutRanges keeps at most this many ranges of ranks in each list of a document: for 100,000
// irregularly different ranks they are most of it.
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
	case *Loops:
		for i := range d.Groups {
			cut(&d.Groups[i].Ranks)
		}
	}
}
