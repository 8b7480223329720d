package otf2

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// access is a one-sided access that is not known to be complete at its target.
type access struct {
	id     uint64
	target uint32
	here   bool // it is complete at the origin
}

// localWindow is a window as a process sees it; id is undefined if it has no definition.
type localWindow struct {
	id   uint32
	comm *localComm
	self uint32 // rank of the process
	// allocates: its memory is allocated and freed with it.
	allocates bool
	open      []access
	// Groups of the epochs that it is in.
	accessed, exposed uint32
}

// window finds a window.
func (p *processWriter) window(word uint64) *localWindow {
	if w := p.windows[word]; w != nil {
		return w
	}
	w := &localWindow{id: undefined, accessed: undefined, exposed: undefined}
	p.windows[word] = w
	comm, how, ok := p.facts.MadeWith(word)
	if !ok {
		return w
	}
	if id, ok := p.defs.byWindow[p.keyWith(word)]; ok {
		w.id, w.comm, w.allocates = id, p.comm(comm), allocates(how)
		own, _ := p.facts.Members(comm)
		if self, ok := rankIn(w.comm.peers, uint64(own.Index(p.facts.Data.Rank))); ok {
			w.self = self
		}
	}
	return w
}

// allocates reports whether a kind of windows, a constant, has memory of its own.
func allocates(kind uint64) bool {
	c := signature.ConstantOf(kind)
	procs := signature.Procs()
	for i := range procs {
		if p := &procs[i]; c != nil && p.Ctor == c.Name && p.MadeKind() == signature.Win {
			return p.Param("baseptr") >= 0
		}
	}
	return false
}

// joinsWindow reports whether all processes of a window make such a call together, and it has a
// record.
func joinsWindow(p *signature.Proc) bool {
	return p != nil && p.Collective() && (p.MadeKind() == signature.Win || p.FreedKind() == signature.Win || p.Epoch == signature.Fence)
}

// rmaActionOf says what calls on windows do.
func rmaActionOf(p *signature.Proc) action {
	switch {
	case joinsWindow(p):
		return joinsOnWindow
	case p.Accesses():
		return accesses
	case p.Epoch != signature.NoEpoch:
		return synchronises
	}
	return noAction
}

// Levels of synchronisation: of processes, of memory.
const (
	syncProcess = 1
	syncMemory  = 2
)

// joinWindow writes a call that all processes of a window make.
func (t *threadWriter) joinWindow(e *reconstruct.Event, x *plan) {
	word := e.Word(signature.ObjectWord)
	if x.proc.MadeKind() == signature.Win {
		word = e.Word(x.roles.Made)
	}
	w := t.process.window(word)
	o := operation{collects: true, unknown: w.id == undefined}
	t.post(&o)
	if o.alone || o.unknown {
		t.process.left.collectives++
		return
	}
	t.atStart(append(t.b[:0], eventRmaCollectiveBegin, 0), nil)
	t.completeAccesses(w, undefined)
	end := collective{op: collectiveOps["MPI_Barrier"], comm: w.id, root: undefined}
	level := uint32(syncProcess)
	switch {
	case x.proc.MadeKind() == signature.Win:
		end.op = createHandle
		if w.allocates {
			end.op = createAndAllocate
		}
		t.atEnd(short(t.b[:0], eventRmaWinCreate, w.id), nil)
	case x.proc.FreedKind() == signature.Win:
		end.op = destroyHandle
		if w.allocates {
			end.op = destroyAndDeallocate
		}
		t.atEnd(short(t.b[:0], eventRmaWinDestroy, w.id), nil)
		delete(t.process.windows, word)
	default:
		level |= syncMemory
	}
	t.atEnd(rmaCollectiveEnd(t.b[:0], &end, level), nil)
}

