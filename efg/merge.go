package efg

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// MergeRuns writes one run file of what is in several: the parts of a launch on
// several nodes. The result depends on what is in the parts, not on their
// number, order or grouping. Memory is bounded by the parts' indexes and the
// result's shared tables.
func MergeRuns(path string, parts []string) error {
	if len(parts) == 0 {
		return errors.New("nothing to merge")
	}
	cache := newBlockCache(mergeCacheSize)
	runs := make([]*Run, len(parts))
	for i, part := range parts {
		r, err := openLazily(part)
		if err != nil {
			return err
		}
		r.cache = cache
		runs[i] = r
	}
	return writeFile(path, func(w io.Writer) error { return encodeMerged(w, runs) })
}

// mergeCacheSize is how many values of the parts' blocks are kept: some 400 MB.
const mergeCacheSize = 24 << 20

// encodeMerged writes the content of a run file of several runs.
func encodeMerged(w io.Writer, runs []*Run) error {
	meta, err := mergeMeta(runs)
	if err != nil {
		return err
	}
	var sources []source
	for _, r := range runs {
		for i := range r.Procs {
			sources = append(sources, &fileSource{run: r, proc: i})
		}
	}
	return pack(w, sources, meta)
}

// mergeMeta joins what the parts say of the run as a whole. Command and tool are
// those of the part that began first.
func mergeMeta(runs []*Run) (Meta, error) {
	first := slices.MinFunc(runs, func(a, b *Run) int {
		x, y := &a.Meta, &b.Meta
		return cmp.Or(cmp.Compare(x.Started, y.Started), slices.Compare(x.Command, y.Command), cmp.Compare(x.Tool, y.Tool))
	})
	meta := first.Meta
	meta.Sites = nil
	for _, r := range runs {
		m := &r.Meta
		if m.Time != meta.Time || m.Queries != meta.Queries || m.Buffers != meta.Buffers {
			return meta, fmt.Errorf("parts were recorded with different options: times %q and %q, queries %v and %v, buffers %v and %v",
				meta.Time, m.Time, meta.Queries, m.Queries, meta.Buffers, m.Buffers)
		}
		meta.Ended = max(meta.Ended, m.Ended)
		meta.Status = max(meta.Status, m.Status)
		sites, err := r.Sites()
		if err != nil {
			return meta, err
		}
		meta.Sites = append(meta.Sites, sites...)
		if len(meta.Sites) > 1<<16 {
			meta.Sites = uniqueSites(meta.Sites)
		}
	}
	return meta, nil
}

// uniqueSites leaves one site of each word: one whose place in its module is
// known, and that has a function, if there is one.
func uniqueSites(sites []Site) []Site {
	slices.SortFunc(sites, func(a, b Site) int {
		return cmp.Or(cmp.Compare(a.Word, b.Word), cmp.Compare(flag(a.ref.module == ""), flag(b.ref.module == "")), compareSites(a, b))
	})
	sites = slices.CompactFunc(sites, func(a, b Site) bool { return a.Word == b.Word })
	slices.SortFunc(sites, compareSites)
	return sites
}

// lazyFile is a file that is open only while it is read, so that there can be
// many.
type lazyFile struct {
	path string
}

func (f lazyFile) ReadAt(b []byte, off int64) (int, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(b, off)
}

// openLazily opens a run file without keeping it open.
func openLazily(path string) (*Run, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = ErrNotEFG
	}
	var r *Run
	if err == nil {
		r, err = NewRun(lazyFile{path}, st.Size())
	}
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
