package segment

import (
	"sync/atomic"
	"testing"

	"github.com/efg-tools/efg/signature"
)

// The words of a call in progress are never a mix of two calls, even if nothing else
// distinguishes the calls: without times, and while polls are only counted.
func TestWordsOfOneCall(t *testing.T) {
	live := &Stream{}
	const n = 12
	header := uint64(signature.MakeHeader(7, signature.C, false, n, 0))
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for v := uint64(1); ; v++ {
			select {
			case <-stop:
				return
			default:
			}
			atomic.StoreUint64(&live.CallTick, 0)
			for i := 1; i < n; i++ {
				atomic.StoreUint64(&live.Words[i], v)
			}
			atomic.StoreUint64(&live.Words[0], header)
			atomic.StoreUint64(&live.CallTick, 1)
			for range v % 40 { // in the call
				atomic.LoadUint64(&live.CallTick)
			}
		}
	}()
	defer func() {
		close(stop)
		<-stopped
	}()
	seen := 0
	var words []uint64
	for range 5_000_000 {
		var a Activity
		if a.read(live, &Header{}, words); !a.InCall {
			continue
		}
		seen++
		words = a.Words
		for _, w := range a.Words[1:] {
			if w != a.Words[1] {
				t.Fatalf("words of two calls: %x", a.Words)
			}
		}
	}
	if seen == 0 {
		t.Error("no call in progress was seen")
	}
}
