package hdtrace

import (
	"strconv"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// call is a call whose attributes are written.
type call struct {
	process *process
	stream  int
	event   *reconstruct.Event
	proc    *signature.Proc
	roles   *signature.Roles
	rid     int // of the request that it issues, -1: none
}

// Numbers that ranks and tags have for constants, those of MPICH.
const (
	procNull  = -1
	anySource = -2
	anyTag    = -1
)

// attribute is the value of an attribute; false if it is not known.
func (c *call) attribute(name string) (string, bool) {
	r := c.roles
	switch name {
	case "size", "sendSize":
		if w := c.word("size"); w != 0 {
			return c.number(w)
		}
		return c.bytes(c.sent())
	case "count":
		return c.number(c.sent().Count)
	case "tid":
		if w := c.sent().Type; w != 0 {
			return c.datatype(w)
		}
		return c.datatype(c.word("datatype"))
	case "recvSize":
		return c.bytes(&r.Recv)
	case "recvCount":
		return c.number(r.Recv.Count)
	case "recvtid":
		return c.datatype(r.Recv.Type)
	case "cid":
		return c.communicator()
	case "root", "rootRank":
		return c.rank(r.Root)
	case "toRank":
		return c.rank(r.Dest)
	case "fromRank", "source":
		return c.rank(r.Source)
	case "toTag":
		return c.tag(r.SendTag)
	case "fromTag", "tag":
		return c.tag(r.RecvTag)
	case "rid":
		return strconv.Itoa(c.rid), c.rid >= 0
	}
	return c.ofFile(name)
}

// ofFile is the value of an attribute of calls on files and datatypes.
func (c *call) ofFile(name string) (string, bool) {
	switch name {
	case "fid":
		return c.file()
	case "name":
		return c.text("filename")
	case "representation":
		return c.text("datarep")
	case "flags":
		return c.number(c.word("amode"))
	case "flag":
		return c.number(c.word("flag"))
	case "relative-offset":
		return c.number(c.word("offset"))
	case "offset":
		return c.offset()
	case "whence":
		k := signature.ConstantOf(c.event.Word(c.word("whence")))
		if k == nil {
			return "", false
		}
		return k.Name, true
	case "etid":
		return c.datatype(c.word("etype"))
	case "filetid":
		return c.datatype(c.word("filetype"))
	case "oldTid":
		return c.datatype(c.word("oldtype"))
	}
	return "", false
}

// word is the word of an argument or, if there is none of that name, of a result; 0: there is neither.
func (c *call) word(name string) (found int) {
	for i := range c.proc.Words {
		if w := &c.proc.Words[i]; w.Name == name && (found == 0 || !w.Out) {
			found = i
		}
	}
	return found
}

// sent is what the call sends or, if it sends nothing, what it receives.
func (c *call) sent() *signature.Payload {
	if c.roles.Send.Present() {
		return &c.roles.Send
	}
	return &c.roles.Recv
}

func (c *call) number(word int) (string, bool) {
	w := c.event.Word(word)
	if word == 0 || signature.IsConst(w) || c.proc.Vector(word) {
		return "", false
	}
	return strconv.FormatInt(int64(w), 10), true
}

func (c *call) bytes(d *signature.Payload) (string, bool) {
	if !d.Present() || c.proc.Vector(d.Count) || c.proc.Vector(d.Type) {
		return "", false
	}
	n, ok := c.process.facts.PayloadBytes(c.event, d)
	return strconv.FormatUint(n, 10), ok
}

func (c *call) rank(word int) (string, bool) {
	switch w := c.event.Word(word); {
	case word == 0:
		return "", false
	case w == signature.ProcNull:
		return strconv.Itoa(procNull), true
	case w == signature.AnySource:
		return strconv.Itoa(anySource), true
	}
	return c.number(word)
}

func (c *call) tag(word int) (string, bool) {
	if word != 0 && c.event.Word(word) == signature.AnyTag {
		return strconv.Itoa(anyTag), true
	}
	return c.number(word)
}

func (c *call) datatype(word int) (string, bool) {
	w := c.event.Word(word)
	if word == 0 || w == signature.Absent || c.proc.Vector(word) {
		return "", false
	}
	return strconv.Itoa(c.process.datatype(w)), true
}

func (c *call) text(argument string) (string, bool) {
	s, ok := c.process.texts[c.event.Word(c.word(argument))]
	return s, ok
}

// offset is the offset of an operation on a file: of those that move a file pointer it is not recorded, but
// where a call sets that.
func (c *call) offset() (string, bool) {
	if w := c.word("whence"); w != 0 && c.event.Word(w) != seekSet {
		return "", false
	}
	if w := c.word("offset"); w != 0 {
		return c.number(w)
	}
	return c.number(c.word("disp"))
}

var seekSet = signature.ConstantByName("MPI_SEEK_SET").Word()

// file is the number of the file of a call.
func (c *call) file() (string, bool) {
	name, ok := c.text("filename")
	if !ok {
		_, how, made := c.process.facts.MadeWith(c.event.Word(signature.ObjectWord))
		if name, ok = c.process.texts[how]; !made {
			return "", false
		}
	}
	return strconv.Itoa(c.process.fileNumber(name)), ok
}

func (w *writer) fileNumber(name string) int {
	id, ok := w.files[name]
	if !ok {
		id = len(w.names)
		w.files[name], w.names = id, append(w.names, name)
	}
	return id
}

// communicator is a communicator that calls refer to.
type communicator struct {
	name    string
	number  int
	members [][2]int // ranks in the run and in the communicator
}

// Numbers of communicators that all processes have.
const (
	world = iota
	self
	firstOther
)

// communicator is the number of the communicator of a call.
func (c *call) communicator() (string, bool) {
	f, word := c.process.facts, c.event.Word(signature.ObjectWord)
	key := f.CommKey(word)
	w := c.process.writer
	at, ok := w.comms[key]
	if !ok {
		list, known := w.newCommunicator(f, word)
		if !known {
			return "", false
		}
		at = len(w.lists)
		w.comms[key], w.lists = at, append(w.lists, list)
	}
	return strconv.Itoa(w.lists[at].number), true
}

func (w *writer) newCommunicator(f *analysis.Process, word uint64) (x communicator, ok bool) {
	switch word {
	case signature.CommWorld:
		x.name, x.number = "WORLD", world
	case signature.CommSelf:
		x.name, x.number = "SELF", self
	default:
		x.number = firstOther + len(w.lists)
	}
	own, other := f.Members(word)
	if own == nil {
		return x, false
	}
	for _, m := range []*analysis.Members{own, other} {
		for i := 0; m != nil && i < m.Size(); i++ {
			if rank := m.At(i); w.known[rank] {
				x.members = append(x.members, [2]int{rank, i})
			}
		}
	}
	return x, true
}
