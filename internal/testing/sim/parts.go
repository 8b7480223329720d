package sim

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// WriteNodes writes a run file for each node to dir, workers of them at once, as
// a recording on many nodes leaves them. It returns their paths.
func (c Config) WriteNodes(dir string, workers int) ([]string, error) {
	return c.writeNodes(dir, workers, nil)
}

// writeNodes is WriteNodes with a function that adds the times of each event to a process; nil: they
// have none.
func (c Config) writeNodes(dir string, workers int, times func(p *efg.Process) error) ([]string, error) {
	meta, err := c.Meta()
	if err != nil {
		return nil, err
	}
	if times != nil {
		meta.Time = runfile.TraceTime(tracedError, 0)
	}
	paths := make([]string, c.Nodes())
	err = parallel(len(paths), workers, func(node int) error {
		procs, err := c.Node(node, 1)
		if err != nil {
			return err
		}
		for _, p := range procs {
			if times == nil {
				break
			}
			if err := times(p); err != nil {
				return err
			}
		}
		paths[node] = filepath.Join(dir, fmt.Sprintf("%s.efg", host(node)))
		return runfile.WriteRun(paths[node], procs, usedSites(meta, procs))
	})
	return paths, err
}

// usedSites removes the callsites that no process has called from: each node looks up only what
// was recorded there.
func usedSites(meta runfile.Meta, procs []*efg.Process) runfile.Meta {
	used := map[uint64]bool{}
	for _, p := range procs {
		for _, d := range p.Defs {
			used[d.Word] = true
		}
	}
	meta.Sites = slices.DeleteFunc(slices.Clone(meta.Sites), func(s runfile.Site) bool { return !used[s.Word] })
	return meta
}
