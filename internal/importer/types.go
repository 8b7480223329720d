package importer

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// constructor says what MPI_Type_get_contents returns for a datatype, by the names of the arguments
// of the call that made it: integers, addresses and datatypes.
type constructor struct{ integers, addresses, types string }

var constructors = map[string]constructor{
	"MPI_COMBINER_DUP":            {"", "", "oldtype"},
	"MPI_COMBINER_CONTIGUOUS":     {"count", "", "oldtype"},
	"MPI_COMBINER_VECTOR":         {"count blocklength stride", "", "oldtype"},
	"MPI_COMBINER_HVECTOR":        {"count blocklength", "stride", "oldtype"},
	"MPI_COMBINER_INDEXED":        {"count array_of_blocklengths array_of_displacements", "", "oldtype"},
	"MPI_COMBINER_HINDEXED":       {"count array_of_blocklengths", "array_of_displacements", "oldtype"},
	"MPI_COMBINER_INDEXED_BLOCK":  {"count blocklength array_of_displacements", "", "oldtype"},
	"MPI_COMBINER_HINDEXED_BLOCK": {"count blocklength", "array_of_displacements", "oldtype"},
	"MPI_COMBINER_STRUCT":         {"count array_of_blocklengths", "array_of_displacements", "array_of_types"},
	"MPI_COMBINER_SUBARRAY":       {"ndims array_of_sizes array_of_subsizes array_of_starts order", "", "oldtype"},
	"MPI_COMBINER_RESIZED":        {"", "lb extent", "oldtype"},
	"MPI_COMBINER_F90_REAL":       {"p r", "", ""},
	"MPI_COMBINER_F90_COMPLEX":    {"p r", "", ""},
	"MPI_COMBINER_F90_INTEGER":    {"r", "", ""},
	"MPI_COMBINER_DARRAY":         {"size rank ndims array_of_gsizes array_of_distribs array_of_dargs array_of_psizes order", "", "oldtype"},
}

// madeType sets the word of the datatype that a call makes. It defines the type by the call's
// arguments, if it is a constructor that efg knows; the word is the one that the recorder would have
// given it, if the name agrees.
func (x *described) madeType(q *signature.Param, v *Value) error {
	if _, known := x.thread.process.Names.defs[v.Text]; !known && v.Kind == Text && constantNamed(v.Text) == nil {
		if err := x.defineType(v.Text); err != nil {
			return err
		}
	}
	var err error
	x.in.Words[x.proc.Roles.Made], err = x.value(q, v)
	return err
}

func (x *described) defineType(name string) error {
	words, ok := x.typeWords()
	digits, named := strings.CutPrefix(name, reconstruct.HandlePrefix(signature.Type))
	if !ok || !named {
		return nil
	}
	if x.from.Large { // only its size is known
		return x.thread.process.Names.DefineType(name, int64(words[1]))
	}
	d := efg.Def{Kind: efg.DefType, Words: words}
	if d.Word = d.Identity(); !strings.HasPrefix(fmt.Sprintf("%016x", d.Word), digits) {
		var err error
		if d.Word, err = wordOf(signature.Type, digits); err != nil {
			return fmt.Errorf("%.60q: %w", name, err)
		}
	}
	n := x.thread.process.Names
	n.defs[name], n.sizes[d.Word] = d, words[1]
	return nil
}

// typeWords are the words of the definition of the datatype that the call makes: combiner, size,
// numbers of what follows, integers, addresses, large counts, types. Those of large-count calls are
// not those that MPI_Type_get_contents_c returns.
func (x *described) typeWords() ([]uint64, bool) {
	layout, ok := constructors[x.proc.Ctor]
	if !ok {
		return nil, false
	}
	integers, ok1 := x.arguments(layout.integers)
	addresses, ok2 := x.arguments(layout.addresses)
	types, ok3 := x.arguments(layout.types)
	size, ok4 := x.typeSize(types)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil, false
	}
	words := []uint64{signature.ConstWord(x.proc.Ctor), size, uint64(len(integers)), uint64(len(addresses)), 0, uint64(len(types))}
	return append(append(append(words, integers...), addresses...), types...), true
}

// arguments are the values of some arguments, one after the other.
func (x *described) arguments(names string) (list []uint64, ok bool) {
	for _, name := range strings.Fields(names) {
		i := x.wordNamed(name)
		switch {
		case i == 0:
			return nil, false
		case x.proc.Words[i].Form == signature.VecForm:
			elems := vec(&x.in, i)
			if elems == nil {
				return nil, false
			}
			list = append(list, elems...)
		case x.in.Words[i] == signature.Absent:
			return nil, false
		default:
			list = append(list, x.in.Words[i])
		}
	}
	return list, true
}

