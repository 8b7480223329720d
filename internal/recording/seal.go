package recording

import (
	"os"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/segment"
)

// dyingTime is how long sealing waits for processes that outlive the launcher. After an
// abort a launcher may return before all ranks have ended.
const dyingTime = 2 * time.Second

// Seal writes the run file of the segments once their processes have ended; for those that do
// not end soon, it holds what they recorded so far. The result is nil if nothing was recorded.
// The segments stay.
func (d *Directory) Seal(output string, meta runfile.Meta) (*merge.Result, error) {
	for until := time.Now().Add(dyingTime); d.BeingWritten() && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	files, err := d.begun()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return merge.Run(files, merge.Options{Output: output, Workers: 1, SkipBroken: true, Recorded: &meta, Gone: d.gone})
}

// Recover is like Seal, for a directory whose efg run has ended.
func (d *Directory) Recover(output string) (*merge.Result, error) {
	return d.Seal(output, d.Info.meta())
}

// begun lists the segments that contain anything. A process that was killed while creating its
// segment has recorded nothing.
func (d *Directory) begun() ([]string, error) {
	all, err := d.Segments()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range all {
		begun, err := segment.HasBegun(f)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		if begun {
			files = append(files, f)
		}
	}
	return files, nil
}
