package analysis

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/efg-tools/efg/efg/runfile"
)

// Progress is called with the number of processes done, never concurrently.
type Progress func(done uint64)

// EachProcess calls f for the processes of a run, several at a time, each read from the file
// when its turn comes. What the processes of a rank class share is read once. The first error
// ends it.
func EachProcess(run *runfile.Run, procs []int, f func(p *Process) error, progress ...Progress) error {
	return eachProcess(run, procs, allTimes, f, progress)
}

// EachSummed is like EachProcess, without the times of each event.
func EachSummed(run *runfile.Run, procs []int, f func(p *Process) error, progress ...Progress) error {
	return eachProcess(run, procs, sumsOfTimes, f, progress)
}

// EachUntimed is like EachProcess, without times.
func EachUntimed(run *runfile.Run, procs []int, f func(p *Process) error, progress ...Progress) error {
	return eachProcess(run, procs, noTimes, f, progress)
}

// wantedTimes are the times that a process is to have.
type wantedTimes uint8

const (
	noTimes wantedTimes = iota
	sumsOfTimes
	allTimes
)

// maxPortion is the maximum number of processes that one goroutine reads consecutively: a block of the file has
// the statistics of at most as many.
const maxPortion = 16

// portions divides processes into parts, each of which one goroutine reads. If there are many processes, no block of
// statistics is in two parts: another goroutine would wait until it is decoded.
func portions(run *runfile.Run, procs []int, workers int) [][]int {
	limit := max(1, min(maxPortion, len(procs)/(4*max(workers, 1))))
	var list [][]int
	for len(procs) > 0 {
		n, number := 1, run.TimesBlock(procs[0])
		for n < min(limit, len(procs)) && run.TimesBlock(procs[n]) == number {
			n++
		}
		list, procs = append(list, procs[:n]), procs[n:]
	}
	return list
}

func eachProcess(run *runfile.Run, procs []int, times wantedTimes, f func(p *Process) error, progress []Progress) error {
	r := newClassReader(run)
	var next atomic.Int64
	var once sync.Once
	var failed error
	var wg sync.WaitGroup
	done := counter{progress: progress}
	one := func(i int) error {
		p, err := r.process(i, times)
		if err == nil {
			err = f(p)
		}
		done.add()
		return err
	}
	workers := min(runtime.GOMAXPROCS(0), len(procs))
	list := portions(run, procs, workers)
	for range workers {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(list) {
					return
				}
				for _, i := range list[n] {
					if err := one(i); err != nil {
						once.Do(func() { failed = err })
						next.Store(int64(len(list)))
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return failed
}

// counter counts the processes done.
type counter struct {
	mu       sync.Mutex
	done     uint64
	progress []Progress
}

func (c *counter) add() {
	if len(c.progress) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	for _, p := range c.progress {
		p(c.done)
	}
}
