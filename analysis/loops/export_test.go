package loops

import "github.com/efg-tools/efg/efg"

// Decisions is how many branch runs are taken one by one when a stream's loops
// are counted.
func Decisions(s *efg.Stream) int {
	g, err := newGraph(s)
	if err != nil {
		return -1
	}
	f := newFinder(g)
	f.find()
	p := f.newPass()
	if err := p.walk(); err != nil {
		return -1
	}
	return p.looked
}
