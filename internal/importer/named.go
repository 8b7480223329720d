package importer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Described is a call whose arguments and results have names, as in JSON Lines.
type Described struct {
	Op        string
	Args, Out *Value // objects; nil: none
	Place     string
	Function  string
	Site      uint64 // word of the callsite; 0: that of Place and Function
	Lang      signature.Language
	Large     bool
	ByPMPI    bool
	Depth     int // number of calls that it was made inside of

	Start, End uint64
	Timed      bool
}

// proc finds the procedure of a call.
func (d *Described) proc() (*signature.Proc, error) {
	p, large := ProcNamed(d.Op)
	d.Large = d.Large || large
	switch {
	case p == nil:
		return nil, fmt.Errorf("%.60q is no MPI procedure", d.Op)
	case p.Class == signature.Pass:
		return nil, fmt.Errorf("%s is never recorded", p.Name)
	}
	return p, nil
}

// ProcNamed returns the procedure with a name, nil if there is none. Names of large-count variants end
// in _c.
func ProcNamed(name string) (p *signature.Proc, large bool) {
	if p = signature.ProcByName(name); p != nil {
		return p, false
	}
	if name, large = strings.CutSuffix(name, "_c"); large {
		if p = signature.ProcByName(name); p != nil && p.HasLarge {
			return p, true
		}
	}
	return nil, false
}

// AddDescribed adds a call.
func (t *Thread) AddDescribed(d *Described) error {
	x, err := t.describe(d)
	if err != nil {
		return err
	}
	id, err := t.Add(&Call{Input: x.in, Start: d.Start, End: d.End, Timed: d.Timed, Slot: x.slot})
	if err != nil {
		return err
	}
	if id != 0 && x.object != "" {
		t.process.locals[x.object] = id
	}
	return nil
}

// EnterDescribed says that the thread was in a call when its recording ended.
func (t *Thread) EnterDescribed(d *Described, since uint64) error {
	x, err := t.describe(d)
	if err != nil {
		return err
	}
	t.Enter(x.in, since)
	return nil
}

// described is a call whose names are being replaced by words.
type described struct {
	thread *Thread
	proc   *signature.Proc
	from   *Described
	in     efg.Input
	object string // name of the local object that the call makes
	slot   bool   // the name has its slot
}

func (t *Thread) describe(d *Described) (*described, error) {
	p, err := d.proc()
	if err != nil {
		return nil, err
	}
	x := &described{thread: t, proc: p, from: d, in: efg.Input{Words: make([]uint64, len(p.Words))}}
	class, err := errorClass(d.Out)
	if err != nil {
		return nil, err
	}
	h := signature.MakeHeader(p.ID, d.Lang, d.Large, len(p.Words), class)
	if d.ByPMPI {
		h = h.AsByPMPI()
	}
	h = h.AtDepth(d.Depth)
	x.in.Words[0] = uint64(h)
	if x.in.Words[1] = d.Site; d.Site == 0 {
		x.in.Words[1] = t.process.Site(d.Place, d.Function)
	}
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		if err := x.word(i, class != 0); err != nil {
			return nil, err
		}
	}
	setBuffers(p, &x.in)
	if err := x.statuses(); err != nil {
		return nil, err
	}
	return x, x.all()
}

// all reports members that the procedure does not have.
func (x *described) all() error {
	for k, v := range []*Value{x.from.Args, x.from.Out} {
		if v == nil {
			continue
		}
		for i := range v.Members {
			if name := v.Members[i].Name; !x.has(name, k == 1) {
				return fmt.Errorf("%s has no %s %.40q", x.proc.Name, [2]string{"argument", "result"}[k], name)
			}
		}
	}
	return nil
}

func (x *described) has(name string, out bool) bool {
	if x.proc.Param(name) >= 0 {
		return true
	}
	if !out {
		return false
	}
	switch name {
	case "source", "tag", "count", "bytes", "statuses", "error":
		return true
	}
	return false
}

// errorClass is the error class of a call with results.
func errorClass(out *Value) (uint16, error) {
	if out == nil {
		return 0, nil
	}
	v := out.Member("error")
	if v == nil {
		return 0, nil
	}
	if n, ok := strings.CutPrefix(v.Text, "MPI_ERR_LASTCODE+"); ok {
		if k, err := strconv.ParseUint(n, 10, 15); err == nil {
			return signature.UserErrorClass | uint16(k), nil
		}
	}
	if c := signature.ConstantByName(v.Text); c != nil && c.Group == "errclass" {
		return uint16(c.ID), nil
	}
	return 0, fmt.Errorf("error %.60q is no error class", v.Text)
}

