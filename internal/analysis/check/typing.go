package check

// data are elements of a datatype, words.
type data struct{ datatype, count uint64 }

// typeSummary is of which datatypes the messages of one side are, if all are of the same.
type typeSummary struct {
	unit  *typeSignature // nil: none yet
	least uint64         // basic datatypes of the shortest that is not empty
	mixed bool           // of different ones, or of some that are unknown
	open  bool           // of some that are unknown, or fit all
	empty bool           // some are empty, and fit all
}

// note notes messages.
func (y *typeSummary) note(x *signatureFinder, d data) {
	if d.count == 0 {
		y.empty = true
		return
	}
	s := x.of(d.datatype)
	o := typeSummary{unit: s, least: s.elements(d.count)}
	if s.open() {
		o = typeSummary{mixed: true, open: true}
	}
	y.join(o)
}

// join adds what is noted of others.
func (y *typeSummary) join(o typeSummary) {
	y.mixed = y.mixed || o.mixed || y.unit != nil && o.unit != nil && y.unit.key != o.unit.key
	y.open = y.open || o.open
	y.empty = y.empty || o.empty
	switch {
	case o.unit == nil:
	case y.unit == nil:
		y.unit, y.least = o.unit, o.least
	default:
		y.least = min(y.least, o.least)
	}
}

// differs reports whether no message that is sent fits a receive, but for empty ones.
func (y *typeSummary) differs(in *typeSummary) bool {
	return !y.mixed && !in.mixed && y.unit != nil && in.unit != nil && !y.unit.agrees(in.unit, y.least)
}

// varies reports whether the datatypes are known and not all alike.
func (y *typeSummary) varies() bool { return y.mixed && !y.open && !y.empty }
