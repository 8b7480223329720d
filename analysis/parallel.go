package analysis

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/efg-tools/efg/efg"
)

// Progress is told how many processes are done, by one caller at a time.
type Progress func(done uint64)

// EachProcess calls f for the processes of a run, several at a time, each read
// from the file when its turn comes. The first error ends it.
func EachProcess(run *efg.Run, procs []int, f func(p *Process) error, progress ...Progress) error {
	first := FirstRanks(run.Procs)
	var next atomic.Int64
	var once sync.Once
	var failed error
	var wg sync.WaitGroup
	done := counter{progress: progress}
	for range min(runtime.GOMAXPROCS(0), len(procs)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(procs)); i = next.Add(1) - 1 {
				err := oneProcess(run, procs[i], first[procs[i]], f)
				done.add()
				if err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(len(procs)))
				}
			}
		})
	}
	wg.Wait()
	return failed
}

// counter counts what is done.
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

func oneProcess(run *efg.Run, i, first int, f func(p *Process) error) error {
	data, err := run.Process(i)
	if err != nil {
		return err
	}
	p, err := NewProcess(data, first)
	if err != nil {
		return err
	}
	return f(p)
}
