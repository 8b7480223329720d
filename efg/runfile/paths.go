package runfile

import (
	"slices"

	"github.com/efg-tools/efg/efg"
)

// A file has the place of each callsite once, whatever the number of paths that lead there. Paths
// follow from the processes' definitions.

// WithoutPaths returns the callsites of a file as it stores them: those of call paths become those of
// their last calls. It may return several of one word.
func WithoutPaths(sites []Site) []Site {
	sites = slices.Clone(sites)
	for i := range sites {
		s := &sites[i]
		s.Word, s.Parent = s.Callsite(), 0
	}
	return sites
}

// StoredSites returns the callsites as the file stores them, without call paths, in their order.
func (r *Run) StoredSites() ([]Site, error) {
	sites, err := r.Sites()
	if err != nil || r.features&featurePaths == 0 {
		return sites, err
	}
	return uniqueSites(WithoutPaths(sites)), nil
}

// WithSiteDepth returns a view of the run in which call paths tell callsites apart by their last calls,
// at most depth: tables have a row for each path to a call as far as its last depth calls go. 1 is what the
// run has when it is opened, efg.AllCalls are whole paths. The file stays open until the run is closed.
func (r *Run) WithSiteDepth(depth int) *Run {
	for r.opened != nil {
		r = r.opened
	}
	return &Run{Meta: r.Meta, Procs: r.Procs, content: r.content, depth: depth, opened: r}
}

// ByCallPath returns a view of the run in which call paths tell callsites apart: whole ones, unless r is a view
// that shortens them.
func (r *Run) ByCallPath() *Run {
	if r.opened != nil {
		return r
	}
	return r.WithSiteDepth(efg.AllCalls)
}

// withPaths adds the call paths that processes define to the callsites; in a view, those that it
// shortens instead.
func (r *Run) withPaths(sites []Site) ([]Site, error) {
	places := make(map[siteRef]*Site, len(sites))
	for i := range sites {
		places[sites[i].ref] = &sites[i]
	}
	paths := slices.Clone(sites)
	seen := make(map[uint64]bool, len(sites))
	for i := range sites {
		seen[sites[i].Word] = true
	}
	classes := map[ClassKey]bool{}
	for i := range r.Procs {
		fresh, err := r.hasNewDefs(i, classes)
		if err != nil {
			return nil, err
		}
		if !fresh {
			continue
		}
		x, err := r.defs(i)
		if err != nil {
			return nil, err
		}
		list := x.list
		if r.opened != nil {
			_, list = efg.FoldPaths(list, r.depth)
		}
		for k := range list {
			if d := &list[k]; d.Kind == efg.DefSite && len(d.Words) == pathWords && !seen[d.Word] {
				seen[d.Word] = true
				paths = append(paths, pathSite(x, d, places))
			}
		}
	}
	return paths, nil
}

// hasNewDefs reports whether no process of these classes has the definitions of Procs[i], and adds their
// class.
func (r *Run) hasNewDefs(i int, classes map[ClassKey]bool) (bool, error) {
	keys, err := r.memberKeys(int(r.Procs[i].defs), recordDefs)
	if err != nil {
		return false, err
	}
	key := keys.list[r.Procs[i].ordinal]
	fresh := !classes[key]
	classes[key] = true
	return fresh, nil
}

// pathSite returns the callsite of a path with its parent.
func pathSite(x *defIndex, d *efg.Def, places map[siteRef]*Site) Site {
	s := Site{Word: d.Word, Parent: d.Words[pathWords-1]}
	ref, ok := siteAt(x, d.Words)
	if !ok {
		s.Place = "unknown"
		return s
	}
	s.ref, s.Place = ref, ref.place()
	if known := places[ref]; known != nil {
		s.Place, s.Func = known.Place, known.Func
	}
	return s
}
