package query

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// visitor is called with the calls of a process that may match.
type visitor interface {
	// call is called with an event, or with equal events of a node together. The reader's item
	// describes it.
	call(c *analysis.Call)
	// endNode is called after all calls of a node, if calls come by nodes.
	endNode(n *efg.Node, visits uint64) error
}

// visit visits the calls of all processes that may match, several processes at a time: on the
// graphs, or one by one if conditions depend on single events.
func (e *engine) visit(open func(r *reader) visitor, done func(visitor)) error {
	sites, err := e.run.Sites()
	if err != nil {
		return err
	}
	each := analysis.EachUntimed
	if e.traced || e.timeTotal != nil {
		each = analysis.EachProcess
	}
	return each(e.run, e.processes(), func(p *analysis.Process) error {
		var names *reconstruct.Names
		if e.texts {
			names = reconstruct.NewNames(p.Data.Defs, sites)
		}
		r := e.reader(p, names)
		v := open(r)
		for i := range p.Data.Streams {
			var err error
			if e.byEvents {
				err = r.eachEvent(reconstruct.NewProcess(p.Data, reconstruct.NewNames(nil, nil)), i, reconstruct.Options{}, func(_ *reconstruct.Event, c *analysis.Call) (bool, error) {
					v.call(c)
					return true, nil
				})
			} else {
				err = r.eachNode(i, v)
			}
			if err != nil {
				return err
			}
		}
		done(v)
		return nil
	}, e.progress()...)
}

// eachNode visits the calls of Data.Streams[i] by nodes.
func (r *reader) eachNode(i int, v visitor) error {
	s := &r.Data.Streams[i]
	for k := range s.Nodes {
		f := r.node(i, k)
		ok, err := r.possible(i, k, f)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		r.item = item{rank: r.Data.Rank, thread: int(s.Thread), node: f}
		visits := uint64(0)
		err = r.Calls(i, k, r.engine.fields, func(c *analysis.Call) error {
			visits += c.Times
			v.call(c)
			return nil
		})
		if err == nil {
			err = v.endNode(&s.Nodes[k], visits)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachEvent calls f for the events of Data.Streams[i] that may match, in order, until f returns
// false. A stream without such events is not walked.
func (r *reader) eachEvent(p *reconstruct.Process, i int, opt reconstruct.Options, f func(*reconstruct.Event, *analysis.Call) (bool, error)) error {
	s := &r.Data.Streams[i]
	facts := make([]*nodeFacts, len(s.Nodes))
	found := false
	for k := range s.Nodes {
		n := r.node(i, k)
		ok, err := r.possible(i, k, n)
		if err != nil {
			return err
		}
		if ok {
			facts[k], found = n, true
		}
	}
	if !found {
		return nil
	}
	follower := r.Follow(i, r.engine.fields)
	all := follower.NeedsAll()
	for e, err := range p.Events(i, opt) {
		if err != nil {
			return err
		}
		n := facts[e.Node()]
		if n == nil && !all {
			continue
		}
		c, err := follower.Call(e)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		r.item = item{rank: r.Data.Rank, thread: int(s.Thread), node: n, seq: e.Seq}
		r.item.start, r.item.end, r.item.timed = e.Times()
		if more, err := f(e, c); err != nil || !more {
			return err
		}
	}
	return nil
}

// progress returns the function that is called with the number of processes done.
func (e *engine) progress() []analysis.Progress {
	if e.Progress == nil {
		return nil
	}
	return []analysis.Progress{e.Progress}
}
