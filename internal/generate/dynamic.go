package generate

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// attachedAt is where the memory begins that the program attaches to dynamic windows: at the same address in all
// processes, so that displacements are known when the program is written.
const attachedAt = 1 << 37

// target is a process as the target of accesses to a dynamic window.
type target struct {
	window uint64
	rank   int // in the window
}

var dynamicWindow = signature.ConstantByName("EFG_WIN_DYNAMIC").Word()

// isDynamic reports whether memory is attached to a window.
func (p *process) isDynamic(w uint64) bool {
	d := p.definition(signature.Family(w))
	return !special(w) && d != nil && d.Kind == efg.DefWin && len(d.Words) > 1 && d.Words[1] == dynamicWindow
}

// attaches reports whether calls attach memory to a window, or detach it.
func (n *node) attaches() bool {
	return n.proc.Name == "MPI_Win_attach" || n.proc.Name == "MPI_Win_detach"
}

// maxAttachments bounds the calls that attach and detach memory, and the accesses to it that differ.
const maxAttachments = 1 << 22

// noteAccesses notes what calls of a node access in dynamic windows. The node's values are as recorded.
func (p *process) noteAccesses(n *node) error {
	r := &n.proc.Roles
	if r.TargetDisp == 0 && !n.attaches() {
		return nil
	}
	dynamic := n.attaches()
	n.values[signature.ObjectWord].each(func(w uint64) { dynamic = dynamic || p.isDynamic(w) })
	if !dynamic {
		return nil
	}
	window := n.values[signature.ObjectWord]
	n.window = &window
	if n.attaches() {
		return nil
	}
	return p.eachAccess(n, func(at target, disp uint64, s span) uint64 {
		if s.low == s.high {
			return disp
		}
		s = span{low: int64(disp) + s.low, high: int64(disp) + s.high}
		if old, ok := p.accesses[at]; ok {
			s = s.union(old)
		}
		p.accesses[at] = s
		return disp
	})
}

// eachAccess calls f for the accesses of a node to dynamic windows, with what they access beyond their displacement. f
// returns the displacement that they get.
func (p *process) eachAccess(n *node, f func(at target, disp uint64, s span) uint64) error {
	r := &n.proc.Roles
	words := []*value{n.window, &n.values[r.Target], &n.values[r.TargetDisp], &n.values[r.TargetData.Type]}
	if r.TargetData.Count != 0 {
		words = append(words, &n.values[r.TargetData.Count])
	}
	visits := uint64(1)
	cursors := make([]valueCursor, len(words))
	for i, v := range words {
		cursors[i].value = v
		if _, ok := v.constant(); !ok {
			visits = n.visits
		}
	}
	if visits > maxAttachments {
		return fmt.Errorf("%s: more than %d accesses to dynamic windows that differ", n.proc.Name, maxAttachments)
	}
	out := series(nil)
	for range visits {
		now := [5]uint64{4: 1}
		for i := range cursors {
			now[i], _ = cursors[i].next()
		}
		disp := now[2]
		if p.isDynamic(now[0]) && !special(now[1]) && !special(disp) {
			s := span{0, 1, 0}
			if !n.resolved {
				s = p.types.of(now[3]).place(0, int64(now[4]))
			}
			disp = f(target{now[0], int(now[1])}, disp, s)
		}
		out = out.add(disp)
	}
	n.values[r.TargetDisp] = value{series: out.fold()}
	return nil
}

