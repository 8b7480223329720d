package waits

// tally has a value for each of some causes, in the order in which these were found.
type tally[V any] struct {
	list   []tallied[V]
	places []int32 // a hash table: one more than the place in list; 0: none
}

type tallied[V any] struct {
	cause
	value V
}

// fewTallied is how many causes are searched one by one.
const fewTallied = 8

func (t *tally[V]) clear() {
	if len(t.list) > fewTallied {
		clear(t.places)
	}
	t.list = t.list[:0]
}

// at returns the value of a cause, until the next call.
func (t *tally[V]) at(c cause) *V {
	if len(t.list) <= fewTallied {
		for i := range t.list {
			if t.list[i].cause == c {
				return &t.list[i].value
			}
		}
		t.list = append(t.list, tallied[V]{cause: c})
		if len(t.list) > fewTallied {
			t.rehash()
		}
		return &t.list[len(t.list)-1].value
	}
	place := t.find(c)
	if *place == 0 {
		t.list = append(t.list, tallied[V]{cause: c})
		*place = int32(len(t.list))
		if 2*len(t.list) > len(t.places) {
			t.rehash()
		}
		return &t.list[len(t.list)-1].value
	}
	return &t.list[*place-1].value
}

// find returns where in the table a cause is, or would be.
func (t *tally[V]) find(c cause) *int32 {
	const multiplier = 0x9e3779b97f4a7c15
	hash := (uint64(uint32(c.process))<<32 | uint64(uint32(c.region))) * multiplier
	hash = (hash>>32 ^ uint64(uint32(c.section))) * multiplier
	mask := uint64(len(t.places) - 1)
	for at := hash >> 32 & mask; ; at = (at + 1) & mask {
		if i := t.places[at]; i == 0 || t.list[i-1].cause == c {
			return &t.places[at]
		}
	}
}

// rehash makes a table with room.
func (t *tally[V]) rehash() {
	size := 4 * fewTallied
	for size < 4*len(t.list) {
		size *= 2
	}
	if size > len(t.places) {
		t.places = make([]int32, size)
	} else {
		clear(t.places)
	}
	for i := range t.list {
		*t.find(t.list[i].cause) = int32(i + 1)
	}
}
