package importer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Names are what the names of a run's handles and callsites stand for. A handle keeps its name: the
// digits in it are the first ones of its word.
type Names struct {
	// Sites are the callsites so far.
	Sites   []runfile.Site
	sites   map[siteName]callsite
	paths   map[uint64]bool    // words of call paths among Sites
	defs    map[string]efg.Def // of handles, by name without number
	sizes   map[uint64]uint64  // of datatypes, bytes
	comms   map[string]*Members
	regions map[string]uint64
	digits  map[string]string // of handles, by name without number
}

type siteName struct{ place, function string }

type callsite struct {
	word uint64
	defs [2]efg.Def // module and place
}

// Members are the members of a communicator, ranks in the world; Remote those of the other group of
// an intercommunicator.
type Members struct {
	Parent string // "" if it is not known
	Kind   string // constant, as in EFG_COMM_SPLIT
	Local  []int
	Remote []int
}

// NewNames returns the names of a run, none so far.
func NewNames() *Names {
	return &Names{sites: map[siteName]callsite{}, paths: map[uint64]bool{}, defs: map[string]efg.Def{}, sizes: map[uint64]uint64{}, comms: map[string]*Members{}, regions: map[string]uint64{}, digits: map[string]string{}}
}

// SetMembers says who the members of a communicator are. It comes before its first use.
func (n *Names) SetMembers(comm string, m *Members) { n.comms[comm] = m }

// SetDigits says what all digits of a handle are whose name is shorter. It comes before its first use.
func (n *Names) SetDigits(name, digits string) { n.digits[name] = digits }

// MembersOf returns the members of a communicator, nil if they are unknown.
func (n *Names) MembersOf(comm string) *Members { return n.comms[comm] }

// Site returns the word of a callsite: "file.c:88", "module+0x1234", or another text; 0 if it is
// not known.
func (p *Process) Site(place, function string) uint64 {
	if (place == "" || place == "unknown") && function == "" {
		return 0
	}
	return p.callsite(place, function).word
}

// callsite defines a callsite.
func (p *Process) callsite(place, function string) callsite {
	n := p.Names
	key := siteName{place, function}
	s, ok := n.sites[key]
	if !ok {
		s = newCallsite(place, function)
		n.sites[key] = s
		n.addSite(s.word, place, function)
	}
	p.defs.Add(s.defs[0])
	p.defs.Add(s.defs[1])
	return s
}

// addSite notes what the word of a callsite stands for, unless its definition says that.
func (n *Names) addSite(word uint64, place, function string) {
	if _, plain := moduleOffset(place); !plain || function != "" {
		n.Sites = append(n.Sites, runfile.Site{Word: word, Place: place, Func: function})
	}
}

// How call paths begin that do not begin where the program or the thread does.
const (
	PathUnknown = reconstruct.PathUnknown
	PathCut     = reconstruct.PathCut
)

// MaxPath is how many calls a call path has at most: names of longer ones are cut.
const MaxPath = 1 << 10

// PathCall is a call on a call path, as Site has it.
type PathCall struct{ Place, Function string }

// PathSite returns the word of a callsite with a call path: the calls on it, the outermost first and that of the
// callsite last, and how it begins before them: PathUnknown, PathCut or "".
func (p *Process) PathSite(calls []PathCall, start string) uint64 {
	parent := signature.Absent
	if start == PathUnknown {
		parent = signature.Unknown
	}
	for i, c := range calls {
		s := p.callsite(c.Place, c.Function)
		if i == 0 && start == PathCut {
			parent = s.word // a callsite without path
			continue
		}
		d := efg.Def{Kind: efg.DefSite, Words: []uint64{s.defs[1].Words[0], s.defs[1].Words[1], parent}}
		d.Word = d.Identity()
		p.defs.Add(d)
		if parent = d.Word; !p.Names.paths[d.Word] {
			p.Names.paths[d.Word] = true
			p.Names.addSite(d.Word, c.Place, c.Function)
		}
	}
	return parent
}

// moduleOffset cuts "module+0x1234" into its parts; the module is a prefix of the text.
func moduleOffset(place string) (offset uint64, ok bool) {
	i := strings.LastIndex(place, "+0x")
	if i <= 0 {
		return 0, false
	}
	offset, err := strconv.ParseUint(place[i+3:], 16, 64)
	return offset, err == nil
}

