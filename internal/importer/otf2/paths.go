package otf2

import (
	"slices"

	"github.com/efg-tools/efg/internal/importer"
)

// pathSite is the word of the callsite of a call with its call path, 0 if it has none.
func (p *process) pathSite(c *call) uint64 {
	if p.reader.meta.CallPath == 0 {
		return 0
	}
	for _, v := range c.in {
		if v.Type != TypeContext || p.reader.members[v.Attribute].about != itsPath {
			continue
		}
		site, ok := p.paths[v.Number]
		if !ok {
			if calls, start := p.reader.path(v.Number); len(calls) > 0 {
				site = p.out.PathSite(calls, start)
			}
			p.paths[v.Number] = site
		}
		return site
	}
	return 0
}

// path returns the calls on the path that a calling context ends, the outermost first, and how it begins before them. It
// begins with what is unknown where contexts are not defined, or there are more calls than a path has: contexts may form a ring.
func (r *reader) path(id uint64) (calls []importer.PathCall, start string) {
	d := r.archive.Definitions
	for id != Undefined {
		c, ok := d.CallingContexts[id]
		if !ok || len(calls) == importer.MaxPath {
			start = importer.PathUnknown
			break
		}
		function, place := d.Regions[c.Region].Name, r.sourceLine(c.Source)
		if place == "" {
			if start = importer.PathUnknown; function == importer.PathCut {
				start = importer.PathCut
			}
			break
		}
		if function == place {
			function = ""
		}
		calls = append(calls, importer.PathCall{Place: place, Function: function})
		id = c.Parent
	}
	slices.Reverse(calls)
	return calls, start
}