// access writes an access.
func (t *threadWriter) access(e *reconstruct.Event, x *plan) {
	target := e.Word(x.roles.Target)
	if target == signature.ProcNull {
		return
	}
	w := t.process.window(e.Word(signature.ObjectWord))
	if w.id == undefined {
		t.process.left.accesses++
		return
	}
	rank, ok := rankIn(w.comm.peers, target)
	if !ok {
		t.process.left.accesses++
		return
	}
	t.process.ids++
	a := access{id: t.process.ids, target: rank}
	sent, received := t.size(e, &x.roles.Send), t.size(e, &x.roles.Recv)
	kind, atomic := kindOfAccess(e, x)
	switch kind {
	case eventRmaPut:
		t.atStart(accessRecord(t.b[:0], kind, w.id, rank, sent, a.id), nil)
	case eventRmaGet:
		t.atStart(accessRecord(t.b[:0], kind, w.id, rank, received, a.id), nil)
	default:
		t.atStart(atomicRecord(t.b[:0], w.id, rank, atomic, sent, received, a.id), nil)
	}
	w.open = append(w.open, a)
	if word, ok := issued(e, x); ok {
		r := t.process.request(word)
		r.list = append(r.list, operation{id: a.id, window: w})
	}
}

// Types of atomic accesses.
const (
	atomicAccumulate         = 0
	atomicCompareAndSwap     = 3
	atomicSwap               = 4
	atomicFetchAndAdd        = 5
	atomicFetchAndAccumulate = 7
)

var (
	opSum         = signature.ConstantByName("MPI_SUM").Word()
	opReplace     = signature.ConstantByName("MPI_REPLACE").Word()
	exclusiveLock = signature.ConstantByName("MPI_LOCK_EXCLUSIVE").Word()
)

// kindOfAccess is the record of an access and, of an atomic one, its type.
func kindOfAccess(e *reconstruct.Event, x *plan) (kind, atomic byte) {
	r := x.roles
	sends, receives := r.Send.Present(), r.Recv.Present()
	switch {
	case !sends:
		return eventRmaGet, 0
	case !receives && r.Op == 0:
		return eventRmaPut, 0
	case !receives:
		return eventRmaAtomic, atomicAccumulate
	case r.Op == 0:
		return eventRmaAtomic, atomicCompareAndSwap
	}
	switch e.Word(r.Op) {
	case opReplace:
		return eventRmaAtomic, atomicSwap
	case opSum:
		return eventRmaAtomic, atomicFetchAndAdd
	}
	return eventRmaAtomic, atomicFetchAndAccumulate
}

// completeAccesses writes that accesses to a target, or to all if it is undefined, are complete at the origin and there.
func (t *threadWriter) completeAccesses(w *localWindow, target uint32) {
	left := w.open[:0]
	for _, a := range w.open {
		if target != undefined && a.target != target {
			left = append(left, a)
			continue
		}
		if !a.here {
			t.atEnd(completionRecord(t.b[:0], eventRmaOpCompleteNonBlocking, w.id, a.id), nil)
		}
		t.atEnd(completionRecord(t.b[:0], eventRmaOpCompleteRemote, w.id, a.id), nil)
	}
	w.open = left
}

// completeHere writes that accesses to a target, or to all if it is undefined, are complete at the origin.
func (t *threadWriter) completeHere(w *localWindow, target uint32) {
	for i := range w.open {
		if a := &w.open[i]; !a.here && (target == undefined || a.target == target) {
			a.here = true
			t.atEnd(completionRecord(t.b[:0], eventRmaOpCompleteNonBlocking, w.id, a.id), nil)
		}
	}
}

// accessDone writes that a request has completed an access at the origin.
func (t *threadWriter) accessDone(o *operation) {
	for i := range o.window.open {
		if a := &o.window.open[i]; a.id == o.id && !a.here {
			a.here = true
			t.atEnd(completionRecord(t.b[:0], eventRmaOpCompleteNonBlocking, o.window.id, o.id), nil)
		}
	}
}

