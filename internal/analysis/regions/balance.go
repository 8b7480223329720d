package regions

import (
	"cmp"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Unbalanced is a fault of several ranks at one place of the program.
type Unbalanced struct {
	Op, Site, Text string
	Count          uint64
	Ranks          []int
}

// OpenAt is a thread whose recording ends in regions because it ends early.
type OpenAt struct {
	Rank    int
	Thread  uint32
	Regions []string // the outermost first
}

// Balance says where regions are not balanced, and which are open where recordings end early.
type Balance struct {
	Unbalanced []Unbalanced
	Open       []OpenAt
	// Partial: there are regions, and only some of the ranks were looked at, because too many differ.
	Partial bool
}

// mostDifferent bounds the processes that are read for a Balance.
const mostDifferent = 1 << 8

// BalanceOf looks at one process of each rank class, of at most so many.
func BalanceOf(run *runfile.Run) (*Balance, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	b := &balancer{found: map[foundKey]*Unbalanced{}, ranks: map[int][]int{}, sites: sites}
	procs, err := b.different(run)
	if err != nil {
		return nil, err
	}
	if err := analysis.EachUntimed(run, procs, b.process); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

type foundKey struct{ op, site, text string }

type balancer struct {
	balance Balance
	ranks   map[int][]int // that are like a process, by its number
	sites   []runfile.Site
	cut     bool // there are too many different processes

	mu    sync.Mutex
	found map[foundKey]*Unbalanced
	named bool
}

// different lists a process of each class.
func (b *balancer) different(run *runfile.Run) ([]int, error) {
	var procs []int
	first := map[runfile.ClassKey]int{}
	for i := range run.Procs {
		like := i
		if !run.Unlike(i) {
			key, ok, err := run.RankClass(i)
			if err != nil {
				return nil, err
			}
			if known, seen := first[key]; ok && seen {
				like = known
			} else if ok {
				first[key] = i
			}
		}
		if like == i {
			if len(procs) == mostDifferent {
				b.cut = true
				break
			}
			procs = append(procs, i)
		}
		b.ranks[like] = append(b.ranks[like], run.Procs[i].Rank)
	}
	return procs, nil
}

func (b *balancer) process(p *analysis.Process) error {
	threads, err := FollowAll(p)
	if err != nil {
		return err
	}
	var names *reconstruct.Names
	for i, t := range threads {
		if t == nil {
			continue
		}
		if names == nil {
			names = reconstruct.NamesOf(p.Data, b.sites)
		}
		b.thread(p, &p.Data.Streams[i], t, names)
	}
	return nil
}

func (b *balancer) thread(p *analysis.Process, s *efg.Stream, t *Thread, names *reconstruct.Names) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.named = true
	ranks := b.ranks[p.Number()]
	for i := range t.Faults {
		f := &t.Faults[i]
		site := s.Nodes[f.Node].Words[1]
		key := foundKey{signature.ProcByID(signature.Header(s.Nodes[f.Node].Words[0]).Proc()).Name, names.Callsite(site), t.FaultText(f)}
		u := b.found[key]
		if u == nil {
			u = &Unbalanced{Op: key.op, Site: key.site, Text: key.text}
			b.found[key] = u
		}
		u.Count += f.Count * uint64(len(ranks))
		u.Ranks = append(u.Ranks, ranks...)
	}
	if t.Open != Outside {
		for _, r := range ranks {
			b.balance.Open = append(b.balance.Open, OpenAt{r, s.Thread, t.Path(t.Open)})
		}
	}
}

func (b *balancer) finish() *Balance {
	b.balance.Partial = b.cut && b.named
	for _, u := range b.found {
		slices.Sort(u.Ranks)
		u.Ranks = slices.Compact(u.Ranks)
		b.balance.Unbalanced = append(b.balance.Unbalanced, *u)
	}
	slices.SortFunc(b.balance.Unbalanced, func(x, y Unbalanced) int {
		return cmp.Or(cmp.Compare(x.Ranks[0], y.Ranks[0]), cmp.Compare(x.Site, y.Site), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Text, y.Text))
	})
	slices.SortFunc(b.balance.Open, func(x, y OpenAt) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Thread, y.Thread))
	})
	return &b.balance
}
