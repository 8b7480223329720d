package check

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// mayBeAnytime reports whether a procedure may be called before MPI_Init and after
// MPI_Finalize.
func mayBeAnytime(p *signature.Proc) bool { return p.Anytime || p.Begins || p.Ends }

// beginsSession reports whether MPI is in use after a call, without MPI_Init.
func beginsSession(p *signature.Proc) bool {
	return slices.ContainsFunc(p.Params, func(q signature.Param) bool { return q.Kind == signature.Sess && q.Dir == signature.Out })
}

// outside finds calls before MPI_Init and after MPI_Finalize in the thread that calls these,
// and missing calls of these.
func outside(p *analysis.Process) ([]candidateFault, error) {
	var list []candidateFault
	begun, ended, sessions, exits := false, false, false, false
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		exits = exits || s.End == efg.EndExit
		x := boundsOf(s)
		begun, ended, sessions = begun || x.init >= 0, ended || x.finalize >= 0, sessions || x.sessions
	}
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		x := boundsOf(s)
		if begun && !ended && exits && i == 0 && !sessions {
			list = append(list, unfinished(p)...)
		}
		if sessions || len(s.Nodes) == 0 {
			continue
		}
		found, err := x.find(s, p.Data.Defs)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// bounds are the nodes of a stream where MPI begins and ends; -1 if there are none.
type bounds struct {
	init, finalize int
	sessions       bool
}

func boundsOf(s *efg.Stream) bounds {
	x := bounds{-1, -1, false}
	for k := range s.Nodes {
		n := &s.Nodes[k]
		p := procOf(n)
		switch {
		case p == nil || failed(n):
		case p.Begins:
			x.init = k
		case p.Ends:
			x.finalize = k
		case beginsSession(p):
			x.sessions = true
		}
	}
	return x
}

// find looks for the first calls of each node outside the bounds. The stream is walked only if
// there may be some.
func (x *bounds) find(s *efg.Stream, defs []efg.Def) ([]candidateFault, error) {
	early := x.init >= 0 && s.Start() != x.init
	late := x.finalize >= 0 && len(s.Nodes[x.finalize].Edges) > 0
	if !early && !late {
		return nil, nil
	}
	var list []candidateFault
	seen := map[place]bool{}
	kind, text := BeforeInit, "called before MPI_Init"
	w := s.Walk(defs)
	for w.Next() {
		k := w.Node()
		switch {
		case k == x.init && kind == BeforeInit:
			kind = ""
			if !late {
				return list, nil
			}
		case k == x.finalize:
			kind, text = AfterFinalize, "called after MPI_Finalize"
		}
		p := procOf(&s.Nodes[k])
		at := place{s.Thread, int32(k)}
		if kind == "" || kind == BeforeInit && !early || p == nil || mayBeAnytime(p) || seen[at] {
			continue
		}
		seen[at] = true
		list = append(list, candidateFault{kind: kind, at: at, op: p.Name, site: s.Nodes[k].Words[1], count: 1, event: w.Seq(), text: text})
	}
	return list, w.Err()
}
