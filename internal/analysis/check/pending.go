package check

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// neverReturned lists the calls that the threads of a process were in when its recording
// ended.
func neverReturned(p *analysis.Process) []suspect {
	var list []suspect
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		if s.Pending == nil {
			continue
		}
		op := "" // as callers have it
		if q := signature.ProcByID(signature.Header(s.Pending.Words[0]).Proc()); q != nil {
			op = q.Name
		}
		list = append(list, suspect{
			kind: NeverReturned, at: place{s.Thread, int32(len(s.Nodes))}, op: op, site: s.Pending.Words[1], count: 1, event: s.Events, call: s.Pending,
		})
	}
	return list
}

// inCallText tells which call a thread of a process was in.
func inCallText(p *efg.Process, thread uint32, call *efg.Pending, names *reconstruct.Names) string {
	t := reconstruct.DescribePending(p, thread, call, names)
	return fmt.Sprintf("was in %s(%s) when the recording ended", t.Op, strings.Join(t.Args, ", "))
}
