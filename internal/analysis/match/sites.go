package match

import (
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Place is a call in the program. Op is "" if there is none.
type Place struct{ Op, Site string }

// Sites numbers the callsites of a trace, from 1. A callsite is a procedure called at an address.
type Sites struct {
	numbers map[siteKey]int32
	list    []knownFrom // by number
	threads [][]int32   // by thread and node; 0: not numbered yet
}

// siteKey is a procedure, and the word of the address.
type siteKey struct {
	proc int
	site uint64
}

// knownFrom is a callsite and a process that calls there.
type knownFrom struct {
	key siteKey
	by  *Process
}

// NewSites returns a numbering of the callsites of a trace.
func NewSites(t *Trace) *Sites {
	s := &Sites{numbers: map[siteKey]int32{}, list: []knownFrom{{}}, threads: make([][]int32, len(t.Threads))}
	for i, th := range t.Threads {
		s.threads[i] = make([]int32, len(th.Nodes)+1)
	}
	return s
}

// Number is the number of a node's callsite.
func (s *Sites) Number(t *Thread, node int) int32 {
	known := &s.threads[t.Index][node]
	if *known != 0 {
		return *known
	}
	words := t.Signature(node)
	key := siteKey{signature.Header(words[0]).Proc(), t.Process.Facts.Callsite(words[1])}
	n, ok := s.numbers[key]
	if !ok {
		n = int32(len(s.list))
		s.numbers[key] = n
		s.list = append(s.list, knownFrom{key, t.Process})
	}
	*known = n
	return n
}

// Proc is the procedure that is called at a callsite; nil if it is not in this version's table.
func (s *Sites) Proc(number int32) *signature.Proc {
	return signature.ProcByID(s.list[number].key.proc)
}

// Places returns the places of the callsites that have a number, by number.
func (s *Sites) Places(run *runfile.Run) ([]Place, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	names := map[*Process]*reconstruct.Names{}
	places := make([]Place, len(s.list))
	for i := range s.list {
		x := &s.list[i]
		if x.by == nil {
			continue
		}
		if names[x.by] == nil {
			names[x.by] = reconstruct.NewNames(x.by.Facts.Data.Defs, sites)
		}
		n := names[x.by]
		places[i].Site = n.Site(x.key.site)
		if p := s.Proc(int32(i)); p != nil {
			places[i].Op = p.Name
		}
	}
	return places, nil
}
