package loops

import "github.com/efg-tools/efg/efg"

// Decisions is the number of branch runs that are taken one by one when a stream's loops are
// counted.
func Decisions(s *efg.Stream) int {
	f, err := bestFinder(s, naming{})
	if err != nil {
		return -1
	}
	p := f.newPass()
	if err := p.walk(); err != nil {
		return -1
	}
	return p.looked
}
