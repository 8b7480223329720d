package otf2

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// operationKey names an access or an operation on a file: archives number those of each window and file.
type operationKey struct {
	file   bool
	handle uint64
	id     uint64
}

// operation is an access or an operation on a file that is not known to be complete.
type operation struct {
	word   uint64 // of its request, 0 if it has none
	target uint64 // rank
}

// maxOperations bounds those that an archive begins and never completes; what comes after them is complete when
// it is begun.
const maxOperations = 1 << 16

// operation is the access or operation on a file that a record is about.
func (r *record) operation() operationKey {
	switch r.kind {
	case RmaPut, RmaGet:
		return operationKey{false, r.fields[0], r.fields[3]}
	case RmaAtomic:
		return operationKey{false, r.fields[0], r.fields[5]}
	case IoOperationBegin:
		return operationKey{true, r.fields[0], r.fields[4]}
	case IoOperationComplete:
		return operationKey{true, r.fields[0], r.fields[2]}
	case IoOperationIssued, IoOperationTest:
		return operationKey{true, r.fields[0], r.fields[1]}
	}
	return operationKey{false, r.fields[0], r.fields[1]}
}

// starts notes an access or operation on a file that a call begins.
func (p *process) starts(r *record, target uint64) {
	if len(p.operations) < maxOperations {
		p.operations[r.operation()] = &operation{target: target}
	}
}

// handleKey names a window, file or group of the archive.
type handleKey struct {
	kind signature.Kind
	id   uint64
}

// window is the word of a window, absent if it is not defined. how is its kind, absent if that is unknown.
func (p *process) window(id, how uint64) uint64 {
	d, ok := p.reader.archive.Definitions.Windows[id]
	return p.handle(signature.Win, id, ok, d.Name, d.Comm, func() uint64 { return how })
}

// file is the word of an open file, absent if it is not defined.
func (p *process) file(id uint64) uint64 {
	d := p.reader.archive.Definitions
	h, ok := d.Handles[id]
	return p.handle(signature.File, id, ok, h.Name, h.Comm, func() uint64 { return p.fileName(h.File) })
}

// handle is the word of a window or file.
func (p *process) handle(kind signature.Kind, id uint64, defined bool, name string, comm uint64, how func() uint64) uint64 {
	key := handleKey{kind, id}
	if w, ok := p.handles[key]; ok {
		return w
	}
	w := signature.Absent
	if defined {
		named, err := p.out.HandleMadeWith(kind, p.reader.handleName(kind, id, name), p.commOf(comm), how())
		if err == nil {
			w = named
		}
	}
	p.handles[key] = w
	return w
}

// handleName is the name of a window or file in JSON Lines: that of efg's own archives, or one of its number.
func (r *reader) handleName(kind signature.Kind, id uint64, name string) string {
	prefix := importer.HandlePrefix(kind)
	if r.own && strings.HasPrefix(name, prefix) {
		return name
	}
	const digits = 40 - 2 // bits of the ten digits
	return fmt.Sprintf("%s%010x", prefix, signature.Hash(id, uint64(len(prefix)))&(1<<digits-1))
}

// fileName is the word of the name of a file, absent if it has none.
func (p *process) fileName(file uint64) uint64 {
	name, ok := p.reader.archive.Definitions.Files[file]
	if !ok {
		return signature.Absent
	}
	return p.out.String(name)
}

// group is the word of a group, absent if its members are unknown.
func (p *process) group(id uint64) uint64 {
	key := handleKey{signature.Group, id}
	if w, ok := p.handles[key]; ok {
		return w
	}
	w := signature.Absent
	if g := p.reader.groups[id]; g != nil && p.reader.whole() {
		if members, err := p.reader.membersOf(g); err == nil {
			w = p.out.GroupOf(members)
		}
	}
	p.handles[key] = w
	return w
}

// ended notes that a record says that an operation is complete, or that it is not, as a call that
// completes requests found.
func (p *process) ended(c *call, r *record, done bool, x *completion) *operation {
	o := p.operations[r.operation()]
	if c.proc.Completes == "" {
		return o
	}
	word := signature.Unknown
	if o != nil && o.word != 0 {
		word = o.word
	}
	x.note(word, done)
	return o
}