// word sets word i, unless it is of a status.
func (x *described) word(i int, failed bool) (err error) {
	w := &x.proc.Words[i]
	if w.Param < 0 {
		return nil
	}
	q := &x.proc.Params[w.Param]
	x.in.Words[i] = signature.Absent
	switch q.Kind {
	case signature.Status, signature.Statuses, signature.FStatus:
		return nil
	}
	from := x.from.Args
	if w.Out && i != x.proc.Roles.Request && q.Kind != signature.Buf {
		from = x.from.Out
	}
	var v *Value
	if from != nil {
		v = from.Member(q.Name)
	}
	switch {
	case v != nil && i == x.proc.Roles.Made && x.proc.MadeKind() == signature.Type:
		return x.madeType(q, v)
	case w.Form == signature.SlotForm:
		return x.made(i, q, v, failed)
	case v == nil:
		return nil
	case q.Kind == signature.Int64 || q.Kind == signature.Double:
		return x.wide(i, q, v)
	case w.Form == signature.VecForm:
		return x.array(i, q, v)
	}
	x.in.Words[i], err = x.value(q, v)
	return err
}

// made sets the word of a new local object.
func (x *described) made(i int, q *signature.Param, v *Value, failed bool) error {
	switch {
	case v == nil && (failed || x.foundNothing()) || v != nil && v.Kind == Null:
		return nil
	case v == nil:
		x.in.Words[i] = 0
		return nil
	}
	if c := constantNamed(v.Text); v.Kind == Text && c != nil {
		x.in.Words[i] = c.Word()
		return nil
	}
	var err error
	x.in.Words[i] = 0
	if x.object, err = localName(q.Kind, v, x.thread.number); err != nil {
		return fmt.Errorf("%s of %s: %w", q.Name, x.proc.Name, err)
	}
	if slot, ok := slotIn(x.object); ok {
		x.in.Words[i], x.slot = slot, true
	}
	return nil
}

// foundNothing reports whether the call says that there was nothing.
func (x *described) foundNothing() bool {
	if x.proc.Roles.Flag == 0 || x.from.Out == nil {
		return false
	}
	v := x.from.Out.Member(x.proc.Words[x.proc.Roles.Flag].Name)
	return v != nil && v.Kind == Number && v.Number == 0
}

// slotIn is the slot in the name of a local object: "req:0:5.17".
func slotIn(name string) (slot uint64, ok bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return 0, false
	}
	slot, err := strconv.ParseUint(name[at+1:], 10, signature.SlotBits)
	return slot, err == nil
}

// wide sets a half of a value of 64 bits.
func (x *described) wide(i int, q *signature.Param, v *Value) error {
	bits := uint64(v.Number)
	switch {
	case q.Kind == signature.Double && v.Kind == Number:
		bits = math.Float64bits(float64(v.Number))
	case q.Kind == signature.Double && v.Kind == Text:
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return fmt.Errorf("%s of %s: %.40q is no number", q.Name, x.proc.Name, v.Text)
		}
		bits = math.Float64bits(f)
	case v.Kind != Number && (q.Kind == signature.Int64 || v.Kind != Decimal):
		return fmt.Errorf("%s of %s: want a number", q.Name, x.proc.Name)
	}
	high, low := signature.SplitWide(bits)
	if x.in.Words[i] = high; x.proc.Words[i].Part == signature.Low {
		x.in.Words[i] = low
	}
	return nil
}

func (x *described) array(i int, q *signature.Param, v *Value) error {
	if v.Kind == Text {
		c := constantNamed(v.Text)
		if c == nil {
			return fmt.Errorf("%s of %s: want an array or the name of a constant, not %.40q", q.Name, x.proc.Name, v.Text)
		}
		x.in.Words[i] = c.Word()
		return nil
	}
	if v.Kind != List {
		return fmt.Errorf("%s of %s: want an array", q.Name, x.proc.Name)
	}
	elems := make([]uint64, len(v.List))
	for k := range v.List {
		var err error
		if elems[k], err = x.value(q, &v.List[k]); err != nil {
			return err
		}
	}
	setVec(&x.in, i, elems)
	return nil
}

