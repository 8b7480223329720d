package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/efg-tools/efg/analysis"
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Kinds of faults of collective calls.
const (
	CollectiveOrder   Kind = "collective call out of order"
	CollectiveMissing Kind = "collective call missing"
	CollectiveRoot    Kind = "collective call with another root"
	CollectiveOp      Kind = "collective call with another operation"
	CollectiveData    Kind = "collective call with other data"
)

// reader turns the steps of a stream into symbols.
type reader struct {
	t     *tally
	i     int // number of the stream
	fold  *efg.Fold
	roles []*collRoles
	cache map[[2]int]call
	// arrays: some calls have an array of counts
	arrays bool
}

// call is a collective call.
type call struct {
	scope  scopeKey
	word   uint64 // of the communicator or window
	symbol symbol
	hash   uint64
	arrays bool      // it has an array of counts
	moves  *exchange // then, if that is known
}

// newReader returns nil if the stream has no collective calls.
func (t *tally) newReader(i int) *reader {
	s := &t.p.Data.Streams[i]
	r := &reader{t: t, i: i, roles: make([]*collRoles, len(s.Nodes)), cache: map[[2]int]call{}}
	masks := make([]uint64, len(s.Nodes))
	any := false
	for k := range s.Nodes {
		if s.Nodes[k].Counted > 0 {
			continue
		}
		if c := collectiveOf(rolesOf(&s.Nodes[k])); c != nil {
			r.roles[k], masks[k], any = c, c.mask()|c.arrayMask(&s.Nodes[k]), true
			r.arrays = r.arrays || c.arrays != nil
		}
	}
	if !any {
		return nil
	}
	r.fold = efg.NewFold(s, t.p.Data.Defs, masks)
	return r
}

// call returns the collective call of a step; false if it is none, or one of the
// process with itself.
func (r *reader) call(s *efg.Step) (call, bool) {
	role := r.roles[s.Node]
	if role == nil {
		return call{}, false
	}
	key := [2]int{s.Node, s.Value}
	c, ok := r.cache[key]
	if !ok {
		words := r.fold.Words(s)
		c.word = words[role.scope]
		c.scope = r.t.scope(c.word)
		_, other := r.t.p.Members(c.word)
		c.symbol = role.symbolOf(r.t.p, words, other != nil)
		c.hash = c.symbol.hash()
		if c.arrays = role.arrays != nil && other == nil && c.scope.word != 0; c.arrays {
			c.moves = r.exchangeOf(s, role, words)
		}
		r.cache[key] = c
	}
	return c, c.scope.word != 0
}

var (
	wordSelf  = constant("MPI_COMM_SELF")
	wordWorld = constant("MPI_COMM_WORLD")
)

// scope tells the communicators and windows of a run apart.
func (t *tally) scope(word uint64) scopeKey {
	switch {
	case word == wordWorld:
		return scopeKey{word, t.p.FirstRank()}
	case isConst(word) || word == 0:
		return scopeKey{}
	}
	if name := t.name(word); name != word {
		return scopeKey{name, 0}
	}
	return scopeKey{word, t.p.FirstRank()}
}

// add adds the sequences of steps to those of scopes.
func (r *reader) add(steps []efg.Step, to map[scopeKey]sequence, words map[scopeKey]uint64) {
	for i := range steps {
		s := &steps[i]
		if s.Times == 0 {
			if c, ok := r.call(s); ok {
				to[c.scope] = to[c.scope].then(single(c.hash))
				words[c.scope] = c.word
			}
			continue
		}
		body := map[scopeKey]sequence{}
		r.add(s.Body, body, words)
		for k, b := range body {
			to[k] = to[k].then(b.times(s.Times))
		}
	}
}

// usage is what a process did on a communicator or window.
type usage struct {
	sequence
	word      uint64
	unordered bool // in several threads: the calls have no order
	moves     *exchanges
}

