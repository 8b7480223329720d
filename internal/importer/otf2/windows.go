package otf2

import "github.com/efg-tools/efg/signature"

// applyToWindow sets the words that a record about a window tells.
func (p *process) applyToWindow(c *call, r *record, x *completion) {
	w, roles := &p.words, &p.words.Proc.Roles
	switch r.kind {
	case RmaCollectiveEnd:
		p.setWindow(c.proc, r.fields[2])
	case RmaWinCreate, RmaWinDestroy:
		p.setWindow(c.proc, r.fields[0])
	case RmaGroupSync:
		p.setWindow(c.proc, r.fields[1])
		w.Set(roles.Flag, 1)
		w.Set(roles.Group, p.group(r.fields[2]))
	case RmaRequestLock, RmaAcquireLock, RmaTryLock:
		p.setTarget(c.proc, r)
		const exclusive = 0
		kind := signature.ConstWord("MPI_LOCK_SHARED")
		if r.fields[3] == exclusive {
			kind = signature.ConstWord("MPI_LOCK_EXCLUSIVE")
		}
		w.Set(w.WordNamed("lock_type"), kind)
	case RmaReleaseLock:
		p.setTarget(c.proc, r)
	case RmaSync:
		p.setWindow(c.proc, r.fields[0])
	case RmaPut, RmaGet, RmaAtomic:
		p.access(c, r)
	case RmaOpTest:
		p.ended(c, r, false, x)
	case RmaOpCompleteBlocking, RmaOpCompleteNonBlocking, RmaOpCompleteRemote:
		p.accessEnded(c, r, x)
	}
}

// setWindow sets the window that a call is about, or makes.
func (p *process) setWindow(proc *signature.Proc, id uint64) {
	w, roles := &p.words, &proc.Roles
	switch {
	case proc.MadeKind() == signature.Win:
		how := signature.Absent
		if c := signature.ConstantByName(proc.Ctor); c != nil {
			how = c.Word()
		}
		w.Set(roles.Made, p.window(id, how))
		if proc.ObjectKind() == signature.Comm {
			p.setComm(p.commOfWindow(id))
		}
	case proc.ObjectKind() == signature.Win:
		w.Set(signature.ObjectWord, p.window(id, signature.Absent))
	}
}

// setTarget sets the window and the target of a call.
func (p *process) setTarget(proc *signature.Proc, r *record) {
	p.setWindow(proc, r.fields[0])
	p.words.Set(proc.Roles.Target, p.target(r))
}

// target is the rank that a record about a window names.
func (p *process) target(r *record) uint64 {
	return p.peer(p.commOfWindow(r.fields[0]), r.fields[1])
}

// commOfWindow is the communicator of a window, Undefined if that is unknown.
func (p *process) commOfWindow(id uint64) uint64 {
	if d, ok := p.reader.archive.Definitions.Windows[id]; ok {
		return d.Comm
	}
	return Undefined
}

// access sets what an access is.
func (p *process) access(c *call, r *record) {
	w, roles := &p.words, &c.proc.Roles
	if !c.proc.Accesses() {
		p.reader.skipped.outside++
		return
	}
	p.setTarget(c.proc, r)
	switch r.kind {
	case RmaPut:
		w.SetBytes(&roles.Send, r.fields[2])
	case RmaGet:
		w.SetBytes(&roles.Recv, r.fields[2])
	default:
		w.SetBytes(&roles.Send, r.fields[3])
		w.SetBytes(&roles.Recv, r.fields[4])
		const swap, fetchAndAdd = 4, 5
		switch r.fields[2] {
		case swap:
			w.Set(roles.Op, signature.ConstWord("MPI_REPLACE"))
		case fetchAndAdd:
			w.Set(roles.Op, signature.ConstWord("MPI_SUM"))
		}
	}
	p.starts(r, p.target(r))
	if c.proc.Issues != "" {
		w.Issue()
	}
}

// accessEnded sets what a call that completes an access is about.
func (p *process) accessEnded(c *call, r *record, x *completion) {
	atTarget := r.kind == RmaOpCompleteRemote
	if !atTarget || c.proc.Completes == "" {
		o := p.ended(c, r, true, x)
		p.setWindow(c.proc, r.fields[0])
		if e := c.proc.Epoch; o != nil && (e == signature.Flush || e == signature.FlushLocal) { // of one target, or all
			p.words.Set(c.proc.Roles.Target, o.target)
		}
	}
	if atTarget || r.kind == RmaOpCompleteBlocking {
		delete(p.operations, r.operation())
	}
}
