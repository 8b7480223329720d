package otf2

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// localFile is a file as a process sees it; id is undefined if it has no definition.
type localFile struct {
	id uint32
	// half is the operation of a split collective of which only the first half was called.
	half operation
}

// file finds an open file.
func (p *processWriter) file(word uint64) *localFile {
	f := p.files[word]
	if f == nil {
		f = &localFile{id: undefined}
		p.files[word] = f
		if id, ok := p.defs.byHandle[p.keyWith(word)]; ok {
			f.id = id
		}
	}
	return f
}

// Modes of operations, and their flags.
const (
	modeRead         = 0
	modeWrite        = 1
	flagNonblocking  = 1
	flagOfCollective = 2
)

// fileActionOf says what calls on files do.
func fileActionOf(p *signature.Proc) action {
	switch {
	case p.MadeKind() == signature.File:
		return opensFile
	case p.FreedKind() == signature.File:
		return closesFile
	case p.Split == "end":
		return endsHalf
	case p.ReadsFile() || p.WritesFile():
		return movesFile
	case wordNamed(p, "whence") != 0:
		return seeks
	case p.Param("filename") >= 0:
		return deletesFile
	}
	return noAction
}

// openFile writes that a file is opened. In a part of a run, all files are open from the beginning.
func (t *threadWriter) openFile(e *reconstruct.Event, x *plan) {
	f := t.process.file(e.Word(x.roles.Made))
	if f.id == undefined || t.process.partial() {
		return
	}
	mode, creation, status := modesOf(e.Word(wordNamed(x.proc, "amode")))
	t.atEnd(createHandleRecord(t.b[:0], f.id, mode, creation, status), nil)
}

// Bits of access modes.
const (
	modeCreate = 1 << iota
	modeReadOnly
	modeWriteOnly
	modeReadWrite
	modeDeleteOnClose
	modeUniqueOpen
	modeExclusive
	modeAppend
	modeSequential
)

// modesOf says what the access mode of MPI_File_open is in OTF2.
func modesOf(bits uint64) (mode byte, creation, status uint32) {
	const create, exclusive, noSeek, unique = 1 << 0, 1 << 3, 1 << 9, 1 << 10
	const appends, deleteOnClose = 1 << 1, 1 << 8
	if signature.IsConst(bits) {
		return accessReadWrite, 0, 0
	}
	switch {
	case bits&modeReadOnly != 0:
		mode = accessReadOnly
	case bits&modeWriteOnly != 0:
		mode = accessWriteOnly
	default:
		mode = accessReadWrite
	}
	for _, f := range []struct {
		bit   uint64
		flags *uint32
		flag  uint32
	}{
		{modeCreate, &creation, create}, {modeExclusive, &creation, exclusive}, {modeSequential, &creation, noSeek}, {modeUniqueOpen, &creation, unique},
		{modeAppend, &status, appends}, {modeDeleteOnClose, &status, deleteOnClose},
	} {
		if bits&f.bit != 0 {
			*f.flags |= f.flag
		}
	}
	return mode, creation, status
}

// Access modes of handles.
const (
	accessReadOnly  = 0
	accessWriteOnly = 1
	accessReadWrite = 2
)

// closeFile writes that a file is closed. In a part of a run, all files stay open.
func (t *threadWriter) closeFile(e *reconstruct.Event) {
	word := e.Word(signature.ObjectWord)
	if f := t.process.file(word); f.id != undefined && !t.process.partial() {
		t.atEnd(short(t.b[:0], eventIoDestroyHandle, f.id), nil)
	}
	delete(t.process.files, word)
}

