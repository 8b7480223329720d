package generate

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// call is a call in the text of the program: nodes of several processes, one of each, that are written
// alike. What they pass may differ.
type call struct {
	number int
	procs  []*process
	nodes  []*node // of procs
	text   string  // what is written in place of a call of MPI; there are no nodes
	enters bool    // it is the first call of a thread, or one of those of which the first is
}

// like is the node that shows how the call is written.
func (c *call) like() *node { return c.nodes[0] }

// graph is the node of the process's graph.
func (n *node) graph(p *process) *efg.Node { return &p.data.Streams[n.stream].Nodes[n.index] }

// anyContinues reports whether a process of the call passes arrays of requests as an earlier call left them.
func (c *call) anyContinues() bool {
	return slices.ContainsFunc(c.procs, func(p *process) bool { return p.continues })
}

// written is equal for nodes that can be one call of the program: the same procedure, called at the same
// place of the recorded program, with the same arguments absent.
func (p *process) written(n *node) uint64 {
	key := []uint64{uint64(n.header), p.site(n)}
	if n.stream > 0 {
		key = append(key, uint64(n.stream))
	}
	for i := range n.values {
		key = append(key, absence(n, i))
	}
	if p := n.proc.Param("op"); p >= 0 && n.proc.Param("user_fn") >= 0 {
		_, word := n.words(p)
		if w, ok := n.values[word].constant(); ok {
			key = append(key, w)
		}
	}
	return signature.Hash(key...)
}

// callsOf returns the calls of a program for classes of processes. If shared, several classes have the calls in
// common that they make at the same places; otherwise each has calls of its own. The bodies of the classes
// become sequences of their numbers.
func callsOf(classes []*class, shared bool) []*call {
	var all []*call
	places := map[uint64][]*call{} // the calls of each place, in the order in which a process makes them
	for _, c := range classes {
		of := make([]*call, len(c.like().nodes))
		byPlace := map[uint64][]*node{}
		var order []uint64
		for _, n := range c.like().list() {
			key := c.like().written(n)
			if byPlace[key] == nil {
				order = append(order, key)
			}
			byPlace[key] = append(byPlace[key], n)
		}
		for _, key := range order {
			var known []*call
			if shared || byPlace[key][0].proc.Begins {
				known = places[key]
			}
			places[key] = c.join(known, byPlace[key], of)
		}
		for _, n := range c.like().list() {
			k := of[n.number]
			if len(k.procs) == 0 {
				k.number = len(all)
				all = append(all, k)
			}
			for _, p := range c.procs {
				k.procs, k.nodes = append(k.procs, p), append(k.nodes, p.nodes[n.number])
			}
		}
		c.body = renumbered(c.like().body, of)
		for _, t := range c.like().others {
			c.threads = append(c.threads, renumbered(t.body, of))
		}
		all = c.startThreads(c.enterThreads(all))
	}
	return all
}

// join pairs the calls of a place with the nodes of a class there, adds calls for nodes without one, and
// returns them all.
func (c *class) join(known []*call, nodes []*node, of []*call) []*call {
	partner := aligned(len(known), len(nodes), func(i, j int) int { return likeness(known[i], nodes[j], c.like()) })
	var joined []*call
	next := 0
	for j, n := range nodes {
		if i := partner[j]; i >= 0 {
			joined = append(joined, known[next:i+1]...)
			next = i + 1
			of[n.number] = known[i]
			continue
		}
		of[n.number] = &call{}
		joined = append(joined, of[n.number])
	}
	return append(joined, known[next:]...)
}

// likeness counts the words that a call and a node of a process have in common. Ranks are alike, too, if they are
// equally far from the process.
func likeness(c *call, n *node, p *process) int {
	a, b := c.like().graph(c.procs[0]), n.graph(p)
	alike := 0
	for i := range a.Words {
		if (a.Mask^b.Mask)>>i&1 != 0 {
			continue
		}
		if a.Words[i] == b.Words[i] {
			alike++
		} else if q := n.param(i); q != nil && isRank(q) && a.Words[i]-uint64(c.procs[0].rank) == b.Words[i]-uint64(p.rank) {
			alike++
		}
	}
	return alike
}

// maxAligned bounds the pairs of elements that are compared.
const maxAligned = 1 << 22

// aligned pairs elements of two lists of lengths n and m, in order, so that the sum of their likenesses is the
// largest. It returns for each element of the second its partner in the first, or -1.
func aligned(n, m int, likeness func(i, j int) int) []int {
	partner := make([]int, m)
	if n > maxAligned/(m+1) {
		for j := range partner {
			partner[j] = j
			if j >= n {
				partner[j] = -1
			}
		}
		return partner
	}
	best := make([][]int, n+1) // of the elements from i and j on
	for i := range best {
		best[i] = make([]int, m+1)
	}
	pair := func(i, j int) int { return best[i+1][j+1] + 1 + likeness(i, j) }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], pair(i, j))
		}
	}
	i := 0
	for j := range partner {
		partner[j] = -1
		for i < n && best[i][j] != best[i][j+1] {
			if best[i][j] == pair(i, j) {
				partner[j] = i
				i++
				break
			}
			i++
		}
	}
	return partner
}

func renumbered(body []stmt, of []*call) []stmt {
	out := slices.Clone(body)
	for i := range out {
		if out[i].body != nil {
			out[i].body = renumbered(out[i].body, of)
		} else {
			out[i].node = of[out[i].node].number
		}
	}
	return out
}

// joined puts classes together that make the same calls.
func joined(classes []*class) []*class {
	var out []*class
	byKey := map[uint64]*class{}
	for _, c := range classes {
		key := signature.Hash(bodyKey(nil, c.body)...)
		if first := byKey[key]; first != nil {
			first.procs = append(first.procs, c.procs...)
			slices.SortFunc(first.procs, func(p, q *process) int { return p.rank - q.rank })
			continue
		}
		byKey[key] = &class{procs: slices.Clone(c.procs), body: c.body, threads: c.threads}
		out = append(out, byKey[key])
	}
	return out
}