// value returns the word of an argument or of an element.
func (x *described) value(q *signature.Param, v *Value) (uint64, error) {
	w, err := x.thread.process.value(q, v, x.thread.number)
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w", q.Name, x.proc.Name, err)
	}
	return w, nil
}

func (p *Process) value(q *signature.Param, v *Value, thread uint32) (uint64, error) {
	switch v.Kind {
	case Null:
		return signature.Absent, nil
	case Number:
		if q.Kind.Local() {
			return p.local(q.Kind, v, thread)
		}
		if !q.Kind.Integer() && q.Kind != signature.Buf {
			return 0, fmt.Errorf("%d, want the name of a %s", v.Number, q.Kind)
		}
		return uint64(v.Number), nil
	case Text:
	case Decimal:
		return 0, fmt.Errorf("%v, want an integer", math.Float64frombits(uint64(v.Number)))
	default:
		return 0, fmt.Errorf("want a number or a name")
	}
	if q.Kind == signature.Str {
		return p.String(v.Text), nil
	}
	if c := constantNamed(v.Text); c != nil && q.Kind != signature.Bits {
		return c.Word(), nil
	}
	switch {
	case q.Kind == signature.Bits:
		return flags(q.Set, v.Text)
	case q.Kind == signature.Buf:
		return p.region(v.Text)
	case q.Kind.Local():
		return p.local(q.Kind, v, thread)
	case q.Kind.Handle():
		return p.handle(q.Kind, v.Text)
	}
	return 0, fmt.Errorf("%.60q is no constant of MPI", v.Text)
}

// flags reads flags by name, "MPI_MODE_CREATE|MPI_MODE_RDWR".
func flags(set, text string) (bits uint64, err error) {
	for _, name := range strings.Split(text, "|") {
		if rest, ok := strings.CutPrefix(name, "0x"); ok {
			v, err := strconv.ParseUint(rest, 16, 62)
			if err != nil {
				return 0, fmt.Errorf("%.60q is no set of flags", text)
			}
			bits |= v
			continue
		}
		c := signature.ConstantByName(name)
		if c == nil || c.Group != "bits" || c.Set != set {
			return 0, fmt.Errorf("%.60q is no flag", name)
		}
		bits |= 1 << c.Bit
	}
	return bits, nil
}

// localName is the name of a local object with the thread that made it: "req:THREAD:NODE.SLOT", or
// the number that the source has for it.
func localName(kind signature.Kind, v *Value, thread uint32) (string, error) {
	prefix := reconstruct.HandlePrefix(kind)
	if v.Kind == Number {
		return prefix + strconv.FormatInt(v.Number, 10), nil
	}
	rest, ok := strings.CutPrefix(v.Text, prefix)
	if !ok || v.Kind != Text {
		return "", fmt.Errorf("%.60q is not the name of a %s", v.Text, kind)
	}
	if !strings.Contains(rest, ":") {
		rest = strconv.FormatUint(uint64(thread), 10) + ":" + rest
	}
	return prefix + rest, nil
}

// local returns the word of a local object by its name. One that no call before made is unknown.
func (p *Process) local(kind signature.Kind, v *Value, thread uint32) (uint64, error) {
	name, err := localName(kind, v, thread)
	if err != nil {
		return 0, err
	}
	if w, ok := p.locals[name]; ok {
		return w, nil
	}
	return signature.Unknown, nil
}

// Awaits reports whether a call names a request or message that no call has made so far, and that
// another thread may make.
func (t *Thread) Awaits(d *Described) bool {
	p, _ := ProcNamed(d.Op)
	if p == nil || d.Args == nil {
		return false
	}
	for i := range p.Params {
		q := &p.Params[i]
		v := d.Args.Member(q.Name)
		if v == nil || !q.Kind.Local() || q.Dir == signature.Out {
			continue
		}
		list := []Value{*v}
		if v.Kind == List {
			list = v.List
		}
		for k := range list {
			if t.lacks(q.Kind, &list[k]) {
				return true
			}
		}
	}
	return false
}

// lacks reports whether no call has made the local object so far, and another thread may make it.
func (t *Thread) lacks(kind signature.Kind, v *Value) bool {
	name, err := localName(kind, v, t.number)
	if err != nil {
		return false // a constant
	}
	if _, made := t.process.locals[name]; made {
		return false
	}
	own := reconstruct.HandlePrefix(kind) + strconv.FormatUint(uint64(t.number), 10) + ":"
	return !strings.HasPrefix(name, own)
}
