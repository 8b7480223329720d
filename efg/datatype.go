package efg

// Datatype is what a datatype was made of, as MPI_Type_get_contents returns it.
type Datatype struct {
	Combiner uint64 // word of a constant
	Size     uint64 // bytes
	// Integers, Addresses and Counts are the arguments of its constructor; one with large counts has no integers.
	Integers, Addresses, Counts []uint64
	Types                       []uint64 // at least one
}

// Datatype reads the definition of a datatype; false if it does not say what the datatype was made of.
func (d *Def) Datatype() (t Datatype, ok bool) {
	const head = 6 // combiner, size, numbers of integers, addresses, counts and types
	if d == nil || d.Kind != DefType || len(d.Words) <= head {
		return t, false
	}
	t.Combiner, t.Size = d.Words[0], d.Words[1]
	rest := d.Words[head:]
	for i, list := range []*[]uint64{&t.Integers, &t.Addresses, &t.Counts, &t.Types} {
		n := d.Words[2+i]
		if n > uint64(len(rest)) {
			return t, false
		}
		*list, rest = rest[:n:n], rest[n:]
	}
	return t, len(rest) == 0 && len(t.Types) > 0
}
