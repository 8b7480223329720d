package generate

import (
	"errors"
	"slices"
	"sort"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// placeKey is where the order of calls of different threads matters although they use no object of each other: messages
// between two processes with one tag, collective operations of a communicator, calls on a window or file.
type placeKey struct {
	what            placeKind
	object          uint64
	peer, tag, kind uint64
}

type placeKind uint8

const (
	anyCall    placeKind = iota // one thread at a time may call MPI
	collective                  // at most one at a time
	onObject
	sending
	receiving
)

// place are the calls of a stream at one place.
type place struct {
	stream int
	calls  []placedCall
	alike  uint64 // what all calls pass that a swapped message would change; mixed: it differs
}

type placedCall struct {
	seq        uint64
	start, end int64
}

// numbered distinguishes the calls that make objects of one name from others.
const numbered = 1

// mixed is in place of what all calls of a place have in common.
const mixed = ^uint64(0)

// clockError bounds the errors of two times of a process, ns.
const clockError = 2000

// placed notes the places of a call, and reports whether it has any.
func (r *streamReader) placed(e *reconstruct.Event, n *node, event *orderedEvent) bool {
	found := false
	add := func(key placeKey, alike uint64) {
		found = true
		list := r.places[key]
		if k := len(list) - 1; k < 0 || list[k].stream != r.stream {
			list = append(list, place{stream: r.stream, alike: alike})
		}
		at := &list[len(list)-1]
		at.calls = append(at.calls, placedCall{event.seq, event.start, event.end})
		if at.alike != alike {
			at.alike = mixed
		}
		r.places[key] = list
	}
	if r.serial {
		add(placeKey{what: anyCall}, mixed)
		return true
	}
	p, roles := n.proc, &n.proc.Roles
	object := e.Word(signature.ObjectWord)
	kind := p.ObjectKind()
	shared := kind != signature.Comm || object == signature.CommWorld || r.variables[variableKey{kind: kind, word: object}] != nil
	switch {
	case !shared:
	case p.Collective() && kind.Object():
		add(placeKey{what: collective, object: object}, mixed)
	case kind == signature.Win || kind == signature.File:
		add(placeKey{what: onObject, object: object}, mixed)
	}
	if w := e.Word(roles.Made); p.MadeKind().Object() && !special(w) { // they are numbered in the order in which they are made
		add(placeKey{what: onObject, object: signature.Family(w), kind: numbered}, mixed)
	}
	alike := func(d *signature.Payload) uint64 {
		if d.Count == 0 || p.Vector(d.Count) {
			return signature.Hash(e.Word(d.Type), e.Word(roles.StatusBytes))
		}
		return signature.Hash(e.Word(d.Count), e.Word(d.Type), e.Word(roles.StatusBytes))
	}
	if roles.Dest != 0 && kind == signature.Comm && shared {
		add(placeKey{what: sending, object: object, peer: e.Word(roles.Dest), tag: e.Word(roles.SendTag)}, alike(&roles.Send))
	}
	if roles.Source != 0 && kind == signature.Comm && shared {
		add(placeKey{what: receiving, object: object, peer: e.Word(roles.Source), tag: e.Word(roles.RecvTag)}, alike(&roles.Recv))
	}
	return found
}

// compareTimes finds for each call at a place the calls of other threads that returned before it began.
func (o *ordering) compareTimes() error {
	o.joinWildcards()
	needed := make([]map[uint64][]reference, len(o.events)) // by stream, by number of the event
	for i := range needed {
		needed[i] = map[uint64][]reference{}
	}
	for key, list := range o.places {
		if len(list) < 2 || sameEverywhere(list) {
			continue
		}
		if !o.timed {
			if err := key.unordered(); err != nil {
				return err
			}
			continue
		}
		for i := range list {
			for k := range list {
				if i != k {
					list[k].before(&list[i], key.what, needed)
				}
			}
		}
	}
	o.places = nil
	for i, list := range o.events {
		o.events[i] = keep(list, needed[i], needed, i)
	}
	for i := range o.events {
		for k := range o.events[i] {
			e := &o.events[i][k]
			for _, r := range needed[i][e.seq] {
				if at, ok := o.at(r.stream, uint64(r.at)); ok {
					e.after = append(e.after, reference{r.stream, at})
				}
			}
		}
	}
	return nil
}

// unordered returns an error if calls at a place must be made in their order, which is not known.
func (key *placeKey) unordered() error {
	switch {
	case key.what == collective:
		return errors.New("several threads call collectives of one communicator, window or file: without times it is unknown in which order (record with --time trace)")
	case key.what == onObject && key.kind != numbered:
		return errors.New("several threads make calls on one window or file: without times it is unknown in which order (record with --time trace)")
	}
	return nil
}

// at is where the event with a number is among those of a stream that matter.
func (o *ordering) at(stream int, seq uint64) (int, bool) {
	list := o.events[stream]
	k := sort.Search(len(list), func(i int) bool { return list[i].seq >= seq })
	return k, k < len(list) && list[k].seq == seq
}

// keep leaves out events without objects that no other event is before or after.
func keep(list []orderedEvent, after map[uint64][]reference, all []map[uint64][]reference, stream int) []orderedEvent {
	before := map[uint64]bool{}
	for _, m := range all {
		for _, refs := range m {
			for _, r := range refs {
				if r.stream == stream {
					before[uint64(r.at)] = true
				}
			}
		}
	}
	return slices.DeleteFunc(list, func(e orderedEvent) bool {
		return len(e.ops) == 0 && len(after[e.seq]) == 0 && !before[e.seq]
	})
}

// sameEverywhere reports whether swapped messages would change nothing.
func sameEverywhere(list []place) bool {
	return !slices.ContainsFunc(list, func(p place) bool { return p.alike == mixed || p.alike != list[0].alike })
}

// before notes for the calls of another stream the last call of this one that came before.
func (p *place) before(other *place, what placeKind, needed []map[uint64][]reference) {
	k := 0
	for _, c := range other.calls {
		for k < len(p.calls) && p.calls[k].isBefore(&c, what) {
			k++
		}
		if k > 0 {
			needed[other.stream][c.seq] = append(needed[other.stream][c.seq], reference{p.stream, int(p.calls[k-1].seq)})
		}
	}
}

// isBefore reports whether a call came before another one. Where only one call at a time is possible, that which began
// earlier did.
func (c *placedCall) isBefore(other *placedCall, what placeKind) bool {
	switch what {
	case anyCall, collective:
		return c.start < other.start
	case onObject:
		return c.end <= other.start
	}
	return c.end+clockError <= other.start
}

// joinWildcards makes one place of those of receives that can get each other's messages.
func (o *ordering) joinWildcards() {
	wild := map[uint64]bool{} // communicators
	for key := range o.places {
		if key.what == receiving && (key.peer == signature.AnySource || key.tag == signature.AnyTag) {
			wild[key.object] = true
		}
	}
	for key, list := range o.places {
		if key.what != receiving || !wild[key.object] || key.kind == mixed {
			continue
		}
		all := placeKey{what: receiving, object: key.object, kind: mixed}
		joined := o.places[all]
		for _, p := range list {
			k := slices.IndexFunc(joined, func(q place) bool { return q.stream == p.stream })
			if k < 0 {
				joined = append(joined, place{stream: p.stream, alike: mixed})
				k = len(joined) - 1
			}
			joined[k].calls = append(joined[k].calls, p.calls...)
			slices.SortFunc(joined[k].calls, func(a, b placedCall) int { return int(int64(a.seq) - int64(b.seq)) })
		}
		o.places[all] = joined
		delete(o.places, key)
	}
}