// usages are the sequences of a process's collective calls.
func (t *tally) usages() (map[scopeKey]*usage, error) {
	list := map[scopeKey]*usage{}
	for i := range t.p.Data.Streams {
		r := t.newReader(i)
		if r == nil {
			continue
		}
		own, words, moves := map[scopeKey]sequence{}, map[scopeKey]uint64{}, map[scopeKey]*exchanges{}
		if err := r.fold.Each(func(steps []efg.Step) error {
			r.add(steps, own, words)
			if r.arrays {
				r.exchange(steps, moves)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		for k, s := range own {
			t.total.Collectives += s.length
			u := list[k]
			if u == nil {
				list[k] = &usage{s, words[k], false, moves[k]}
				continue
			}
			u.length += s.length
			u.sum += s.sum
			u.unordered = true
		}
	}
	return list, nil
}

// class are the ranks with equal sequences of calls.
type class struct {
	hash, length, sum uint64
	ranks             []int
}

// scopeState is what is known of a communicator or window.
type scopeState struct {
	word      uint64
	members   [2]*analysis.Members
	unordered bool
	classes   map[[3]uint64]*class
	balance   *balance // of calls with an array of counts; nil: none
}

// use adds the calls of a process.
func (b *builder) use(p *analysis.Process, list map[scopeKey]*usage) {
	for k, u := range list {
		s := b.scopes[k]
		if s == nil {
			s = &scopeState{word: u.word, classes: map[[3]uint64]*class{}}
			s.members[0], s.members[1] = p.Members(u.word)
			b.scopes[k] = s
		}
		s.unordered = s.unordered || u.unordered
		key := [3]uint64{u.hash, u.length, u.sum}
		c := s.classes[key]
		if c == nil {
			c = &class{u.hash, u.length, u.sum, nil}
			s.classes[key] = c
		}
		c.ranks = append(c.ranks, p.Data.Rank)
		if u.moves != nil && s.members[0] != nil {
			if s.balance == nil {
				s.balance = &balance{}
			}
			s.balance.add(s.members[0].Index(p.Data.Rank), u.moves)
		}
	}
}

// maxClasses bounds how many classes of a communicator are compared.
const maxClasses = 32

// collectives compares the calls of the members of each communicator.
func (b *builder) collectives() error {
	for _, k := range slices.SortedFunc(maps.Keys(b.scopes), compareScopes) {
		s := b.scopes[k]
		list := s.list()
		list = b.addSilent(s, list)
		if len(list) < 2 {
			if err := b.exchange(k, s); err != nil {
				return err
			}
			continue
		}
		slices.SortFunc(list, func(x, y *class) int {
			return cmp.Or(cmp.Compare(b.sound(y), b.sound(x)), cmp.Compare(len(y.ranks), len(x.ranks)), cmp.Compare(x.ranks[0], y.ranks[0]))
		})
		if err := b.compare(k, s, list[:min(len(list), maxClasses)]); err != nil {
			return err
		}
	}
	return nil
}

// sound is 1 if the calls of a class are all recorded, of one rank at least.
func (b *builder) sound(c *class) int {
	for _, r := range c.ranks {
		if !b.short[r] {
			return 1
		}
	}
	return 0
}

// list are the classes; where calls have no order, those that differ in their order
// are one.
func (s *scopeState) list() []*class {
	merged := map[[3]uint64]*class{}
	for _, c := range s.classes {
		key := [3]uint64{c.hash, c.length, c.sum}
		if s.unordered {
			key[0] = 0
		}
		if m := merged[key]; m != nil {
			m.ranks = append(m.ranks, c.ranks...)
		} else {
			merged[key] = c
		}
	}
	var list []*class
	for _, c := range merged {
		slices.Sort(c.ranks)
		list = append(list, c)
	}
	return list
}

// addSilent adds the members that made no call at all.
func (b *builder) addSilent(s *scopeState, list []*class) []*class {
	seen := map[int]bool{}
	size := 0
	for _, m := range s.members {
		if m != nil {
			size += m.Size()
		}
	}
	for _, c := range list {
		size -= len(c.ranks)
	}
	if size <= 0 {
		return list
	}
	for _, c := range list {
		for _, r := range c.ranks {
			seen[r] = true
		}
	}
	silent := &class{}
	for _, m := range s.members {
		for i := 0; m != nil && i < m.Size(); i++ {
			r := m.At(i)
			if _, there := b.number[r]; there && !seen[r] && !b.short[r] {
				silent.ranks = append(silent.ranks, r)
			}
		}
	}
	if len(silent.ranks) > 0 {
		slices.Sort(silent.ranks)
		list = append(list, silent)
	}
	return list
}

// compare finds where each class departs from the first one.
func (b *builder) compare(k scopeKey, s *scopeState, list []*class) error {
	reference, err := b.reading(list[0].ranks[0], k)
	if err != nil {
		return err
	}
	for _, c := range list[1:] {
		odd, err := b.reading(c.ranks[0], k)
		if err != nil {
			return err
		}
		var f *suspect
		if s.unordered {
			f = b.unequal(list[0], c, odd)
		} else {
			f = b.departure(reference, odd, list[0], c)
		}
		if f == nil {
			continue
		}
		kind := signature.Comm
		if odd.isWindow() {
			kind = signature.Win
		}
		f.text = strings.ReplaceAll(f.text, scopeMark, odd.names.Handle(kind, s.word))
		for _, r := range c.ranks {
			g := *f
			g.rank = r
			b.group(g)
		}
	}
	return nil
}

// scopeMark stands for the name of the communicator in a text.
const scopeMark = "\x00"

// unequal tells that calls in several threads differ in number or kind.
func (b *builder) unequal(ref, odd *class, x *reading) *suspect {
	if b.short[odd.ranks[0]] || b.short[ref.ranks[0]] {
		return nil
	}
	f := &suspect{kind: CollectiveMissing, count: 1}
	x.next()
	x.tell(f)
	f.text = fmt.Sprintf("makes %d collective calls on %s, and rank %d makes %d, or others, in several threads",
		odd.length, scopeMark, ref.ranks[0], ref.length)
	return f
}

// departure tells where two classes part; nil if one only ends early.
func (b *builder) departure(r, x *reading, ref, odd *class) *suspect {
	n := r.common(x)
	r.restart(n)
	x.restart(n)
	if n > 0 { // so that the last common call is known
		r.next()
		x.next()
	}
	inRef, inOdd := r.next(), x.next()
	f := &suspect{kind: CollectiveMissing, count: 1}
	x.tell(f)
	switch {
	case inRef && inOdd:
		f.kind, f.text = differs(n+1, &r.now.symbol, &x.now.symbol, ref.ranks[0], r.place())
	case inRef && !b.short[odd.ranks[0]]:
		f.text = fmt.Sprintf("makes %d collective calls on %s, and rank %d goes on with %s at %s",
			n, scopeMark, ref.ranks[0], opName(&r.now.symbol), r.place())
	case inOdd && !b.short[ref.ranks[0]]:
		f.kind = CollectiveOrder
		f.text = fmt.Sprintf("calls %s as collective call %d on %s, where rank %d makes no more",
			opName(&x.now.symbol), n+1, scopeMark, ref.ranks[0])
	default:
		return nil
	}
	return f
}

// differs tells what two calls in the same place do not have in common.
func differs(n uint64, ref, odd *symbol, rank int, place string) (Kind, string) {
	where := fmt.Sprintf("in collective call %d on %s, where rank %d at %s has", n, scopeMark, rank, place)
	switch {
	case ref.proc != odd.proc:
		return CollectiveOrder, fmt.Sprintf("calls %s as collective call %d on %s, where rank %d calls %s at %s",
			opName(odd), n, scopeMark, rank, opName(ref), place)
	case ref.root != odd.root:
		return CollectiveRoot, fmt.Sprintf("names root %s %s %s", tagText(odd.root), where, tagText(ref.root))
	case ref.op != odd.op:
		return CollectiveOp, fmt.Sprintf("reduces with %s %s another operation", opText(odd.op), where)
	case ref.amount.bytes != odd.amount.bytes:
		return CollectiveData, fmt.Sprintf("gives %d bytes %s %d", odd.amount.bytes, where, ref.amount.bytes)
	}
	return CollectiveData, fmt.Sprintf("gives data of other datatypes %s others", where)
}

func opName(s *symbol) string {
	if p := signature.ProcByID(s.proc); p != nil {
		return p.Name
	}
	return fmt.Sprintf("procedure %d", s.proc)
}

func opText(w uint64) string {
	if isConst(w) {
		return tagText(w)
	}
	return "an operation of the program's"
}
