package otf2

import "github.com/efg-tools/efg/signature"

// byMPI reports whether a record is about a file that MPI has opened: programs and MPI itself open others.
func (r *reader) byMPI(e *Event) bool {
	d := r.archive.Definitions
	paradigm := e.Fields[0]
	if e.Kind != IoDeleteFile {
		h, ok := d.Handles[e.Fields[0]]
		if !ok {
			return false
		}
		paradigm = h.Paradigm
	}
	return d.Paradigms[paradigm] == "MPI-IO"
}

// applyToFile sets the words that a record about a file tells.
func (p *process) applyToFile(c *call, r *record, x *completion) {
	if !c.proc.OnFiles() && c.proc.Completes == "" {
		p.reader.skipped.outside++
		return
	}
	w, roles := &p.words, &p.words.Proc.Roles
	switch r.kind {
	case IoCreateHandle:
		p.opened(c, r)
	case IoDestroyHandle:
		p.setFile(c.proc, r.fields[0])
	case IoDeleteFile:
		w.Set(w.WordNamed("filename"), p.fileName(r.fields[1]))
	case IoSeek:
		p.setFile(c.proc, r.fields[0])
		p.sought(r)
	case IoOperationBegin:
		p.moved(c, r)
	case IoOperationTest:
		p.ended(c, r, false, x)
	case IoOperationComplete:
		p.ended(c, r, true, x)
		p.setFile(c.proc, r.fields[0])
		if c.proc.OnFiles() {
			w.Set(roles.StatusBytes, r.fields[1])
		}
		delete(p.operations, r.operation())
	}
}

// setFile sets the file that a call is about.
func (p *process) setFile(proc *signature.Proc, id uint64) {
	if proc.ObjectKind() == signature.File {
		p.words.Set(signature.ObjectWord, p.file(id))
	}
}

// opened sets what a file is opened as.
func (p *process) opened(c *call, r *record) {
	if c.proc.MadeKind() != signature.File {
		return
	}
	h := p.reader.archive.Definitions.Handles[r.fields[0]]
	w := &p.words
	w.Set(w.Proc.Roles.Made, p.file(r.fields[0]))
	p.setComm(h.Comm)
	w.Set(w.WordNamed("filename"), p.fileName(h.File))
	w.Set(w.WordNamed("amode"), accessMode(r.fields[1], r.fields[2], r.fields[3]))
}

// modes are the flags of access modes, with those that stand for them in an archive: modes of access, and
// bits of how a file is created and of its status.
var modes = []struct {
	name                   string
	access                 int
	creation, statusOfFile uint64
}{
	{"MPI_MODE_RDONLY", 0, 0, 0}, {"MPI_MODE_WRONLY", 1, 0, 0}, {"MPI_MODE_RDWR", 2, 0, 0},
	{"MPI_MODE_CREATE", -1, 1 << 0, 0}, {"MPI_MODE_EXCL", -1, 1 << 3, 0}, {"MPI_MODE_SEQUENTIAL", -1, 1 << 9, 0},
	{"MPI_MODE_UNIQUE_OPEN", -1, 1 << 10, 0}, {"MPI_MODE_APPEND", -1, 0, 1 << 1}, {"MPI_MODE_DELETE_ON_CLOSE", -1, 0, 1 << 8},
}

// accessMode is the mode that a file is opened in.
func accessMode(access, creation, status uint64) (bits uint64) {
	for _, m := range modes {
		if m.access == int(access) || creation&m.creation != 0 || status&m.statusOfFile != 0 {
			bits |= 1 << signature.ConstantByName(m.name).Bit
		}
	}
	return bits
}

// wheres are what offsets are from, by their numbers in archives.
var wheres = []string{"MPI_SEEK_SET", "MPI_SEEK_CUR", "MPI_SEEK_END"}

// sought sets where a file pointer is moved to.
func (p *process) sought(r *record) {
	w := &p.words
	if from := r.fields[2]; from < uint64(len(wheres)) {
		w.Set(w.Proc.Roles.Offset, r.fields[1])
		w.Set(w.WordNamed("whence"), signature.ConstWord(wheres[from]))
	}
}

// moved sets what a call reads or writes.
func (p *process) moved(c *call, r *record) {
	roles := &c.proc.Roles
	if !c.proc.ReadsFile() && !c.proc.WritesFile() {
		p.reader.skipped.outside++
		return
	}
	p.setFile(c.proc, r.fields[0])
	if c.proc.WritesFile() {
		p.words.SetBytes(&roles.Send, r.fields[3])
	} else {
		p.words.SetBytes(&roles.Recv, r.fields[3])
	}
	if c.proc.Issues != "" {
		p.starts(r, signature.Absent)
		p.words.Issue()
	}
}
