package whatif

import (
	"math"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/signature"
)

// Prediction is what a scenario gives. Times are in ns.
type Prediction struct {
	// Time is from when the first rank leaves MPI_Init until the last one enters MPI_Finalize.
	Time float64
	// Useful is the sum of the ranks' computation, Most the longest, of MostRank.
	Useful, Most float64
	MostRank     int
	Ranks        int
}

// LoadBalance is the mean useful time divided by the longest.
func (p *Prediction) LoadBalance() float64 { return ratio(p.Useful/float64(max(p.Ranks, 1)), p.Most) }

// Communication is the communication efficiency: the longest useful time divided by the time.
func (p *Prediction) Communication() float64 { return ratio(p.Most, p.Time) }

// Parallel is the parallel efficiency.
func (p *Prediction) Parallel() float64 { return p.LoadBalance() * p.Communication() }

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// Simulation follows the dependencies of a run under several scenarios at once. It is a visitor.
type Simulation struct {
	scenarios []Scenario
	own       Network
	factors   *factors // nil: no scenario has rules
	places    *places
	trace     *match.Trace
	hosts     int // of the run
	threads   []thread
	// now and useful are by thread and scenario, posted by operation and scenario.
	now, useful, posted []float64
	latest              [][]float64 // see entered
	spare               [][]float64
	arrival             []float64
	// typical says what calls take in the scenarios that are Modelled, learning finds that out; nil
	// where it is not needed. The rest are for typical: by scenario, when a call ends, when the last thing
	// that it depends on was posted, and what another network carries.
	typical, learning      *typical
	eager                  uint64 // messages of at most so many bytes wait for no receiver
	ends, posting, instead []float64
	began, initialized     bool
	begin, end             int64 // as recorded
}

// thread is where a thread stands, as recorded.
type thread struct {
	last           int64 // when its last call was left
	place          int32 // of that
	started, ended bool
	polling        bool // its last calls were polls that found nothing
	polls, polled  int64
}

// NewSimulation prepares a walk. own is the recorded network.
func NewSimulation(t *match.Trace, own Network, scenarios []Scenario) *Simulation {
	n := len(t.Threads) * len(scenarios)
	return &Simulation{
		scenarios: scenarios, own: own, trace: t, hosts: hostsOf(t), threads: make([]thread, len(t.Threads)), now: make([]float64, n), useful: make([]float64, n),
		arrival: make([]float64, len(scenarios)),
		ends:    make([]float64, len(scenarios)), posting: make([]float64, len(scenarios)), instead: make([]float64, len(scenarios)),
	}
}

// useRules prepares the rules of the scenarios.
func (x *Simulation) useRules(p *places) {
	x.places, x.factors = p, newFactors(x.trace, p, x.scenarios)
}

// of is the part of a table that belongs to a thread or an operation.
func (x *Simulation) of(table []float64, i int) []float64 {
	k := len(x.scenarios)
	return table[i*k : (i+1)*k : (i+1)*k]
}

// Enter implements match.Visitor.
func (x *Simulation) Enter(c *match.Call) {
	if c.Proc.Annotates() {
		return // part of the computation
	}
	s := &x.threads[c.Thread.Index]
	now := x.of(x.now, c.Thread.Index)
	switch {
	case !s.started:
		x.start(c, s, now)
	case c.Began == c.Enter && !s.ended:
		x.endPolls(s, now)
		x.compute(c, s, now)
	}
	if s.ended = s.ended || c.Proc != nil && c.Proc.Ends; s.ended {
		x.end = max(x.end, c.Enter)
	}
	for _, o := range c.Posted {
		x.post(o, now)
	}
}

// start sets the time at which a thread makes its first call.
func (x *Simulation) start(c *match.Call, s *thread, now []float64) {
	s.started, s.last = true, c.Enter
	if !x.began {
		x.began, x.begin = true, c.Enter
	}
	var other *match.Thread
	for _, t := range c.Thread.Process.Threads {
		if y := &x.threads[t.Index]; t != c.Thread && y.started && (other == nil || y.last > x.threads[other.Index].last) {
			other = t
		}
	}
	for k := range now {
		switch {
		case other == nil && !x.scenarios[k].Ideal:
			now[k] = float64(c.Enter)
		case other != nil:
			now[k] = x.of(x.now, other.Index)[k]
			if !x.scenarios[k].Ideal {
				now[k] += max(float64(c.Enter-x.threads[other.Index].last), 0)
			}
		}
	}
}

// endPolls: polls found nothing, and the program went on. They take the time that they took.
func (x *Simulation) endPolls(s *thread, now []float64) {
	if !s.polling {
		return
	}
	for k := range now {
		if !x.scenarios[k].Ideal {
			now[k] += float64(s.polled - s.polls)
		}
	}
	s.polling, s.last = false, s.polled
}