func newCallsite(place, function string) callsite {
	module, number := place, uint64(0)
	if offset, ok := moduleOffset(place); ok {
		module, number = place[:strings.LastIndex(place, "+0x")], offset
	} else if i := strings.LastIndexByte(place, ':'); i > 0 {
		if line, err := strconv.ParseUint(place[i+1:], 10, 62); err == nil {
			module, number = place[:i], line
		}
	}
	var s callsite
	data := strings.ReplaceAll(module, "\x00", "")
	if function != "" {
		data += "(" + strings.ReplaceAll(function, "\x00", "") + ")"
	}
	s.defs[0] = efg.Def{Kind: efg.DefModule, Data: []byte(data + "\x00")}
	s.defs[0].Word = s.defs[0].Identity()
	s.defs[1] = efg.Def{Kind: efg.DefSite, Words: []uint64{s.defs[0].Word, number}}
	s.defs[1].Word = s.defs[1].Identity()
	s.word = s.defs[1].Word
	return s
}

// TypeSize is the size of a datatype in bytes.
func (p *Process) TypeSize(word uint64) (uint64, bool) {
	if c := signature.ConstantOf(word); c != nil {
		return uint64(c.Size), c.Group == "type"
	}
	size, ok := p.Names.sizes[word]
	return size, ok
}

// String returns the word of a string.
func (p *Process) String(s string) uint64 {
	d := efg.Def{Kind: efg.DefString, Data: []byte(s)}
	d.Word = d.Identity()
	p.defs.Add(d)
	return d.Word
}

// defKinds are the kinds of the definitions of handles.
var defKinds = map[signature.Kind]efg.DefKind{
	signature.Comm: efg.DefComm, signature.Win: efg.DefWin, signature.File: efg.DefFile,
	signature.Type: efg.DefType, signature.Group: efg.DefGroup, signature.Op: efg.DefOp,
}

// handle returns the word of a handle that a definition stands for, by its name: "comm:1040ec07.2". words are
// those of the definition if it is not known so far.
func (p *Process) handle(kind signature.Kind, name string, words ...uint64) (uint64, error) {
	prefix := reconstruct.HandlePrefix(kind)
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, fmt.Errorf("%.60q is not the name of a %s", name, kind)
	}
	base, number := name, uint64(0)
	if at := strings.LastIndexByte(digits, '.'); at >= 0 && kind.Object() {
		var err error
		if number, err = strconv.ParseUint(digits[at+1:], 10, signature.SequenceBits); err != nil {
			return 0, fmt.Errorf("%.60q: the number after the dot is none of %d bits", name, signature.SequenceBits)
		}
		base, digits = prefix+digits[:at], digits[:at]
	}
	d, ok := p.Names.defs[base]
	if !ok {
		if all, known := p.Names.digits[base]; known {
			digits = all
		}
		word, err := wordOf(kind, digits)
		if err != nil {
			return 0, fmt.Errorf("%.60q: %w", name, err)
		}
		d = efg.Def{Kind: defKinds[kind], Word: word, Words: words}
		if m := p.Names.comms[base]; m != nil {
			if err := p.defineComm(&d, digits, m); err != nil {
				return 0, err
			}
		}
		p.Names.defs[base] = d
	}
	p.defs.Add(d)
	return d.Word | number, nil
}

// HandlePrefix is what the names of handles of a kind begin with: "win:".
func HandlePrefix(kind signature.Kind) string { return reconstruct.HandlePrefix(kind) }

// HandleMadeWith returns the word of a window or file by its name. Unless it is known, it is defined by the communicator
// that it was made with and how: the kind of the window, or the word of the file's name.
func (p *Process) HandleMadeWith(kind signature.Kind, name string, comm, how uint64) (uint64, error) {
	return p.handle(kind, name, comm, how)
}

// GroupOf returns the word of a group by its members, ranks in the world.
func (p *Process) GroupOf(members []int) uint64 {
	d := efg.Def{Kind: efg.DefGroup, Words: ranges(members)}
	d.Word = d.Identity()
	p.defs.Add(d)
	return d.Word
}

// wordOf returns the word with some first digits.
func wordOf(kind signature.Kind, digits string) (uint64, error) {
	width := 16
	if kind.Object() {
		width = 10
	}
	if len(digits) == 0 || len(digits) > width {
		return 0, fmt.Errorf("want 1 to %d hexadecimal digits", width)
	}
	v, err := strconv.ParseUint(digits+strings.Repeat("0", width-len(digits)), 16, 64)
	if kind.Object() {
		v <<= signature.SequenceBits
	}
	if err != nil || !signature.IsPlain(v) {
		return 0, fmt.Errorf("want 1 to %d hexadecimal digits, the first of %s", width, map[bool]string{true: "38 bits", false: "62 bits"}[kind.Object()])
	}
	return v, nil
}

