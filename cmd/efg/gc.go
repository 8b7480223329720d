package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Garbage collection usually starts when the heap has doubled. Most commands end with a small
// heap, and collecting it repeatedly would take a third of their time: their heap may grow by
// an additional 32 MiB before each collection.
const (
	defaultPercent = 100
	moreHeap       = 32 << 20
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
	adaptAfterCollection()
}

func restoreCollection() {
	collection.Lock()
	defer collection.Unlock()
	if !collection.normal && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(defaultPercent)
	}
	collection.normal = true
}

// adaptAfterCollection adapts the growth of the heap to its size after the next
// collection, and so on, until the difference no longer matters.
func adaptAfterCollection() {
	runtime.AddCleanup(new([64]byte), func(int) { // unreachable: the next collection finds it
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live := max(sample[0].Value.Uint64(), minHeap)
		more := int(defaultPercent * moreHeap / live)
		collection.Lock()
		defer collection.Unlock()
		if collection.normal {
			return
		}
		debug.SetGCPercent(defaultPercent + more)
		if more > 0 {
			adaptAfterCollection()
		}
	}, 0)
}
