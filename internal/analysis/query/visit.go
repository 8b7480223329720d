package query

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/regions"
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
			names = reconstruct.NamesOf(p.Data, sites)
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
	in, err := r.nodeRegions(i)
	if err != nil {
		return err
	}
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
		if in != nil {
			if in[k].several {
				return errRegions
			}
			r.item.region = in[k].names
		}
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

// nodeRegion is the region of the events of a node.
type nodeRegion struct {
	names   []string
	known   bool
	several bool
}

// nodeRegions are the regions of the nodes of Data.Streams[i]; nil if they are not needed, or there are
// none.
func (r *reader) nodeRegions(i int) ([]nodeRegion, error) {
	if !r.regions {
		return nil, nil
	}
	t, err := regions.Follow(r.Process, i)
	if t == nil || err != nil {
		return nil, err
	}
	list := make([]nodeRegion, len(r.Data.Streams[i].Nodes))
	for at := range t.Visits {
		x, names := &list[at.Node], t.Path(at.Frame)
		x.several = x.several || x.known && !slices.Equal(x.names, names)
		x.known, x.names = true, names
	}
	return list, nil
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
	in := r.regionFollower(i)
	frame, names := int32(regions.Outside), []string(nil)
	var inside analysis.InsideTimes
	for e, err := range p.Events(i, opt) {
		if err != nil {
			return err
		}
		took := inside.Next(e)
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
		r.item.inside = took
		if now := in.At(e.Seq); now != frame {
			frame, names = now, in.Path(now)
		}
		r.item.region, r.item.attributes = names, in
		if r.attributes && n.gives {
			in.After(e.Seq) // the call that gives the value has it
		}
		if more, err := f(e, c); err != nil || !more {
			return err
		}
	}
	return nil
}

// regionFollower follows the regions of Data.Streams[i], and the attributes, if these are needed.
func (r *reader) regionFollower(i int) *regions.Follower {
	switch {
	case r.attributes:
		return regions.NewAttributeFollower(r.Data, i)
	case r.regions:
		return regions.NewFollower(r.Data, i)
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