// seek writes that a file pointer moves.
func (t *threadWriter) seek(e *reconstruct.Event, x *plan) {
	f := t.process.file(e.Word(signature.ObjectWord))
	if f.id == undefined {
		return
	}
	offset, result := int64(e.Word(x.roles.Offset)), uint64(undefined64)
	whence := byte(0)
	switch e.Word(wordNamed(x.proc, "whence")) {
	case seekCur:
		whence = 1
	case seekEnd:
		whence = 2
	default:
		result = uint64(offset)
	}
	t.atEnd(seekRecord(t.b[:0], f.id, offset, whence, result), nil)
}

var (
	seekCur = signature.ConstantByName("MPI_SEEK_CUR").Word()
	seekEnd = signature.ConstantByName("MPI_SEEK_END").Word()
)

// deleteFile writes that a file is deleted.
func (t *threadWriter) deleteFile(e *reconstruct.Event, x *plan) {
	name := t.process.texts[e.Word(wordNamed(x.proc, "filename"))]
	if file, ok := t.process.defs.byFile[name]; ok {
		t.atEnd(deleteFileRecord(t.b[:0], file), nil)
	}
}

// move writes an operation on a file, or the beginning of one that another call completes.
func (t *threadWriter) move(e *reconstruct.Event, x *plan) {
	f := t.process.file(e.Word(signature.ObjectWord))
	if f.id == undefined {
		return
	}
	mode, payload := byte(modeRead), &x.roles.Recv
	if x.proc.WritesFile() {
		mode, payload = modeWrite, &x.roles.Send
	}
	flags := uint32(0)
	if x.proc.Collective() {
		flags |= flagOfCollective
	}
	later := x.proc.Issues != "" || x.proc.Split == "begin"
	if later {
		flags |= flagNonblocking
	}
	t.process.ids++
	o := operation{id: t.process.ids, file: f}
	o.bytes = t.size(e, payload)
	t.atStart(beginRecord(t.b[:0], f.id, mode, flags, o.bytes, o.id), nil)
	if !later {
		t.moved(&o, e, x)
		return
	}
	t.atEnd(operationRecord(t.b[:0], eventIoOperationIssued, f.id, o.id), nil)
	if w, ok := issued(e, x); ok {
		r := t.process.request(w)
		r.list = append(r.list, o)
	} else {
		f.half = o
	}
}

// moved writes that an operation is complete, with the size that its status has or, if that is not
// known, that was asked for.
func (t *threadWriter) moved(o *operation, e *reconstruct.Event, x *plan) {
	bytes := o.bytes
	if w := x.roles.StatusBytes; w != 0 && !signature.IsConst(e.Word(w)) {
		bytes = e.Word(w)
	}
	t.atEnd(completeRecord(t.b[:0], o.file.id, bytes, o.id), nil)
}

// endHalf writes the end of a split collective operation.
func (t *threadWriter) endHalf(e *reconstruct.Event, x *plan) {
	if f := t.process.file(e.Word(signature.ObjectWord)); f.half.id != 0 {
		t.moved(&f.half, e, x)
		f.half = operation{}
	}
}

// partial reports whether a part of the time of a run is written: then it is not known which files are
// opened in it by all processes.
func (a *archive) partial() bool { return a.job.Window() || a.job.Time != nil }

// addFile defines a file.
func (d *definitions) addFile(name string) uint32 {
	id, ok := d.byFile[name]
	if !ok {
		id = uint32(len(d.files))
		d.files, d.byFile[name] = append(d.files, name), id
		d.text(name)
	}
	return id
}

// addHandle defines the open file of a process that a word stands for.
func (d *definitions) addHandle(p *analysis.Process, texts map[uint64]string, word uint64, name, commName string) {
	comm, file, ok := p.MadeWith(word)
	if !ok {
		return
	}
	key := keyWith(p, word)
	if _, known := d.byHandle[key]; known {
		return
	}
	id, ok := d.commFor(p, comm, commName)
	if !ok {
		id = undefined
	}
	d.byHandle[key] = uint32(len(d.handlesOf))
	d.handlesOf = append(d.handlesOf, handle{name, d.addFile(texts[file]), id})
}