// compute adds the computation before a call.
func (x *Simulation) compute(c *match.Call, s *thread, now []float64) {
	gap := float64(c.Enter - s.last)
	if gap <= 0 {
		return
	}
	useful := x.of(x.useful, c.Thread.Index)
	if x.factors == nil {
		for k := range now {
			now[k] += gap
			useful[k] += gap
		}
		return
	}
	at := x.places.number(c.Thread, c.Node)
	for k, f := range x.factors.ranks[c.Thread.Index] {
		x.arrival[k] = gap * f
	}
	for _, f := range x.factors.places[at] {
		r := f.rule
		if !r.Call && r.covers(c.Thread) && (r.From == nil || *r.From == x.places.texts[s.place]) {
			x.arrival[f.scenario] *= r.Factor
		}
	}
	for k, t := range x.arrival {
		now[k] += t
		useful[k] += t
	}
}

// post notes when an operation is posted.
func (x *Simulation) post(o *match.Operation, now []float64) {
	for (o.ID+1)*len(now) > len(x.posted) {
		x.posted = append(x.posted, now...)
	}
	copy(x.of(x.posted, o.ID), now)
	if x.typical != nil {
		x.typical.posted(o)
	}
	if o.Collective == nil {
		return
	}
	x.enter(x.entered(o.Collective, 0), now)
	if side := o.Side(); side != 0 {
		x.enter(x.entered(o.Collective, side), now)
	}
}

// entered is when the last of the members of a collective call entered it, as far as they have: of those of one group of
// an intercommunicator, or of all, if side is 0. It is nil if none has.
func (x *Simulation) entered(c *match.Collective, side int) *[]float64 {
	const sides = 3
	for sides*c.ID+side >= len(x.latest) {
		x.latest = append(x.latest, nil)
	}
	return &x.latest[sides*c.ID+side]
}

// enter notes that one more member has entered a collective call.
func (x *Simulation) enter(latest *[]float64, now []float64) {
	if *latest == nil {
		*latest = x.room()
		copy(*latest, now)
	}
	for k, t := range now {
		(*latest)[k] = max((*latest)[k], t)
	}
}

// room is for the times of a collective.
func (x *Simulation) room() []float64 {
	if last := len(x.spare) - 1; last >= 0 {
		r := x.spare[last]
		x.spare = x.spare[:last]
		return r
	}
	return make([]float64, len(x.scenarios))
}

// Exit implements match.Visitor.
func (x *Simulation) Exit(c *match.Call) {
	if c.Proc.Annotates() {
		return
	}
	s := &x.threads[c.Thread.Index]
	switch {
	case c.Proc != nil && c.Proc.Begins:
		x.leaveInit(c)
	case s.ended:
	case c.FoundNothing:
		if !s.polling {
			s.polling, s.polls = true, c.Began
		}
		s.polled = c.Exit
		return
	default:
		x.complete(c, x.of(x.now, c.Thread.Index))
		x.end = max(x.end, c.Exit)
	}
	x.tidy(c)
	s.polling, s.last = false, c.Exit
	if x.factors != nil {
		s.place = x.places.number(c.Thread, c.Node)
	}
}

// leaveInit: the run begins.
func (x *Simulation) leaveInit(c *match.Call) {
	now, useful := x.of(x.now, c.Thread.Index), x.of(x.useful, c.Thread.Index)
	for k := range now {
		now[k], useful[k] = float64(c.Exit), 0
		if x.scenarios[k].Ideal {
			now[k] = 0
		}
	}
	if !x.initialized || c.Exit < x.begin {
		x.initialized, x.begin = true, c.Exit
	}
	x.end = max(x.end, c.Exit)
}

// complete finds out when a call ends.
func (x *Simulation) complete(c *match.Call, now []float64) {
	ready := float64(c.Began) // when all was there, as recorded
	copy(x.arrival, now)
	posted := int64(math.MinInt64)
	for _, o := range c.Done {
		there, last := x.arrive(c, o)
		ready, posted = max(ready, there), max(posted, last)
	}
	if len(c.Done) > 0 && x.learning != nil {
		x.learning.learn(c, posted)
	}
	if len(c.Done) > 0 && x.typical != nil {
		x.model(c, now)
	}
	local := max(float64(c.Exit)-ready, 0)
	own := x.calls(&x.own, c)
	for k := range now {
		if len(c.Done) > 0 && x.scenarios[k].Modelled {
			now[k] = x.ends[k]
			continue
		}
		now[k] = x.arrival[k] + x.cost(&x.scenarios[k], c, local, own)*x.callFactor(c, k)
	}
}

