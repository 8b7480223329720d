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

// maxTogether is the number of processes that one goroutine reads consecutively: those whose
// times are in one block of the file.
const maxTogether = 8

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
	together := max(1, min(maxTogether, len(procs)/(4*max(workers, 1))))
	for range workers {
		wg.Go(func() {
			for {
				from := int(next.Add(int64(together))) - together
				for k := from; k < min(from+together, len(procs)); k++ {
					if err := one(procs[k]); err != nil {
						once.Do(func() { failed = err })
						next.Store(int64(len(procs)))
						return
					}
				}
				if from+together >= len(procs) {
					return
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
