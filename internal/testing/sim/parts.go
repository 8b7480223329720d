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
	meta, err := c.Meta()
	if err != nil {
		return nil, err
	}
	paths := make([]string, c.Nodes())
	err = parallel(len(paths), workers, func(node int) error {
		procs, err := c.Node(node, 1)
		if err != nil {
			return err
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
