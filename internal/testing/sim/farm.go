package sim

import (
	"slices"

	"github.com/efg-tools/efg/signature"
)

const (
	tagWork = 1 + iota
	tagResult
	tagStop
)

var (
	farmText = newText("farm")

	farmInit     = farmText.call("MPI_Init", 15, "main", nil)
	farmFirst    = farmText.call("MPI_Send", 30, "master", map[string]any{"datatype": "MPI_INT"})
	farmResult   = farmText.call("MPI_Recv", 36, "master", map[string]any{"datatype": "MPI_DOUBLE"})
	farmNext     = farmText.call("MPI_Send", 40, "master", map[string]any{"datatype": "MPI_INT"})
	farmTask     = farmText.call("MPI_Recv", 52, "worker", map[string]any{"datatype": "MPI_INT"})
	farmSend     = farmText.call("MPI_Send", 57, "worker", map[string]any{"datatype": "MPI_DOUBLE"})
	farmBarrier  = farmText.call("MPI_Barrier", 70, "main", map[string]any{"comm": "MPI_COMM_WORLD"})
	farmFinalize = farmText.call("MPI_Finalize", 71, "main", nil)
)

// maxResult is the size that the master receives with.
const maxResult = 64

// farm is a master that hands out tasks and receives results of any size from any worker. A
// worker is given Steps tasks, more or less.
func farm(r *rank) {
	r.call(farmInit)
	if r.number == 0 {
		master(r)
	} else {
		worker(r)
	}
	r.call(farmBarrier)
	r.call(farmFinalize)
}

// tasks is the number of tasks that a worker gets: some are faster than others.
func (c *Config) tasks(worker int) int {
	return c.Steps - c.Steps/4 + int(c.draw(1, uint64(worker))%uint64(c.Steps/2+1))
}

// result is the size of a result.
func (c *Config) result(worker, task int) uint64 {
	return 1 + c.draw(2, uint64(worker), uint64(task))%maxResult
}

func master(r *rank) {
	random := r.random(streamProgram)
	left := make([]int, r.Ranks) // results to come
	var busy []int
	for w := 1; w < r.Ranks; w++ {
		tag := uint64(tagStop)
		if left[w] = r.tasks(w); left[w] > 0 {
			tag = tagWork
			busy = append(busy, w)
		}
		r.send(farmFirst, 1, uint64(w), tag)
	}
	for len(busy) > 0 {
		i := random.IntN(len(busy))
		w := busy[i]
		size := r.result(w, r.tasks(w)-left[w])
		r.receive(farmResult, maxResult, signature.AnySource, signature.AnyTag, [3]uint64{uint64(w), tagResult, 8 * size})
		tag := uint64(tagWork)
		if left[w]--; left[w] == 0 {
			tag = tagStop
			busy[i] = busy[len(busy)-1]
			busy = slices.Delete(busy, len(busy)-1, len(busy))
		}
		r.send(farmNext, 1, uint64(w), tag)
	}
}

func worker(r *rank) {
	n := r.tasks(r.number)
	for task := range n {
		r.receive(farmTask, 1, 0, signature.AnyTag, [3]uint64{0, tagWork, 4})
		r.send(farmSend, r.result(r.number, task), 0, tagResult)
	}
	r.receive(farmTask, 1, 0, signature.AnyTag, [3]uint64{0, tagStop, 4})
}