// attach gives the memory that processes attach to dynamic windows its addresses, and accesses their displacements. It
// returns how much memory there is.
func attach(procs []*process) (int64, error) {
	all := map[target]span{}
	for _, p := range procs {
		for at, s := range p.accesses {
			if old, ok := all[at]; ok {
				s = s.union(old)
			}
			all[at] = s
		}
	}
	areas, end := map[uint64]int64{}, int64(attachedAt)
	for _, p := range procs {
		sizes, err := p.attachments()
		if err != nil {
			return 0, fmt.Errorf("rank %d: %w", p.rank, err)
		}
		for _, s := range sizes {
			at := target{s.window, p.rankIn(s.window)}
			if a := all[at]; at.rank < 0 || a.high-a.low > s.least {
				return 0, fmt.Errorf("rank %d: MPI_Win_attach: accesses to the window reach further than the %d bytes attached: which part of them belongs to which memory is unknown", p.rank, s.least)
			}
			if _, ok := areas[s.window]; !ok {
				areas[s.window] = end
			}
			end = max(end, areas[s.window]+s.most+alignAttached)
		}
		end = (end + pageSize - 1) / pageSize * pageSize
	}
	for _, p := range procs {
		for _, n := range p.list() {
			if err := p.resolve(n, areas, all); err != nil {
				return 0, fmt.Errorf("rank %d: %w", p.rank, err)
			}
		}
	}
	return end - attachedAt, nil
}

const (
	alignAttached = 8 // what addresses keep of their alignment
	pageSize      = 4096
)

// attachedSize is the memory that a process attaches to a window, one piece at a time.
type attachedSize struct {
	window      uint64
	least, most int64
}

// attachments are the pieces of memory that a process attaches, by window.
func (p *process) attachments() ([]attachedSize, error) {
	type cursors struct{ window, size valueCursor }
	of, total := map[int]*cursors{}, uint64(0)
	for _, n := range p.list() {
		if n.attaches() && n.header.ErrorClass() == 0 {
			c := &cursors{window: valueCursor{value: n.window}}
			if q := n.proc.Param("size"); q >= 0 {
				in, _ := n.words(q)
				c.size.value = &n.values[in]
			}
			of[n.number], total = c, total+n.visits
		}
	}
	if total > maxAttachments {
		return nil, fmt.Errorf("more than %d calls attach and detach memory", maxAttachments)
	}
	var list []attachedSize
	index, attached := map[uint64]int{}, map[uint64]bool{}
	called, err := p.onlyThread(func(node int) bool { return of[node] != nil })
	if err != nil {
		return nil, err
	}
	execute(called, func(node int) {
		c := of[node]
		w, _ := c.window.next()
		if c.size.value == nil {
			attached[w] = false
			return
		}
		size, _ := c.size.next()
		if attached[w] {
			err = fmt.Errorf("MPI_Win_attach: several pieces of memory are attached to a window at the same time: which one is accessed is unknown")
		}
		attached[w] = true
		k, ok := index[w]
		if !ok {
			k = len(list)
			index[w] = k
			list = append(list, attachedSize{w, int64(size), int64(size)})
		}
		list[k].least, list[k].most = min(list[k].least, int64(size)), max(list[k].most, int64(size))
	})
	return list, err
}

// rankIn is the process's rank in a window, -1 if it is unknown.
func (p *process) rankIn(window uint64) int {
	d := p.definition(signature.Family(window))
	if d == nil || len(d.Words) == 0 {
		return -1
	}
	if d.Words[0] == signature.CommWorld {
		return p.rank
	}
	for i, r := range p.membersOf(d.Words[0]) {
		if r == p.rank {
			return i
		}
	}
	return -1
}

// resolve sets the displacements of a node's accesses, or the addresses of what its calls attach.
func (p *process) resolve(n *node, areas map[uint64]int64, all map[target]span) error {
	if n.window == nil {
		return nil
	}
	address := func(at target) int64 { return areas[at.window] + all[at].low&(alignAttached-1) }
	n.resolved = true
	if !n.attaches() {
		return p.eachAccess(n, func(at target, disp uint64, _ span) uint64 {
			return uint64(address(at) + int64(disp) - all[at].low)
		})
	}
	base, _ := n.words(n.proc.Param("base"))
	s, err := n.window.series.mappedEach(func(w uint64) (uint64, error) {
		return uint64(address(target{w, p.rankIn(w)}) - attachedAt), nil
	})
	n.values[base] = value{series: s}
	return err
}
