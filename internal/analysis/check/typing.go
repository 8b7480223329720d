package check

// data is a number of elements of a datatype, as words.
type data struct{ datatype, count uint64 }

// typeSummary is the datatype of the messages of one side, if all have the same.
type typeSummary struct {
	unit  *typeSignature // nil before the first one
	least uint64         // basic datatypes of the shortest nonempty one
	mixed bool           // different datatypes, or some that are unknown
	open  bool           // some are unknown, or match all others
	empty bool           // some are empty, and match all others
}

// note adds messages.
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

// join adds the messages of another summary.
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

// differs reports whether no message that is sent matches a receive, except empty ones.
func (y *typeSummary) differs(in *typeSummary) bool {
	return !y.mixed && !in.mixed && y.unit != nil && in.unit != nil && !y.unit.agrees(in.unit, y.least)
}

// varies reports whether the datatypes are known and differ.
func (y *typeSummary) varies() bool { return y.mixed && !y.open && !y.empty }
