package regions

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// Thread is what a thread does in its regions.
type Thread struct {
	Frames []Frame // by number
	// Visits says how often the thread visits each node in each frame. An event that begins or ends a
	// region is in the frame that was open before it.
	Visits map[Place]uint64
	Begun  map[int32]uint64 // how often each frame was begun
	Faults []Fault
	// Open is the frame in which the recording ends, if it is not known to be complete: what may have
	// ended its regions is missing.
	Open int32
	// Lost: there were more regions, or deeper ones, than are kept.
	Lost bool

	s       *efg.Stream
	names   *names
	actions []action
	fold    *efg.FoldedWalk
	stack   *stack
	sizes   map[*efg.Step]size
	faultAt map[faultKey]int
	volumes map[int32]*analysis.Volume // by frame: what events of the nodes in varied move
	varied  []bool
	volume  func(*efg.Step) *analysis.Volume // nil: not asked for

	// Of the event at hand:
	node  int
	name  uint64
	seq   uint64
	times uint64
}

// Place is a node in a frame.
type Place struct {
	Frame int32
	Node  int
}

// size is what a repeat has in one turn.
type size struct {
	events uint64
	named  bool // regions begin or end in it
}

// Named reports whether regions begin or end in a stream.
func Named(s *efg.Stream) bool {
	for k := range s.Nodes {
		if actionOf(&s.Nodes[k]) != noAction {
			return true
		}
	}
	return false
}

// Follow follows the regions of Data.Streams[i]; nil if none begin or end there.
func Follow(p *analysis.Process, i int) (*Thread, error) {
	s := &p.Data.Streams[i]
	if !Named(s) {
		return nil, nil
	}
	actions := actionsOf(s)
	return follow(p, i, actions, masks(actions), make([]bool, len(actions)))
}

// followVolumes is like Follow; it also adds up what the events of nodes move that are in several frames
// and do not all move the same.
func followVolumes(p *analysis.Process, i int) (*Thread, error) {
	t, err := Follow(p, i)
	if t == nil || err != nil {
		return nil, err
	}
	frames, words, varied, again := make([]int, len(t.actions)), masks(t.actions), make([]bool, len(t.actions)), false
	for at := range t.Visits {
		frames[at.Node]++
	}
	for k := range frames {
		if w := p.VolumeWords(i, k); w != 0 && frames[k] > 1 && p.VolumeByWords(i, k) {
			words[k] |= w
			varied[k], again = true, true
		}
	}
	if !again {
		return t, nil
	}
	return follow(p, i, t.actions, words, varied)
}