// synchronise writes what a call does to the epochs of a window.
func (t *threadWriter) synchronise(e *reconstruct.Event, x *plan) {
	w := t.process.window(e.Word(signature.ObjectWord))
	if w.id == undefined || x.roles.Flag != 0 && e.Word(x.roles.Flag) == 0 {
		return
	}
	target := uint32(undefined)
	if x.roles.Target != 0 {
		rank, ok := rankIn(w.comm.peers, e.Word(x.roles.Target))
		if !ok { // also MPI_PROC_NULL
			return
		}
		target = rank
	}
	switch x.proc.Epoch {
	case signature.AccessBegin:
		w.accessed = t.groupOf(e, x)
		t.groupSync(t.atEnd, w, syncProcess, w.accessed)
	case signature.ExposureBegin:
		w.exposed = t.groupOf(e, x)
		t.groupSync(t.atStart, w, syncProcess, w.exposed)
	case signature.AccessEnd:
		t.completeAccesses(w, undefined)
		t.groupSync(t.atEnd, w, syncProcess|syncMemory, w.accessed)
		w.accessed = undefined
	case signature.ExposureEnd:
		t.groupSync(t.atEnd, w, syncProcess|syncMemory, w.exposed)
		w.exposed = undefined
	case signature.Lock:
		t.atStart(lockRecord(t.b[:0], eventRmaRequestLock, w.id, target, lockTypeOf(e, x)), nil)
	case signature.Unlock:
		t.completeAccesses(w, target)
		t.atEnd(unlockRecord(t.b[:0], w.id, target), nil)
	case signature.Flush:
		t.completeAccesses(w, target)
	case signature.FlushLocal:
		t.completeHere(w, target)
	case signature.WinSync:
		t.atEnd(syncRecord(t.b[:0], w.id, w.self), nil)
	}
}

// groupSync writes that processes synchronise, unless it is unknown which.
func (t *threadWriter) groupSync(put func(record, extra []byte), w *localWindow, level, group uint32) {
	if group != undefined {
		put(groupSyncRecord(t.b[:0], level, w.id, group), nil)
	}
}

// groupOf is the group of an epoch.
func (t *threadWriter) groupOf(e *reconstruct.Event, x *plan) uint32 {
	m := t.process.facts.GroupMembers(e.Word(x.roles.Group))
	if m == nil {
		return undefined
	}
	list, _ := t.process.defs.written(m, nil)
	return t.process.defs.groupOf(list)
}

// Types of locks.
const (
	lockExclusive = 0
	lockShared    = 1
)

// lockTypeOf is the type of the lock that a call asks for: of all processes, it is shared.
func lockTypeOf(e *reconstruct.Event, x *plan) byte {
	if e.Word(wordNamed(x.proc, "lock_type")) == exclusiveLock {
		return lockExclusive
	}
	return lockShared
}

// wordNamed is the word of an argument, 0 if there is none.
func wordNamed(p *signature.Proc, name string) int {
	for i := range p.Words {
		if p.Words[i].Name == name && !p.Words[i].Out {
			return i
		}
	}
	return 0
}

// addWindow defines the window of a process that a word stands for.
func (d *definitions) addWindow(p *analysis.Process, word uint64, name, commName string) {
	comm, _, ok := p.MadeWith(word)
	if !ok {
		return
	}
	key := keyWith(p, word)
	if _, known := d.byWindow[key]; known {
		return
	}
	if id, ok := d.commFor(p, comm, commName); ok {
		d.byWindow[key] = uint32(len(d.windows))
		d.windows = append(d.windows, window{name, id})
	}
}

// keyWith names a window or file as its communicator is named.
func keyWith(p *analysis.Process, word uint64) analysis.CommKey {
	comm, how, _ := p.MadeWith(word)
	key, _, _, _ := keyOf(p, comm)
	if key.World < 0 { // each side names it by itself
		key.Name = signature.Hash(key.Name, how, word&signature.SequenceMask)
	} else {
		key.Name = word
	}
	return key
}

func (p *processWriter) keyWith(word uint64) analysis.CommKey { return keyWith(p.facts, word) }

// commFor returns the number of the communicator of a window or file.
func (d *definitions) commFor(p *analysis.Process, comm uint64, name string) (uint32, bool) {
	d.addComm(p, comm, name)
	key, _, _, _ := keyOf(p, comm)
	id, ok := d.byComm[key]
	return id, ok
}
