package daemon

import (
	"encoding/binary"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/efg-tools/efg/internal/segment"
)

// Large files that are nearly all holes do not keep a daemon from storing others; keeping them
// takes no more space than they do.
func TestSparseSegments(t *testing.T) {
	opt := testOptions(t.TempDir(), privateDir(t))
	const huge = 500 << 30
	grow := func(path string) {
		if err := os.Truncate(path, huge); err != nil {
			t.Fatal(err)
		}
	}
	nothing, text, mostly, longer := opt.Spool+"/a.1.2.seg", opt.Spool+"/b.1.2.seg", opt.Spool+"/c.1.2.seg", opt.Spool+"/d.1.2.seg"
	write(t, nothing, nil)
	write(t, text, []byte("text"))
	var segments []string
	for _, file := range simulated(t, t.TempDir(), 2, 8) {
		segments = append(segments, file)
	}
	for i, to := range []string{mostly, longer} {
		if err := os.Rename(segments[i], to); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{nothing, text, mostly, longer} {
		grow(path)
	}
	f, err := os.OpenFile(mostly, os.O_RDWR, 0) // claims to use the holes
	if err != nil {
		t.Fatal(err)
	}
	used := binary.LittleEndian.AppendUint64(nil, segment.MaxFile)
	if _, err := f.WriteAt(used, int64(unsafe.Offsetof(segment.Header{}.Used))); err != nil {
		t.Fatal(err)
	}
	f.Close()
	good := simulated(t, t.TempDir(), 5, 7)
	put(t, opt.Spool, good)
	serve(t, opt)
	waitFor(t, func() bool {
		return len(names(t, opt.Spool, "*.seg")) == 0 && len(names(t, opt.Store, "*"+sealingExt)) == 0
	})
	found := stored(t, opt.Store)
	for x := range good {
		if found[x] != 1 {
			t.Errorf("a good process is stored %d times", found[x])
		}
	}
	if len(found) != len(good)+1 {
		t.Errorf("%d processes are stored, want %d", len(found), len(good)+1)
	}
	aside := names(t, opt.Store, brokenDir+"/*.seg")
	if len(aside) != 2 {
		t.Errorf("put aside: %v", aside)
	}
	for _, path := range aside {
		var st syscall.Stat_t
		if err := syscall.Stat(path, &st); err != nil || st.Blocks > 1<<12 {
			t.Errorf("%s: %d blocks, %v", path, st.Blocks, err)
		}
	}
}
