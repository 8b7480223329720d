package regions

import (
	"github.com/efg-tools/efg/efg"
)

// Follower says in which region the events of a thread are, one after another.
type Follower struct {
	actions []action
	walk    *efg.Walker
	stack   *stack
	names   *names
	next    uint64 // number of the next event to look at
	ended   bool

	attributes *attributes // nil: they are not followed
}

// NewFollower returns a follower of Data.Streams[i] of a process; nil if no regions begin or end there.
func NewFollower(p *efg.Process, i int) *Follower {
	s := &p.Streams[i]
	if !Named(s) {
		return nil
	}
	f := &Follower{actions: actionsOf(s), stack: newStack(), names: namesOf(p)}
	f.walk = s.WalkWords(p.Defs, masks(f.actions))
	return f
}

// At returns the number of the frame in which an event is; one that begins or ends a region is in the
// frame that is open before it. The numbers of the events must not descend. The frame of an event that the
// stream does not have is that of its end. A follower that is nil finds everything Outside.
func (f *Follower) At(event uint64) int32 {
	if f == nil {
		return Outside
	}
	for f.next < event {
		if _, ok := f.Next(); !ok {
			break
		}
	}
	return f.stack.top
}

// Next goes to the next event and returns its node; false if there is none.
func (f *Follower) Next() (node int, ok bool) {
	if f.ended = f.ended || !f.walk.Next(); f.ended {
		return 0, false
	}
	if a := f.actions[f.walk.Node()]; a != noAction {
		f.apply(a)
	}
	f.next++
	return f.walk.Node(), true
}

// Err is why there is no next event, if that is not the end of the stream.
func (f *Follower) Err() error { return f.walk.Err() }

// Top is the frame after the last event that was looked at.
func (f *Follower) Top() int32 { return f.stack.top }

// Depth is the number of regions in which a frame is, with its own.
func (f *Follower) Depth(frame int32) int { return int(f.stack.frames[frame].Depth) }

// After returns the frame in which an event leaves the thread: see At.
func (f *Follower) After(event uint64) int32 { return f.At(event + 1) }

func (f *Follower) apply(a action) {
	words := f.walk.Words()
	switch {
	case words == nil: // the walk ends there
	case a == gives:
		f.give(words)
	case a == begins:
		f.stack.begin(f.walk.Node(), words[nameWord], f.next)
	default:
		f.stack.end(words[nameWord])
	}
	if f.attributes != nil {
		f.attributes.fit(f.stack.frames[f.stack.top].Depth)
	}
}

// Frames is the number of frames so far.
func (f *Follower) Frames() int { return len(f.stack.frames) }

// Chain is a frame with those around it, the outermost first, without Outside.
func (f *Follower) Chain(frame int32) []int32 {
	list := make([]int32, f.stack.frames[frame].Depth)
	for ; frame != Outside; frame = f.stack.frames[frame].Parent {
		list[f.stack.frames[frame].Depth-1] = frame
	}
	return list
}

// Name is the name of a frame's region.
func (f *Follower) Name(frame int32) string { return f.names.text(f.stack.frames[frame].name) }

// Path is the names of a frame's regions, the outermost first.
func (f *Follower) Path(frame int32) []string { return pathOf(f.stack.frames, f.names, frame) }

// Numbers are the numbers of a follower's frames, as far as they were asked for.
type Numbers struct{ list []int32 }

// Of is the number of a frame.
func (n *Numbers) Of(f *Follower, frame int32, paths *Paths) int32 {
	for int(frame) >= len(n.list) {
		n.list = append(n.list, paths.Number(f.Path(int32(len(n.list)))))
	}
	return n.list[frame]
}
