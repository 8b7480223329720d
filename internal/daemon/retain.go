package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// retained is something in the store that is removed when it is old, or when there is too much.
type retained struct {
	name   string
	ended  time.Time
	bytes  int64
	remove func() error
}

// retain removes what ended longer than keep ago. Then it removes segments that were set aside,
// and then runs, each the oldest first, until the rest has at most this many bytes; 0 means
// unlimited. Jobs that are not sealed are kept. The list is that of the store.
func (s *Store) retain(list []Summary, now time.Time, keep time.Duration, most int64) (removed []string, err error) {
	all := s.putAside()
	for i := range list {
		x := &list[i]
		all = append(all, retained{x.Name, x.Ended, x.Bytes, func() error { return s.remove(x.Name) }})
	}
	var total int64
	for i := range all {
		total += all[i].bytes
	}
	for _, k := range all {
		old := keep > 0 && now.Sub(k.ended) > keep
		if !old && (most <= 0 || total <= most) {
			continue
		}
		if e := k.remove(); e != nil {
			err = errors.Join(err, e)
			continue
		}
		total -= k.bytes
		removed = append(removed, k.name)
	}
	return removed, err
}

// putAside lists the segments that are not in any run, the oldest first.
func (s *Store) putAside() (list []retained) {
	dir := filepath.Join(s.Dir, brokenDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == segmentExt {
			path := filepath.Join(dir, e.Name())
			list = append(list, retained{brokenDir + "/" + e.Name(), info.ModTime(), info.Size(), func() error { return removeFile(path) }})
		}
	}
	slices.SortFunc(list, func(a, b retained) int { return a.ended.Compare(b.ended) })
	return list
}
