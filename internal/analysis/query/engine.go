package query

import (
	"fmt"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// engine evaluates a query on a run.
type engine struct {
	*Query
	run        *runfile.Run
	rebuilder  *reconstruct.Run
	fields     analysis.Fields
	texts      bool // names are needed, of callsites or communicators
	paths      bool // call paths are
	traced     bool // the times of single calls were recorded
	byEvents   bool // the graph is not sufficient
	regions    bool // the regions of events are needed
	attributes bool // the attributes of events are
	sets       []*rankSet
	first      []int
	fitting    sync.Map // results of group, by the keys of members
}

func (q *Query) bind(run *runfile.Run) (*engine, error) {
	e := &engine{Query: q, run: run, first: analysis.FirstRanks(run.Procs), traced: run.Meta.Traced(), byEvents: q.needsEvents()}
	if err := e.checkTimes(); err != nil {
		return nil, err
	}
	for _, s := range q.sets {
		if s == nil {
			break
		}
		set, err := s.bind(q, run)
		if err != nil {
			return nil, err
		}
		e.sets = append(e.sets, set)
	}
	if err := eachComm(q, run, q.comms, nil); err != nil {
		return nil, err
	}
	e.findFields()
	var err error
	e.rebuilder, err = reconstruct.NewRun(run)
	return e, err
}

// checkTimes rejects queries about times that were not recorded.
func (e *engine) checkTimes() error {
	if e.traced {
		return nil
	}
	const missing = "the times of individual calls were not recorded"
	if e.window != nil {
		return &Error{e.text, e.window.at, missing}
	}
	for _, f := range e.Query.fields {
		if f.clock {
			return &Error{e.text, f.at, missing}
		}
	}
	switch {
	case e.timeTotal == nil:
	case e.byEvents:
		return &Error{e.text, e.timeTotal.at, missing + ", so the TIME of some of the calls at a callsite is unknown"}
	case e.run.Meta.Time == "off":
		return &Error{e.text, e.timeTotal.at, "times were not recorded"}
	}
	return nil
}

// NeedsTimes reports whether the answer has times of single calls, or depends on them.
func (q *Query) NeedsTimes() bool { return q.window != nil || !q.IsTotal() && !q.IsTopology() }

// needsEvents reports whether conditions depend on individual events, so that the graph is not
// sufficient.
func (q *Query) needsEvents() bool {
	return q.window != nil || slices.ContainsFunc(q.fields, func(f fieldUse) bool { return f.event }) ||
		slices.ContainsFunc(q.groups, func(f *field) bool { return f.event })
}

// findFields collects the fields of operations that are needed.
func (e *engine) findFields() {
	use := func(f *field) {
		if f == nil {
			return
		}
		e.fields |= f.needs
		e.regions = e.regions || f.region
		e.attributes = e.attributes || f.attribute != ""
		e.texts = e.texts || f.name == "SITE" || f.name == "COMM"
		e.paths = e.paths || f.name == "PATH"
		e.texts = e.texts || e.paths
	}
	for _, f := range e.Query.fields {
		use(f.field)
	}
	for _, f := range e.groups {
		use(f)
	}
	for _, a := range e.aggregates {
		use(a.field)
	}
	if e.comms != nil {
		e.fields |= analysis.CommField
	}
	if e.unit.messages || e.relation == amongProcesses || e.relation == betweenProcesses || e.fanIn || e.fanOut {
		e.fields |= analysis.BytesField
	}
	if e.unit.messages && !e.isTotal() { // messages are written with all fields
		e.fields |= analysis.TagField | analysis.CommField
		e.texts = true
	}
}

// processes lists the processes whose calls may be selected.
func (e *engine) processes() []int {
	everybody := e.relation == anyProcess || e.relation == forProcesses && (e.unit.messages || e.fanIn || e.fanOut)
	var list []int
	for i, p := range e.run.Procs {
		if everybody || slices.ContainsFunc(e.sets, func(s *rankSet) bool { return s.has(p.Rank) }) {
			list = append(list, i)
		}
	}
	return list
}

// nodeFacts are what the events of a node have in common.
type nodeFacts struct {
	op, site, failure string
	path              string   // the last call first
	calls             []string // of the path, and the functions and places of these
	names             *reconstruct.Names
	depth             int  // number of calls that the calls were made inside of
	gives             bool // an attribute its value
}

// reader evaluates the query on a process.
type reader struct {
	*engine
	*analysis.Process
	names   *reconstruct.Names
	related map[uint64]bool // results for collectives, by communicator
	matched []int           // result of match
	item    item
}

func (e *engine) reader(p *analysis.Process, names *reconstruct.Names) *reader {
	return &reader{engine: e, Process: p, names: names, related: map[uint64]bool{}}
}

// node gathers the facts of a node of Data.Streams[i].
func (r *reader) node(i, k int) *nodeFacts {
	n := &r.Data.Streams[i].Nodes[k]
	header := signature.Header(n.Words[0])
	f := &nodeFacts{op: fmt.Sprintf("procedure %d", header.Proc()), names: r.names, depth: header.Depth()}
	if p := signature.ProcByID(header.Proc()); p != nil {
		f.op = p.Name
		f.gives = p.Annotates() && !p.Opens && !p.Closes
	}
	if c := header.ErrorClass(); c != 0 {
		f.failure = reconstruct.ErrorName(c)
	}
	if r.texts {
		f.site = r.names.Place(n.Words[1])
	}
	if r.paths {
		f.path, f.calls = r.path(n.Words[1])
	}
	return f
}

// path returns the text of a call path and what conditions compare with; of the whole path, unless the
// run tells callsites apart by less.
func (r *reader) path(site uint64) (text string, calls []string) {
	path := r.names.Path(site)
	if path == nil {
		path = []string{r.names.Call(site)}
	}
	for _, call := range path {
		functions, place := reconstruct.SplitCall(call)
		calls = append(append(append(calls, call), functions...), place)
	}
	return r.names.Site(site), calls
}

// possible reports whether events of the node may match, without examining the attributes in
// which they differ.
func (r *reader) possible(i, k int, f *nodeFacts) (found bool, err error) {
	err = r.Calls(i, k, 0, func(c *analysis.Call) error {
		found = found || slices.ContainsFunc(c.Operations, func(o analysis.Operation) bool { return r.unit.matches(&o, f.op) })
		return nil
	})
	return found, err
}

// match returns the operations of a call that match, by number. r.item describes the call.
func (r *reader) match(c *analysis.Call) []int {
	r.matched = r.matched[:0]
	for k := range c.Operations {
		r.item.op = &c.Operations[k]
		if r.matchOne(&r.item) {
			r.matched = append(r.matched, k)
		}
	}
	return r.matched
}

func (r *reader) matchOne(i *item) bool {
	o := i.op
	switch {
	case !r.unit.matches(o, i.node.op) || r.unit.messages && !o.Moves:
		return false
	case r.comms != nil && !slices.ContainsFunc(r.comms, func(c commName) bool { return c.match(o.Comm) }):
		return false
	case r.window != nil && (!i.timed || i.start < r.window.from || i.end > r.window.to):
		return false
	case !r.fits(o):
		return false
	}
	return r.where == nil || r.where(i)
}

// fits reports whether the participants of an operation are selected.
func (r *reader) fits(o *analysis.Operation) bool {
	switch {
	case r.relation == anyProcess || r.fanIn || r.fanOut:
		return r.relation != amongProcesses && r.relation != betweenProcesses || r.among(o)
	case r.relation == forProcesses:
		return !r.unit.messages || r.topology || r.sets[0].has(r.Data.Rank) || r.sets[0].has(o.Peer)
	}
	return r.among(o)
}

// among is fits for AMONG and BETWEEN.
func (r *reader) among(o *analysis.Operation) bool {
	me := r.Data.Rank
	switch o.Kind {
	case analysis.SendOperation, analysis.ReceiveOperation, analysis.OneSidedOperation:
		if o.Peer < 0 {
			return false
		}
		return r.pair(me, o.Peer)
	case analysis.CollectiveOperation:
		ok, known := r.related[o.Comm]
		if !known {
			ok = r.group(o.Comm)
			r.related[o.Comm] = ok
		}
		return ok
	}
	return r.relation == amongProcesses && r.sets[0].has(me)
}

// pair reports whether an exchange of two processes is requested.
func (r *reader) pair(a, b int) bool {
	x, y := r.sets[0], r.sets[len(r.sets)-1]
	if r.relation == betweenProcesses && a == b {
		return false
	}
	return x.has(a) && y.has(b) || y.has(a) && x.has(b)
}

// group reports whether a collective of a communicator is requested. Processes share the
// results, because groups may be large.
func (r *reader) group(comm uint64) bool {
	own, other := r.Members(comm)
	if own == nil {
		return false
	}
	key := [2]uint64{own.Key()}
	if other != nil {
		key[1] = other.Key()
	}
	if ok, known := r.fitting.Load(key); known {
		return ok.(bool)
	}
	ok := r.fitsGroup(own, other)
	r.fitting.Store(key, ok)
	return ok
}

func (r *reader) fitsGroup(own, other *analysis.Members) bool {
	total := 0
	in := [2]int{}
	first := [2]int{}
	for _, m := range []*analysis.Members{own, other} {
		if m == nil {
			continue
		}
		if !hasAll(r.sets, m) {
			return false
		}
		total += m.Size()
		for k, s := range r.sets {
			for i := range m.Size() {
				if s.has(m.At(i)) {
					in[k]++
					first[k] = m.At(i)
				}
			}
		}
	}
	switch {
	case r.relation == amongProcesses:
		return true
	case len(r.sets) == 1:
		return total > 1
	}
	return in[0] > 0 && in[1] > 0 && !(in[0] == 1 && in[1] == 1 && first[0] == first[1])
}