// defineComm completes the definition of a communicator by its members. Its word is the one that the
// recorder would have given it, if the name agrees.
func (p *Process) defineComm(d *efg.Def, digits string, m *Members) error {
	parent := signature.Absent
	if m.Parent != "" {
		var err error
		if parent, err = p.Handle(signature.Comm, m.Parent); err != nil {
			return err
		}
		if !signature.IsConst(parent) {
			parent = signature.Family(parent)
		}
	}
	kind := signature.ConstantByName(m.Kind)
	if kind == nil {
		kind = signature.ConstantByName("EFG_COMM_OTHER")
	}
	first, second := m.Local, m.Remote
	if len(second) > 0 && second[0] < first[0] {
		first, second = second, first
	}
	own := ranges(first)
	d.Words = append([]uint64{parent, kind.Word(), uint64(len(first)), uint64(len(own))}, own...)
	d.Words = append(d.Words, ranges(second)...)
	if family := FamilyOf(d.Words); strings.HasPrefix(fmt.Sprintf("%010x", family>>signature.SequenceBits), digits) {
		d.Word = family
	}
	return nil
}

// FamilyOf returns the word of the family of communicators with a definition.
func FamilyOf(words []uint64) uint64 {
	tagged := append(append([]uint64(nil), words...), 0)
	return signature.Hash(tagged...) & (1<<38 - 1) << signature.SequenceBits
}

// ranges writes ranks as the recorder does: first, count, stride of each range.
func ranges(ranks []int) (list []uint64) {
	for i := 0; i < len(ranks); {
		j, stride := i+1, 0
		if j < len(ranks) {
			stride = ranks[j] - ranks[i]
			for j < len(ranks) && ranks[j]-ranks[j-1] == stride {
				j++
			}
		}
		if j-i == 1 {
			stride = 0
		}
		list = append(list, uint64(ranks[i]), uint64(j-i), uint64(int64(stride)))
		i = j
	}
	return list
}

// Handle returns the word of a handle by its name in JSON Lines.
func (p *Process) Handle(kind signature.Kind, name string) (uint64, error) {
	if c := constantNamed(name); c != nil {
		return c.Word(), nil
	}
	return p.handle(kind, name)
}

// constantNamed finds a constant by its name; those of efg itself are shown without EFG_.
func constantNamed(name string) *signature.Constant {
	if c := signature.ConstantByName(name); c != nil {
		return c
	}
	return signature.ConstantByName("EFG_" + name)
}

// region returns the word of a buffer: "heap+0x2a0".
func (p *Process) region(text string) (uint64, error) {
	offset, ok := moduleOffset(text)
	if !ok || offset >= 1<<48 {
		return 0, fmt.Errorf("%.60q: want the name of a constant, or REGION+0xOFFSET", text)
	}
	name := text[:strings.LastIndex(text, "+0x")]
	number, ok := p.Names.regions[name]
	if !ok {
		number = uint64(len(p.Names.regions)) + 1
		if number >= 1<<14 {
			return 0, fmt.Errorf("more than %d regions", number)
		}
		p.Names.regions[name] = number
	}
	p.defs.Add(efg.Def{Kind: efg.DefRegion, Word: number, Words: []uint64{number}, Data: []byte(name)})
	return number<<48 | offset, nil
}

// DefineType says what the size of a datatype is.
func (n *Names) DefineType(name string, size int64) error {
	digits, ok := strings.CutPrefix(name, reconstruct.HandlePrefix(signature.Type))
	if !ok || size < 0 {
		return fmt.Errorf("%.60q of %d bytes is no datatype", name, size)
	}
	if all, known := n.digits[name]; known {
		digits = all
	}
	word, err := wordOf(signature.Type, digits)
	if err != nil {
		return fmt.Errorf("%.60q: %w", name, err)
	}
	n.defs[name] = efg.Def{Kind: efg.DefType, Word: word, Words: []uint64{signature.Absent, uint64(size), 0, 0, 0, 0}}
	n.sizes[word] = uint64(size)
	return nil
}