func (x *described) wordNamed(name string) int {
	for i := signature.ObjectWord; i < len(x.proc.Words); i++ {
		if x.proc.Words[i].Name == name {
			return i
		}
	}
	return 0
}

// typeSize is the size in bytes of the datatype that the call makes of others.
func (x *described) typeSize(types []uint64) (size uint64, ok bool) {
	var sizes []uint64
	for _, w := range types {
		n, ok := x.thread.process.TypeSize(w)
		if !ok {
			return 0, false
		}
		sizes = append(sizes, n)
	}
	if n, ok := x.fortranSize(); ok {
		return n, true
	}
	if x.proc.Ctor == "MPI_COMBINER_DARRAY" {
		n, ok := x.ownPart()
		return n * sizes[0], ok && len(sizes) == 1
	}
	lengths, _ := x.arguments("array_of_blocklengths")
	if x.proc.Ctor == "MPI_COMBINER_STRUCT" {
		for i := range lengths {
			if i < len(sizes) {
				size += lengths[i] * sizes[i]
			}
		}
		return size, true
	}
	if len(sizes) == 0 {
		return 0, false
	}
	n := uint64(1)
	switch parts, _ := x.arguments("array_of_subsizes"); {
	case parts != nil:
		for _, k := range parts {
			n *= k
		}
	case lengths != nil:
		n = 0
		for _, k := range lengths {
			n += k
		}
	default:
		for _, name := range []string{"count", "blocklength"} {
			if k, ok := x.arguments(name); ok {
				n *= k[0]
			}
		}
	}
	return n * sizes[0], true
}

// ownPart is the number of elements of a distributed array that MPI_Type_create_darray selects.
func (x *described) ownPart() (uint64, bool) {
	var lists [4][]uint64
	for i, name := range []string{"array_of_gsizes", "array_of_distribs", "array_of_dargs", "array_of_psizes"} {
		var ok bool
		if lists[i], ok = x.arguments(name); !ok || len(lists[i]) != len(lists[0]) {
			return 0, false
		}
	}
	rank, ok := x.arguments("rank")
	if !ok {
		return 0, false
	}
	n, left := uint64(1), rank[0]
	for i := len(lists[0]) - 1; i >= 0; i-- { // the last dimension varies fastest
		size, procs := lists[0][i], lists[3][i]
		if procs == 0 || signature.IsConst(size) || signature.IsConst(procs) {
			return 0, false
		}
		n *= share(size, procs, left%procs, lists[1][i], lists[2][i])
		left /= procs
	}
	return n, true
}

// share is how many of some elements the process at a coordinate has.
func share(size, procs, at, distribution, argument uint64) uint64 {
	cyclic := distribution == signature.ConstWord("MPI_DISTRIBUTE_CYCLIC")
	if !cyclic && distribution != signature.ConstWord("MPI_DISTRIBUTE_BLOCK") {
		return size // not distributed
	}
	block := argument
	if signature.IsConst(argument) || argument == 0 {
		if block = 1; !cyclic {
			block = (size + procs - 1) / procs
		}
	}
	round := block * procs
	if block == 0 || round/procs != block {
		return 0
	}
	own := size / round * block
	if rest := size % round; rest > at*block {
		own += min(rest-at*block, block)
	}
	return own
}

// fortranSize is the size of a type that was selected by its precision and range, if it is one that
// compilers have.
func (x *described) fortranSize() (uint64, bool) {
	digits := func(name string) uint64 {
		v, ok := x.arguments(name)
		if !ok || signature.IsConst(v[0]) { // MPI_UNDEFINED
			return 0
		}
		return v[0]
	}
	real := uint64(16)
	switch p, r := digits("p"), digits("r"); {
	case p <= 6 && r <= 37:
		real = 4
	case p <= 15 && r <= 307:
		real = 8
	}
	switch x.proc.Ctor {
	case "MPI_COMBINER_F90_REAL":
		return real, true
	case "MPI_COMBINER_F90_COMPLEX":
		return 2 * real, true
	case "MPI_COMBINER_F90_INTEGER":
		for i, most := range []uint64{2, 4, 9, 18} {
			if digits("r") <= most {
				return 1 << i, true
			}
		}
		return 16, true
	}
	return 0, false
}
