package match

import "github.com/efg-tools/efg/efg/runfile"

// What a walk keeps of a thread, in bytes, as measured for simulated programs: a constant, for each distinct
// call and each edge of its graph, and for events that are read ahead and times that are read together. The
// heap may grow by growth percent before it is collected. What the run's index says of a process is in memory
// whether it is part of the walk or not.
const (
	memoryOfIndex  = 1 << 10
	memoryOfThread = 8 << 10
	memoryOfNode   = 2200
	memoryOfEdge   = 330
	memoryAhead    = 64
	memoryOfTime   = 4
	mostTimes      = 1 << 16
	growth         = 60
)

// Memory estimates how much memory a walk over processes of a run takes, by their numbers in it: the graphs of all
// are in memory, because any of them may be next.
func Memory(run *runfile.Run, procs []int) (bytes uint64) {
	bytes = uint64(len(run.Procs)) * memoryOfIndex
	for _, i := range procs {
		bytes += memoryOf(run.Procs[i].Streams)
	}
	return bytes
}

// memoryOf is the estimate for the threads of a process. A file cannot make it overflow: nodes and edges are in
// the file, and the events that count are bounded.
func memoryOf(threads []runfile.StreamInfo) (bytes uint64) {
	for j := range threads {
		s := &threads[j]
		bytes += memoryOfThread + s.Nodes*memoryOfNode + s.Edges*memoryOfEdge
		bytes += min(s.Events, 2*windowSize)*memoryAhead + min(s.Events, mostTimes)*memoryOfTime
	}
	return bytes / 100 * (100 + growth)
}

// Fit is how many of the processes, from the first on, a walk can be over in a given memory.
func Fit(run *runfile.Run, procs []int, memory uint64) int {
	memory -= min(memory, uint64(len(run.Procs))*memoryOfIndex)
	for n, i := range procs {
		need := memoryOf(run.Procs[i].Streams)
		if need > memory {
			return n
		}
		memory -= need
	}
	return len(procs)
}
