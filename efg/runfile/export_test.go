package runfile

import (
	"io"

	"github.com/efg-tools/efg/efg"
)

// For tests of package efg_test.
var (
	Independently = independently
	Shown         = shown
)

// EncodeWithin is EncodeRun with another limit of memory for open groups.
func EncodeWithin(w io.Writer, procs []*efg.Process, meta Meta, limit int) error {
	sources := make([]source, len(procs))
	for i, p := range procs {
		sources[i] = &memorySource{proc: p}
	}
	meta.Sites = findSites(meta.Sites, procs)
	_, err := packWith(w, sources, meta, false, packing{openLimit: limit, events: maxBlockEvents, mixed: true})
	return err
}
