package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage collection usually starts when the heap has doubled. Most commands end with a small
// heap, and collecting it repeatedly would take a third of their time: their heap may grow by
// an additional 32 MiB before each collection. A large heap grows by less than its size, since
// the memory of the machine is what limits how large a run can be.
const (
	defaultPercent = 100
	largePercent   = 60
	moreHeap       = 32 << 20
	largeHeap      = 256 << 20
	// firstLimit bounds the memory until the first collection has told how large the heap is.
	firstLimit = 128 << 20
	// The runtime collects a heap that is smaller than minHeap for every 100 percent at
	// that size.
	minHeap = 4 << 20
)

// collection guards the percentage; normal is set when collection is no longer deferred.
var collection struct {
	sync.Mutex
	normal bool
}

// deferCollection defers garbage collection as described above, unless GOGC is set. A
// long-running command calls restoreCollection.
func deferCollection() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(defaultPercent * 2 * moreHeap / minHeap)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(firstLimit)
	}
	adaptAfterCollection()
}

func restoreCollection() {
	collection.Lock()
	defer collection.Unlock()
	if !collection.normal && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(defaultPercent)
		removeFirstLimit()
	}
	collection.normal = true
}

func removeFirstLimit() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

// percentOf is by how much a heap of this size may grow before the next collection.
func percentOf(live uint64) int {
	if live >= largeHeap {
		return largePercent
	}
	return defaultPercent + int(defaultPercent*moreHeap/max(live, minHeap))
}

// adaptAfterCollection adapts the growth of the heap to its size after the next
// collection, and so on.
func adaptAfterCollection() {
	runtime.AddCleanup(new([64]byte), func(int) { // unreachable: the next collection finds it
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		percent := percentOf(sample[0].Value.Uint64())
		collection.Lock()
		defer collection.Unlock()
		if collection.normal {
			return
		}
		debug.SetGCPercent(percent)
		removeFirstLimit()
		adaptAfterCollection()
	}, 0)
}
