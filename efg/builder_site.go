package efg

import (
	"slices"

	"github.com/efg-tools/efg/signature"
)

const (
	siteWords  = signature.FirstWord // header, callsite, object
	maxObjects = 16                  // sites of a callsite before the object is demoted
)

// siteTable holds the sites of a stream and what is demoted there, like the recorder's
// core_site.c. FORMAT.md, "Demotion", states the rules.
type siteTable struct {
	demote int
	sites  map[siteKey]*site
	calls  map[callKey]*call
}

type siteKey struct {
	header, callsite, object uint64
	all                      bool // the site of all objects, once they are demoted
}

type callKey struct{ header, callsite uint64 }

// call is a callsite: all sites with its header and callsite.
type call struct {
	sites         []*site
	objectDemoted bool
}

type site struct {
	mask uint64
	live []*buildNode
}

func (t *siteTable) site(w []uint64) *site {
	ck := callKey{w[0], w[1]}
	c := t.calls[ck]
	if c == nil {
		c = &call{}
		t.calls[ck] = c
	}
	if c.objectDemoted {
		return t.get(siteKey{header: w[0], callsite: w[1], all: true})
	}
	k := siteKey{header: w[0], callsite: w[1], object: w[2]}
	if s := t.sites[k]; s != nil {
		return s
	}
	c.sites = append(c.sites, t.get(k))
	if len(c.sites) <= maxObjects {
		return t.sites[k]
	}
	c.objectDemoted = true
	for _, s := range c.sites {
		s.kill()
	}
	all := t.get(siteKey{header: w[0], callsite: w[1], all: true})
	all.mask |= 1 << signature.ObjectWord
	return all
}

func (t *siteTable) get(k siteKey) *site {
	s := t.sites[k]
	if s == nil {
		s = &site{}
		if i := slotWord(k.header); i != 0 {
			s.mask = 1 << i
		}
		t.sites[k] = s
	}
	return s
}

func (s *site) kill() {
	for _, n := range s.live {
		n.dead = true
	}
	s.live = nil
}

// mask returns the demoted words for events like w.
func (t *siteTable) mask(w []uint64) uint64 { return t.site(w).mask }

// makeRoom is called before a node for w is made. It reports whether the site
// was full and has demoted a word.
func (t *siteTable) makeRoom(w []uint64) bool {
	s := t.site(w)
	if len(s.live) < t.demote {
		return false
	}
	i := s.mostVaried(w)
	if i == 0 {
		return false
	}
	s.mask |= 1 << i
	s.kill()
	return true
}

func (t *siteTable) addNode(w []uint64, n *buildNode) {
	if s := t.site(w); len(s.live) < t.demote {
		s.live = append(s.live, n)
	}
}

// mostVaried is the word with the most distinct values among the live nodes and w, the first of
// several; 0 if none varies.
func (s *site) mostVaried(w []uint64) int {
	best, most := 0, 1
	for i := siteWords; i < len(w); i++ {
		if s.mask>>i&1 != 0 {
			continue
		}
		v := []uint64{w[i]}
		for _, n := range s.live {
			v = append(v, n.words[i])
		}
		slices.Sort(v)
		if d := len(slices.Compact(v)); d > most {
			best, most = i, d
		}
	}
	return best
}
