package otf2

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/export"
	writer "github.com/efg-tools/efg/internal/export/otf2"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// written are the files of an archive of two ranks: anchor, global definitions, definitions and
// events of the first location.
func written(t testing.TB) (files [4][]byte) {
	return writtenWith(t, []string{writer.Arguments, writer.Callsites, writer.Numbers})
}

func writtenWith(t testing.TB, what []string) (files [4][]byte) {
	s := testrun.NewScript(t, 2)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		r.Call(0, 10, "MPI_Init", nil)
		if rank == 0 {
			r.Call(20, 30, "MPI_Send", testrun.Args{"count": 1, "datatype": "MPI_INT", "dest": 1, "tag": 5, "comm": "MPI_COMM_WORLD"})
		} else {
			r.Call(15, 40, "MPI_Recv", testrun.Args{"count": 1, "datatype": "MPI_INT", "source": 0, "tag": 5, "comm": "MPI_COMM_WORLD", "status.source": 0, "status.tag": 5, "status.bytes": 4})
		}
		r.Call(50, 60, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
		r.Call(70, 80, "MPI_Finalize", nil)
	})
	dir := t.TempDir()
	job := &export.Job{Run: s.Run(), Selection: export.Selection{Procs: []int{0, 1}, Thread: -1}, What: what}
	if err := writer.Write(dir, job); err != nil {
		t.Fatal(err)
	}
	for i, name := range fileNames {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = b
	}
	return files
}

var fileNames = [4]string{"traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"}

// put writes the files of an archive, and returns the anchor.
func put(t testing.TB, dir string, files [4][]byte) string {
	if err := os.MkdirAll(filepath.Join(dir, "traces"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, name := range fileNames {
		if err := os.WriteFile(filepath.Join(dir, name), files[i], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, fileNames[0])
}

// Any files are an archive, or an error of one line.
func FuzzOpen(f *testing.F) {
	whole := written(f)
	f.Add(whole[0], whole[1], whole[2], whole[3])
	mapped := append([]byte{chunkHeader, littleEndian}, make([]byte, 16)...)
	mapped = append(mapped, localMappingTable, 8, mapRegion, 1, 2, 0, 1, 1, 0, 0)
	mapped = append(mapped, localClockOffset, 17)
	mapped = append(mapped, make([]byte, 17)...)
	f.Add(whole[0], whole[1], append(mapped, endOfFile, endOfBuffer), whole[3])
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, anchor, definitions, local, events []byte) {
		err := readAll(put(t, dir, [4][]byte{anchor, definitions, local, events}))
		var place *Error
		if err != nil && (!errors.As(err, &place) || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Errorf("%q", err)
		}
	})
}

// readAll reads all events of the first location.
func readAll(anchor string) error {
	a, err := Open(anchor)
	if err != nil {
		return err
	}
	r, err := a.Events(0)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if e, err := r.Next(); e == nil || err != nil {
			return err
		}
	}
}

// A file that is cut anywhere is reported as such.
func TestTruncated(t *testing.T) {
	whole := written(t)
	dir := t.TempDir()
	// What is not needed of the end: identifier, numbers of snapshots and thumbnails, mark; the mark.
	unread := [4]int{8 + 8 + 3, 2, 2, 2}
	for i, name := range fileNames {
		for n := 1; n < len(whole[i])-unread[i]; n++ {
			files := whole
			files[i] = whole[i][:n]
			var place *Error
			if err := readAll(put(t, dir, files)); !errors.As(err, &place) || place.File != name {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
		}
	}
}
