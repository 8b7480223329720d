// Package sim makes the recording that the recorder would make of a program on any number of
// ranks, without running it: a 3-D halo exchange, a master with workers, an adaptive mesh,
// random pairs. Every event is formed as the hook forms it and passed to the builder that is
// equivalent to the recorder, so the result is a recording like others, for as many ranks as
// the largest machines have.
//
// A rank's recording depends on the configuration and the rank alone: ranks can
// be made in any order, and any number of them at once.
package sim

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// RanksPerNode is the number of ranks of a simulated node.
const RanksPerNode = 64

// Config says what to simulate.
type Config struct {
	Program string // one of Programs
	Ranks   int
	Steps   int
	Seed    uint64
	// Grid is the number of ranks of the halo exchange along each dimension; 0 means as equal
	// as possible.
	Grid [3]int
	// Periodic: the domain of the halo exchange has no border.
	Periodic bool
	// Null: at a border the halo exchange calls with MPI_PROC_NULL instead of not calling.
	Null bool
	// Signatures is the number of different messages that a random pair exchanges; 0 means 256.
	Signatures int
	// Regrid is the number of steps after which the mesh changes; 0 means 7.
	Regrid int
	// Stats: with time statistics.
	Stats bool
	// Trace: segments also have the times of each call, which are those of the recording; run
	// files and processes have none.
	Trace bool
}

// program is one of the simulated programs.
type program struct {
	name string
	text *text
	run  func(*rank)
}

var programs = []program{
	{"halo", haloText, halo}, {"farm", farmText, farm}, {"mesh", meshText, mesh}, {"random", randomText, random},
}

// Programs are the names of the programs.
func Programs() []string {
	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	return names
}

func (c *Config) program() (*program, error) {
	for i := range programs {
		if programs[i].name == c.Program {
			return &programs[i], nil
		}
	}
	return nil, fmt.Errorf("no program %q", c.Program)
}

// check fills in defaults, and rejects invalid configurations.
func (c *Config) check() (*program, error) {
	p, err := c.program()
	if err != nil {
		return nil, err
	}
	if c.Ranks < 2 || c.Steps < 0 {
		return nil, fmt.Errorf("%d ranks, %d steps", c.Ranks, c.Steps)
	}
	if c.Grid == [3]int{} {
		c.Grid = balanced(c.Ranks)
	}
	if c.Grid[0]*c.Grid[1]*c.Grid[2] != c.Ranks {
		return nil, fmt.Errorf("a grid of %v has not %d ranks", c.Grid, c.Ranks)
	}
	if c.Signatures <= 0 {
		c.Signatures = 256
	}
	if c.Signatures > maxSignatures {
		return nil, fmt.Errorf("%d signatures, at most %d", c.Signatures, maxSignatures)
	}
	if c.Regrid <= 0 {
		c.Regrid = 7
	}
	return p, nil
}

// balanced splits n into three factors that differ as little as possible, the largest first.
func balanced(n int) [3]int {
	best := [3]int{n, 1, 1}
	for c := 1; c*c*c <= n; c++ {
		if n%c != 0 {
			continue
		}
		for b := c; b*b <= n/c; b++ {
			if n/c%b == 0 && n/c/b < best[0] {
				best = [3]int{n / c / b, b, c}
			}
		}
	}
	return best
}

// Process simulates one rank.
func (c Config) Process(number int) (*efg.Process, error) {
	return c.process(number, nil)
}

// process calls seen, if not nil, with each event when it is recorded.
func (c Config) process(number int, seen func(*rank)) (*efg.Process, error) {
	p, err := c.check()
	if err != nil {
		return nil, err
	}
	if number < 0 || number >= c.Ranks {
		return nil, fmt.Errorf("rank %d of %d", number, c.Ranks)
	}
	r := newRank(&c, p.text, number, seen)
	p.run(r)
	s, err := r.stream()
	if err != nil {
		return nil, fmt.Errorf("rank %d: %w", number, err)
	}
	if c.Stats {
		addTimes(s, r.random(streamTimes))
	}
	out := c.description(number)
	out.Defs, out.Streams = r.defs.List, []efg.Stream{*s}
	return out, nil
}

const started = 1_700_000_000_000_000_000 // Unix nanoseconds

// world is the world of a job of a resource manager.
var world = signature.HashString("sim.4242")

func (c *Config) description(number int) *efg.Process {
	r := rand.New(rand.NewPCG(c.Seed, streamSeed(number, streamProcess)))
	return &efg.Process{
		Rank: number, Size: c.Ranks, World: world,
		PID:  2000 + 100*(number%RanksPerNode) + r.IntN(100),
		Host: host(number / RanksPerNode), Command: c.command(),
		MPI:   "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
		Start: started + int64(r.IntN(200_000_000)),
	}
}

func host(node int) string { return fmt.Sprintf("node%04d", node+1) }

func (c *Config) command() []string {
	return []string{"/opt/sim/bin/" + c.Program, strconv.Itoa(c.Steps)}
}

// Meta describes the simulated run.
func (c Config) Meta() (runfile.Meta, error) {
	p, err := c.check()
	if err != nil {
		return runfile.Meta{}, err
	}
	m := runfile.Meta{
		Tool: "efg sim", Time: "off", Started: started, Ended: started + 60_000_000_000,
		Command: append([]string{"mpiexec", "-n", strconv.Itoa(c.Ranks)}, c.command()...),
		Sites:   p.text.places(),
	}
	if c.Stats {
		m.Time = "stats"
	}
	return m, nil
}

// All simulates all ranks, in order, a node's ranks at a time, with as many workers in
// parallel.
func (c Config) All(workers int) iter.Seq2[*efg.Process, error] {
	return func(yield func(*efg.Process, error) bool) {
		for node := range c.Nodes() {
			procs, err := c.Node(node, workers)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, p := range procs {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// Nodes is the number of nodes.
func (c Config) Nodes() int { return (c.Ranks + RanksPerNode - 1) / RanksPerNode }

// Node simulates the ranks of a node, with as many workers in parallel.
func (c Config) Node(node, workers int) ([]*efg.Process, error) {
	first := node * RanksPerNode
	procs := make([]*efg.Process, min(RanksPerNode, c.Ranks-first))
	err := parallel(len(procs), workers, func(i int) (err error) {
		procs[i], err = c.Process(first + i)
		return err
	})
	return procs, err
}

// parallel calls f for 0 to n-1, in workers goroutines, and returns the first
// error.
func parallel(n, workers int, f func(i int) error) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		next  int
		first error
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, first == nil && next <= n
	}
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := f(i); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}