// arrive takes into account when what an operation depends on is there, in each scenario, and
// returns when it was there, and when it was posted, as recorded.
func (x *Simulation) arrive(c *match.Call, o *match.Operation) (there float64, posted int64) {
	recorded, times := x.dependency(c, o)
	if times == nil {
		return 0, math.MinInt64
	}
	own := x.carries(&x.own, o)
	took := min(own, float64(c.Exit-recorded)) // below 0 if times contradict each other
	for k, t := range times {
		switch s := &x.scenarios[k]; {
		case s.Ideal:
		case s.Network != nil:
			t += max(took+x.carries(s.Network, o)-own, min(took, 0))
		default:
			t += took
		}
		x.arrival[k] = max(x.arrival[k], t)
	}
	return float64(recorded) + took, recorded
}

// cost is what a call takes besides waiting. own is the recorded network's part in local.
func (x *Simulation) cost(s *Scenario, c *match.Call, local, own float64) float64 {
	communicates := len(c.Done) > 0 // else it waits for nothing
	switch {
	case s.Ideal:
		return 0
	case !communicates:
		return local
	case s.Network != nil:
		return max(local+x.calls(s.Network, c)-own, 0)
	}
	return local
}

func (x *Simulation) callFactor(c *match.Call, k int) float64 {
	if x.factors == nil {
		return 1
	}
	product := 1.0
	for _, f := range x.factors.places[x.places.number(c.Thread, c.Node)] {
		if f.scenario == k && f.rule.Call && f.rule.covers(c.Thread) {
			product *= f.rule.Factor
		}
	}
	return product
}

// dependency is when what an operation depends on was posted: as recorded, and in each scenario.
// times is nil if it depends on nothing.
func (x *Simulation) dependency(c *match.Call, o *match.Operation) (recorded int64, times []float64) {
	w := o.WaitsFor()
	if w == nil {
		if o.Collective != nil && o.Collective.Last == o {
			return o.Enter, x.members(o) // others may be later in a scenario
		}
		return 0, nil
	}
	switch o.Kind {
	case match.ReceiveMessage, match.ProbeMessage, match.StartAccess, match.WaitExposure:
		return w.Enter, x.of(x.posted, w.ID)
	case match.SendMessage:
		if w.Enter > c.Began && w.Enter <= c.Exit && (o.Bytes > x.eager || mode(o) == signature.SynchronousMode) { // it waited: it is synchronous
			return w.Enter, x.of(x.posted, w.ID)
		}
	case match.TakePart:
		return w.Enter, x.members(o)
	}
	return 0, nil
}

// members is when those have entered a collective that one of them needs; nil if it need not wait.
func (x *Simulation) members(o *match.Operation) []float64 {
	if o.NeedsOtherSide() {
		return *x.entered(o.Collective, 3-o.Side())
	}
	all := *x.entered(o.Collective, 0)
	switch o.Collective.Proc.Sync {
	case signature.SyncAll:
		return all
	case signature.SyncAtRoot:
		if o.WaitsFor() != nil {
			return all
		}
		return nil
	case signature.SyncSome:
		return nil
	}
	if w := o.WaitsFor(); w != nil {
		return x.of(x.posted, w.ID)
	}
	return nil
}

// tidy forgets the collectives that all members have left after the call.
func (x *Simulation) tidy(c *match.Call) {
	for _, o := range c.Done {
		if n := o.Collective; n != nil && n.Left == n.Members-1 {
			for side := range min(o.Side(), 1)*2 + 1 {
				if latest := x.entered(n, side); *latest != nil {
					x.spare = append(x.spare, *latest)
					*latest = nil
				}
			}
		}
	}
}

// Recorded is the time that the run took, ns, see Prediction.Time.
func (x *Simulation) Recorded() float64 { return float64(x.end - x.begin) }

// Predictions are those of the scenarios.
func (x *Simulation) Predictions() []Prediction {
	list := make([]Prediction, len(x.scenarios))
	for k := range list {
		p := &list[k]
		p.Ranks, p.MostRank = len(x.trace.Processes), -1
		for _, q := range x.trace.Processes {
			useful := 0.0
			for _, t := range q.Threads {
				useful = max(useful, x.of(x.useful, t.Index)[k])
				p.Time = max(p.Time, x.of(x.now, t.Index)[k])
			}
			p.Useful += useful
			if p.MostRank < 0 || useful > p.Most {
				p.Most, p.MostRank = useful, q.Rank
			}
		}
		if !x.scenarios[k].Ideal {
			p.Time -= float64(x.begin)
		}
	}
	return list
}
