package check

import (
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
)

// anytime are the procedures, by name or beginning of the name, that may be called
// before MPI_Init and after MPI_Finalize.
var anytime = []string{
	"MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version", "MPI_Info_", "MPI_Session_",
	"MPI_Add_error_", "MPI_Remove_error_", "MPI_Error_", "MPI_Comm_create_errhandler", "MPI_Win_create_errhandler",
	"MPI_File_create_errhandler", "MPI_Session_create_errhandler", "MPI_Errhandler_free", "MPI_Init", "MPI_Finalize",
	"MPI_Abi_get_",
}

func mayBeAnytime(op string) bool {
	for _, name := range anytime {
		if op == name || strings.HasSuffix(name, "_") && strings.HasPrefix(op, name) {
			return true
		}
	}
	return false
}

func isInit(op string) bool { return op == "MPI_Init" || op == "MPI_Init_thread" }

// outside finds calls before MPI_Init and after MPI_Finalize in the thread that
// makes these calls, and their absence.
func outside(p *analysis.Process) ([]suspect, error) {
	var list []suspect
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

// bounds are the nodes of a stream where MPI begins and ends; -1: none.
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
		case isInit(p.Name):
			x.init = k
		case p.Name == "MPI_Finalize":
			x.finalize = k
		case p.Name == "MPI_Session_init":
			x.sessions = true
		}
	}
	return x
}

// find looks for the first calls of each node outside of the bounds. The stream is
// walked through only if there may be some.
func (x *bounds) find(s *efg.Stream, defs []efg.Def) ([]suspect, error) {
	early := x.init >= 0 && s.Start() != x.init
	late := x.finalize >= 0 && len(s.Nodes[x.finalize].Edges) > 0
	if !early && !late {
		return nil, nil
	}
	var list []suspect
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
		if kind == "" || kind == BeforeInit && !early || p == nil || mayBeAnytime(p.Name) || seen[at] {
			continue
		}
		seen[at] = true
		list = append(list, suspect{kind: kind, at: at, op: p.Name, site: s.Nodes[k].Words[1], count: 1, event: w.Seq(), text: text})
	}
	return list, w.Err()
}
