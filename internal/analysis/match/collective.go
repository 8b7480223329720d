package match

import (
	"cmp"
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// scopeKey names the members of collective calls. The word is a communicator, window or file,
// or stands for the world or a group; world is the first rank of its world.
type scopeKey struct {
	word  uint64
	world int
	made  uint64 // number of a persistent collective on it, from 1
}

// scope has the collective calls of an object that not all members have left.
type scope struct {
	key    scopeKey
	group  *group
	calls  fifoOfCalls
	gone   int  // members that have freed it
	broken bool // members have made different calls
}

// fifoOfCalls are the calls from number first on.
type fifoOfCalls struct {
	first uint64
	list  []*Collective
}

// group are the members that are in the run, by their numbers in the file.
type group struct {
	members []int32
	index   map[int32]int
	second  int           // of an intercommunicator, the first member of the second group
	spare   []*Collective // that are over
}

// part is a process's part in the collective calls of a scope.
type part struct {
	scope  *scope
	member int
	next   uint64 // number of its next call
	inter  bool   // the members are of two groups
}

// Words of scopes that have no object.
const (
	worldBegins = 1
	worldEnds   = 2
)

// partOf returns the part of a thread's process in the call that it makes; nil if it is not
// matched.
func (m *matcher) partOf(t *Thread, n *node) *part {
	if n.part != nil {
		return n.part
	}
	p := t.Process
	switch n.proc.Scope {
	case signature.ScopeWorld:
		word := uint64(worldBegins)
		if n.proc.Ends {
			word = worldEnds
		}
		return m.partIn(p, word, word, func() *group { return m.worldGroup(p) })
	case signature.ScopeGroup:
		word := t.Word(n.roles.Group)
		key := signature.Ident(signature.Hash(word, uint64(n.proc.Base.ID), p.name(t.Word(signature.ObjectWord))))
		return m.partIn(p, key, key, func() *group { return m.groupOf(p.Facts.GroupMembers(word), nil) })
	}
	word := t.Word(signature.ObjectWord)
	x := m.objectPart(p, word)
	if n.known(signature.ObjectWord) {
		n.part = x
	}
	return x
}

func (m *matcher) objectPart(p *Process, word uint64) *part {
	if x := p.parts[word]; x != nil {
		return x
	}
	own, other := p.Facts.Members(word)
	x := m.partIn(p, word, p.name(word), func() *group { return m.groupOf(own, other) })
	x.inter = other != nil
	return x
}

// partIn returns a process's part in a scope; group makes its members when it is new.
func (m *matcher) partIn(p *Process, word, name uint64, members func() *group) *part {
	if x := p.parts[word]; x != nil {
		return x
	}
	key := scopeKey{word: name, world: p.Facts.FirstRank()}
	if name != word { // joins worlds
		key.world = -1
	}
	s := m.scopes[key]
	if s == nil {
		s = &scope{key: key, group: members()}
		m.scopes[key] = s
	}
	x := &part{scope: s, member: -1}
	if s.group != nil {
		if i, ok := s.group.index[int32(p.Number)]; ok {
			x.member = i
		}
	}
	p.parts[word] = x
	return x
}

// leave forgets a process's part in an object that it has freed.
func (m *matcher) leave(p *Process, word uint64) {
	if x := p.parts[word]; x != nil {
		if x.scope.gone++; x.scope.group != nil && x.scope.gone == len(x.scope.group.members) {
			delete(m.scopes, x.scope.key)
		}
	}
	p.forget(word)
}

func (m *matcher) worldGroup(p *Process) *group {
	g := &group{index: map[int32]int{}}
	for _, q := range m.trace.Processes {
		if q.Facts.FirstRank() == p.Facts.FirstRank() {
			g.add(q)
		}
	}
	return g
}

// groupOf returns the members of two sides, in an order that both agree on.
func (m *matcher) groupOf(own, other *analysis.Members) *group {
	if own == nil {
		return nil
	}
	if other != nil && cmp.Compare(other.Key(), own.Key()) < 0 {
		own, other = other, own
	}
	var key [2]uint64
	key[0] = own.Key()
	if other != nil {
		key[1] = other.Key()
	}
	if g := m.groups[key]; g != nil {
		return g
	}
	g := &group{index: map[int32]int{}}
	m.groups[key] = g
	for i, side := range []*analysis.Members{own, other} {
		if i == 1 && side != nil {
			g.second = len(g.members)
		}
		for _, q := range m.trace.among(side) {
			g.add(q)
		}
	}
	return g
}

// among are the processes of the run among some members, in the order of these.
func (t *Trace) among(members *analysis.Members) (list []*Process) {
	if members == nil {
		return nil
	}
	if members.Size() <= 4*len(t.Processes) {
		for i := range members.Size() {
			if q := t.byRank[members.At(i)]; q != nil {
				list = append(list, q)
			}
		}
		return list
	}
	// A small file can claim any number of members.
	at := map[*Process]int{}
	for _, q := range t.Processes {
		if i := members.Index(q.Rank); i >= 0 {
			at[q] = i
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b *Process) int { return cmp.Compare(at[a], at[b]) })
	return list
}

func (g *group) add(p *Process) {
	if _, twice := g.index[int32(p.Number)]; !twice {
		g.index[int32(p.Number)] = len(g.members)
		g.members = append(g.members, int32(p.Number))
	}
}

// neighbours are the members that send to the process in collectives among neighbours.
func (p *Process) neighbours(s *scope) []int32 {
	list, ok := p.sides[s]
	if ok {
		return list
	}
	in, _, _ := p.Facts.Neighbours(p.wordOf(s))
	for _, r := range in {
		if r >= 0 && r < len(s.group.members) {
			list = append(list, int32(r))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	p.sides[s] = list
	return list
}

// wordOf is the word by which a process knows a scope.
func (p *Process) wordOf(s *scope) uint64 {
	for word, x := range p.parts {
		if x.scope == s {
			return word
		}
	}
	return 0
}

// join makes a process a member of a collective call.
func (m *matcher) join(t *Thread, n *node) {
	x := m.partOf(t, n)
	root, excluded := rootOf(t, n, x)
	m.enterPart(t, x, n.proc, root, excluded, n.received(t))
	switch n.action {
	case joins:
		t.call.Done = append(t.call.Done, t.call.Posted...)
	case issuesPart:
		m.request(t, n, t.call.Posted)
	case beginsSplit:
		if len(t.call.Posted) > 0 {
			m.splits[splitKey{t.Process, t.Word(signature.ObjectWord)}] = t.call.Posted[0]
		}
	}
}

// splitKey names the split collective of a file that is open.
type splitKey struct {
	process *Process
	file    uint64
}

func (m *matcher) endSplit(t *Thread, n *node) {
	k := splitKey{t.Process, t.Word(signature.ObjectWord)}
	if o := m.splits[k]; o != nil {
		delete(m.splits, k)
		t.call.Done = append(t.call.Done, o)
	}
}

// rootOf reports whether the caller of a collective is its root, or one that takes no part.
func rootOf(t *Thread, n *node, x *part) (root, excluded bool) {
	if n.roles.Root == 0 || x == nil {
		return false, false
	}
	switch w := t.Word(n.roles.Root); {
	case w == signature.RootHere:
		return true, false
	case w == signature.ProcNull:
		return false, true
	default:
		return !x.inter && t.Process.Facts.PeerOf(t.Word(signature.ObjectWord), w) == t.Process.Rank, false
	}
}

// persistentPart returns the part in the starts of a persistent collective.
func (m *matcher) persistentPart(t *Thread, n *node) (x *part, root, excluded bool) {
	all := m.partOf(t, n)
	root, excluded = rootOf(t, n, all)
	if all == nil || all.member < 0 {
		return nil, root, excluded
	}
	p := t.Process
	p.made[all.scope]++
	key := all.scope.key
	key.made = p.made[all.scope]
	s := m.scopes[key]
	if s == nil {
		s = &scope{key: key, group: all.scope.group}
		m.scopes[key] = s
	}
	x = &part{scope: s, member: all.member}
	if p.sides[all.scope] == nil && n.proc.Sync == signature.SyncNeighbours {
		p.neighbours(all.scope)
	}
	p.sides[s] = p.sides[all.scope]
	return x, root, excluded
}

// enterPart adds a member to its next call of a scope.
func (m *matcher) enterPart(t *Thread, x *part, proc *signature.Proc, root, excluded bool, bytes uint64) {
	if x == nil || x.member < 0 || x.scope.group == nil || len(x.scope.group.members) < 2 {
		return
	}
	s := x.scope
	c := m.callOf(s, x.next, proc)
	x.next++
	if c == nil || s.broken {
		m.summary.Disagreeing++
		return
	}
	if c.Proc != proc.Base && proc.Scope != signature.ScopeWorld || c.parts[x.member] != nil {
		m.breakUp(s)
		m.summary.Disagreeing++
		return
	}
	o := m.operation(t, TakePart)
	o.Collective, o.Member, o.root, o.excluded = c, x.member, root, excluded
	o.Bytes = bytes
	c.nested = c.nested || o.nested()
	c.enter(o)
	if len(c.waiters) > 0 {
		m.releaseAll(&c.waiters)
	}
	if c.Entered == c.Members {
		m.summary.Collectives++
	}
}

// callOf returns a call of a scope by its number; nil if it is over.
func (m *matcher) callOf(s *scope, number uint64, proc *signature.Proc) *Collective {
	if number < s.calls.first {
		return nil
	}
	i := number - s.calls.first
	for uint64(len(s.calls.list)) <= i {
		s.calls.list = append(s.calls.list, m.newCollective(s, proc.Base, s.calls.first+uint64(len(s.calls.list))))
	}
	return s.calls.list[i]
}

func (m *matcher) newCollective(s *scope, proc *signature.Proc, number uint64) *Collective {
	var parts, latest []*Operation
	var c *Collective
	if list := s.group.spare; len(list) > 0 {
		c = list[len(list)-1]
		s.group.spare = list[:len(list)-1]
		parts, latest = c.parts, c.latest[:0]
		clear(parts)
	} else {
		c, parts = &Collective{ID: m.collectives}, make([]*Operation, len(s.group.members))
		m.collectives++
	}
	*c = Collective{ID: c.ID, Proc: proc, Members: len(s.group.members), scope: s, parts: parts, latest: latest, waiters: c.waiters[:0], sequence: number}
	return c
}

// breakUp ends the matching of a scope: what is open there depends on nothing.
func (m *matcher) breakUp(s *scope) {
	s.broken = true
	for _, c := range s.calls.list {
		if c != nil {
			m.releaseAll(&c.waiters)
		}
	}
}

// leaveCall notes that a member has left the call that completes its part.
func (m *matcher) leaveCall(o *Operation, by *Call) {
	c := o.Collective
	if c.Left == 0 || by.Exit < c.FirstExit {
		c.FirstExit, c.FirstLeft = by.Exit, Origin{by.Thread, by.Node, by.Event, by.Enter}
	}
	if c.Left++; c.Left < c.Members {
		return
	}
	s := c.scope
	for _, o := range c.parts {
		m.recycle(o)
	}
	s.calls.list[c.sequence-s.calls.first] = nil
	for len(s.calls.list) > 0 && s.calls.list[0] == nil {
		s.calls.list = s.calls.list[1:]
		s.calls.first++
	}
	s.group.spare = append(s.group.spare, c)
}
