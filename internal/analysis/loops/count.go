package loops

// sum counts the entries of a loop and sums their iterations.
type sum struct {
	open                    bool
	now                     uint64 // iterations of the current entry
	entries, total          uint64
	least, most             uint64
	first, last             uint64 // entry
	middleLeast, middleMost uint64 // of the entries in between
}

// close ends the current entry.
func (s *sum) close() {
	if s.open {
		s.add(s.now, 1)
	}
	s.open, s.now = false, 0
}

// add adds n entries of equally many iterations.
func (s *sum) add(iterations, n uint64) {
	for ; n > 0; n-- {
		s.addOne(iterations)
		if s.entries > 2 && s.last == iterations && s.middleLeast <= iterations && s.middleMost >= iterations {
			s.entries += n - 1 // further ones change nothing else
			s.total += (n - 1) * iterations
			return
		}
	}
}

func (s *sum) addOne(iterations uint64) {
	switch s.entries {
	case 0:
		s.first, s.least, s.most = iterations, iterations, iterations
	case 1:
	case 2:
		s.middleLeast, s.middleMost = s.last, s.last
	default:
		s.middleLeast, s.middleMost = min(s.middleLeast, s.last), max(s.middleMost, s.last)
	}
	s.entries++
	s.total += iterations
	s.least, s.most = min(s.least, iterations), max(s.most, iterations)
	s.last = iterations
}

// enter counts n consecutive entries, each with one iteration so far.
func (s *sum) enter(n uint64) {
	s.close()
	s.add(1, n-1)
	s.open, s.now = true, 1
}

// strict reports whether the loop was iterated equally often, and more than once, at each of
// several entries.
func (s *sum) strict() bool { return s.entries > 1 && s.least == s.most && s.most > 1 }

// fewEntries is the number of entries from which the first and the last one may differ from the
// others, and from which an irregular loop counts as one.
const fewEntries = 4

// regular reports whether the loop was iterated equally often, and more than once, at each
// entry, except perhaps the first and the last.
func (s *sum) regular() bool {
	if s.entries < fewEntries {
		return s.least == s.most && s.most > 1
	}
	return s.middleLeast == s.middleMost && s.middleMost > 1
}

// counter counts the iterations of the loops of a family.
type counter struct {
	// sums has n*n elements. Those of the loop at level c are number c*n+d-1 if the next loop
	// in it is at level d, where d is n if there is none.
	sums []sum
	n    int // levels
	// trials count the loops around all steps to the header except those of one latch and of
	// the settled levels.
	trials  []sum
	settled int
}

// outside is the level of a step from outside all loops of a family, and the number of a latch
// that is not on trial.
const outside = -1

func (c *counter) at(level, inner int) *sum { return &c.sums[level*c.n+inner-1] }

// arrive counts n consecutive steps to the header from a latch of a level, which may be on
// trial.
func (c *counter) arrive(level, trial int, n uint64) {
	for i := range c.n {
		for d := i + 1; d <= c.n; d++ {
			switch {
			case level < i:
				c.at(i, d).enter(n)
			case level < d:
				c.at(i, d).now += n
			}
		}
	}
	for t := range c.trials {
		if level < c.settled || trial == t {
			c.trials[t].enter(n)
		} else {
			c.trials[t].now += n
		}
	}
}

// beside counts an entry that does not lead to the header.
func (c *counter) beside() {
	c.sums[0].close()
	c.sums[0].open = true
}

func (c *counter) close() {
	for i := range c.sums {
		c.sums[i].close()
	}
	for i := range c.trials {
		c.trials[i].close()
	}
}

// isLoop decides whether the candidate of a level is a loop of its own. inner is
// the level of the next loop in it.
func (c *counter) isLoop(level, inner int) bool {
	s := c.at(level, inner)
	if s.regular() {
		return true
	}
	for around := level - 1; around > 0; around-- {
		if c.at(around, inner).regular() {
			return false
		}
	}
	return s.entries >= fewEntries && s.total >= 2*s.entries
}