func follow(p *analysis.Process, i int, actions []action, words []uint64, varied []bool) (*Thread, error) {
	s := &p.Data.Streams[i]
	t := &Thread{
		s: s, names: namesOf(p.Data), Visits: map[Place]uint64{}, Begun: map[int32]uint64{}, actions: actions, stack: newStack(),
		sizes: map[*efg.Step]size{}, faultAt: map[faultKey]int{}, volumes: map[int32]*analysis.Volume{}, varied: varied,
	}
	t.stack.fault = t.note
	t.fold = efg.NewFoldedWalk(s, p.Data.Defs, words)
	t.volume = p.StepVolumes(i, t.fold, varied)
	err := t.fold.Each(func(steps []efg.Step) error {
		clear(t.sizes)
		t.run(steps, 1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.finish()
	return t, nil
}

func actionsOf(s *efg.Stream) []action {
	list := make([]action, len(s.Nodes))
	for k := range list {
		list[k] = actionOf(&s.Nodes[k])
	}
	return list
}

// masks returns the words that decide which regions are open.
func masks(actions []action) []uint64 {
	list := make([]uint64, len(actions))
	for k, a := range actions {
		if a != noAction {
			list[k] = 1 << nameWord
		}
	}
	return list
}

// finish closes what is open at the end.
func (t *Thread) finish() {
	t.Frames, t.Lost = t.stack.frames, t.stack.lost
	t.fold, t.volume, t.sizes = nil, nil, nil // what refers to the process
	if t.s.End == efg.EndOpen || t.s.Dropped > 0 {
		t.Open = t.stack.top
		return
	}
	t.times, t.name = 1, signature.Absent
	for f := t.stack.top; f != Outside; f = t.Frames[f].Parent {
		t.note(NeverEnded, f)
	}
}

// measure returns the size of a repeat.
func (t *Thread) measure(s *efg.Step) size {
	x, ok := t.sizes[s]
	if ok {
		return x
	}
	for i := range s.Body {
		b := &s.Body[i]
		if b.Times == 0 {
			x.events++
			x.named = x.named || t.actions[b.Node] != noAction
			continue
		}
		body := t.measure(b)
		x.events += b.Times * body.events
		x.named = x.named || body.named
	}
	t.sizes[s] = x
	return x
}

// run goes through steps that occur m times, one after another, with the same regions open.
func (t *Thread) run(steps []efg.Step, m uint64) {
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Times == 0:
			t.event(s, m)
		case t.measure(s).named:
			t.repeat(s, m)
		default:
			t.bulk(s.Body, m*s.Times)
			t.seq += s.Times * t.measure(s).events
		}
	}
}

// repeat goes through the turns of a repeat. Once a turn leaves open what it found open, the others
// are like it, and the last one stands for them.
func (t *Thread) repeat(s *efg.Step, m uint64) {
	x, events := t.stack, t.measure(s).events
	for left := s.Times; left > 0; {
		top, beyond := x.top, x.beyond
		x.least = beyond
		t.run(s.Body, m)
		if left--; left == 0 || x.top != top {
			continue
		}
		alike := left
		switch {
		case x.beyond == beyond:
		case beyond == 0 || x.least == 0:
			continue
		case x.beyond > beyond: // each turn begins more regions than are kept
			x.beyond += (x.beyond - beyond) * (left - 1)
		default: // each turn ends some of them
			if alike = min(left, (x.least-1)/(beyond-x.beyond)); alike == 0 {
				continue
			}
			x.beyond -= (beyond - x.beyond) * (alike - 1)
		}
		t.seq += events * (alike - 1)
		t.run(s.Body, m*alike)
		left -= alike
	}
}

// bulk counts steps in which no region begins or ends.
func (t *Thread) bulk(steps []efg.Step, n uint64) {
	for i := range steps {
		if s := &steps[i]; s.Times == 0 {
			t.visit(s, n)
		} else {
			t.bulk(s.Body, n*s.Times)
		}
	}
}

// visit counts an event that occurs n times.
func (t *Thread) visit(s *efg.Step, n uint64) {
	t.Visits[Place{t.stack.top, s.Node}] += n
	if v := t.volume(s); v != nil {
		sum := t.volumes[t.stack.top]
		if sum == nil {
			sum = &analysis.Volume{}
			t.volumes[t.stack.top] = sum
		}
		sum.Add(v, n)
	}
}

func (t *Thread) event(s *efg.Step, m uint64) {
	t.visit(s, m)
	if a := t.actions[s.Node]; a != noAction {
		t.node, t.name, t.times = s.Node, t.fold.Words(s)[nameWord], m
		if a == begins {
			if t.stack.begin(s.Node, t.name, t.seq) {
				t.Begun[t.stack.top] += m
			}
		} else {
			t.stack.end(t.name)
		}
	}
	t.seq++
}

// Name is the name of a frame's region.
func (t *Thread) Name(frame int32) string { return t.names.text(t.Frames[frame].name) }

// Path is the names of a frame's regions, the outermost first.
func (t *Thread) Path(frame int32) []string { return pathOf(t.Frames, t.names, frame) }

func pathOf(frames []Frame, names *names, frame int32) []string {
	list := make([]string, frames[frame].Depth)
	for f := frame; f != Outside; f = frames[f].Parent {
		list[frames[f].Depth-1] = names.text(frames[f].name)
	}
	return list
}

// FollowAll follows the regions of all threads of a process.
func FollowAll(p *analysis.Process) ([]*Thread, error) {
	list := make([]*Thread, len(p.Data.Streams))
	for i := range list {
		var err error
		if list[i], err = Follow(p, i); err != nil {
			return nil, err
		}
	}
	return list, nil
}
