package diff

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// distances are how far displacements in dynamic windows are apart in two runs. They are addresses of the target,
// which differ from run to run: those of one target in one window must all be as far apart.
type distances map[accessed]uint64

// accessed is a process as the target of accesses to a window.
type accessed struct{ window, rank uint64 }

// same reports whether the displacements of two accesses are as far apart as those before.
func (d distances) same(e [2]*reconstruct.Event, p *signature.Proc) bool {
	key := accessed{e[0].Word(signature.ObjectWord), e[0].Word(p.Roles.Target)}
	distance := e[1].Word(p.Roles.TargetDisp) - e[0].Word(p.Roles.TargetDisp)
	known, ok := d[key]
	if !ok {
		d[key] = distance
	}
	return !ok || known == distance
}

// addresses reports whether two accesses are to a dynamic window of both runs, where displacements are addresses.
func (c *sequenceComparer) addresses(e [2]*reconstruct.Event, p *signature.Proc) bool {
	for k := range e {
		if !c.dynamic[k][signature.Family(e[k].Word(signature.ObjectWord))] || signature.IsConst(e[k].Word(p.Roles.Target)) {
			return false
		}
	}
	return true
}

var dynamicWindow = signature.ConstantByName("EFG_WIN_DYNAMIC").Word()

// dynamicWindows are the families of a process's dynamic windows.
func dynamicWindows(p *efg.Process) map[uint64]bool {
	windows := map[uint64]bool{}
	for i := range p.Defs {
		if d := &p.Defs[i]; d.Kind == efg.DefWin && len(d.Words) > 1 && d.Words[1] == dynamicWindow {
			windows[d.Word] = true
		}
	}
	return windows
}
