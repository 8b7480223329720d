package efg

import "io"

// For tests of package efg_test.
var (
	Independently = independently
	Shown         = shown
)

// EncodeWithin is EncodeRun with another limit of memory for open pieces.
func EncodeWithin(w io.Writer, procs []*Process, meta Meta, limit int) error {
	sources := make([]source, len(procs))
	for i, p := range procs {
		sources[i] = &memorySource{proc: p}
	}
	meta.Sites = findSites(meta.Sites, procs)
	return packWithin(w, sources, meta, false, limit)
}
