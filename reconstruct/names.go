package reconstruct

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/signature"
)

// Names maps the identity words of a process to text. It is safe for concurrent use.
type Names struct {
	strings map[uint64]string       // content of strings
	handles map[uint64]string       // "type:…", "group:…", "op:…", families "comm:…"
	sites   map[uint64]runfile.Site // callsites with source locations
	places  map[uint64]string       // other callsites: module and offset
	parents map[uint64]uint64       // of the call paths among these
	sizes   map[uint64]uint64       // bytes of datatypes
	regions map[uint64]string
	// byPath: the run tells callsites apart by call paths; folded are those that it shortens.
	byPath bool
	folded map[uint64]uint64
}

// NewNames prepares the names of all definitions of a process. sites are the source locations
// of callsites.
func NewNames(defs []efg.Def, sites []runfile.Site) *Names {
	return newNames(defs, siteTable(sites))
}

// NamesOf prepares the names of a process as the run shows it that it is read from: call paths are as long as
// those that tell its callsites apart, and whole if none do.
func NamesOf(p *efg.Process, sites []runfile.Site) *Names {
	return namesOf(p, siteTable(sites))
}

func namesOf(p *efg.Process, sites map[uint64]runfile.Site) *Names {
	n := newNames(p.Defs, sites)
	if n.byPath = p.SiteDepth > 0; n.byPath {
		var made []efg.Def
		n.folded, made = efg.FoldPaths(p.Defs, p.SiteDepth)
		modules := moduleNames(p.Defs)
		for i := range made {
			n.add(&made[i], modules)
		}
	}
	return n
}

func siteTable(sites []runfile.Site) map[uint64]runfile.Site {
	t := make(map[uint64]runfile.Site, len(sites))
	for _, s := range sites {
		t[s.Word] = s
	}
	return t
}

func newNames(defs []efg.Def, sites map[uint64]runfile.Site) *Names {
	n := &Names{
		strings: map[uint64]string{}, handles: map[uint64]string{}, places: map[uint64]string{}, parents: map[uint64]uint64{},
		sites: sites, sizes: map[uint64]uint64{}, regions: map[uint64]string{},
	}
	modules := moduleNames(defs)
	for i := range defs {
		n.add(&defs[i], modules)
	}
	n.nameHandles(defs)
	return n
}

func moduleNames(defs []efg.Def) map[uint64]string {
	modules := map[uint64]string{}
	for i := range defs {
		if d := &defs[i]; d.Kind == efg.DefModule {
			modules[d.Word] = moduleName(d.Data)
		}
	}
	return modules
}

func (n *Names) add(d *efg.Def, modules map[uint64]string) {
	switch d.Kind {
	case efg.DefString:
		n.strings[d.Word] = string(d.Data)
	case efg.DefType:
		if len(d.Words) > 1 {
			n.sizes[d.Word] = d.Words[1]
		}
	case efg.DefRegion:
		if len(d.Words) > 0 {
			n.regions[d.Words[0]] = printable.Line(string(d.Data))
		}
	case efg.DefSite:
		if _, ok := n.sites[d.Word]; !ok && len(d.Words) > 1 {
			n.places[d.Word] = fmt.Sprintf("%s+%#x", modules[d.Words[0]], d.Words[1])
			if len(d.Words) > 2 {
				n.parents[d.Word] = d.Words[2]
				n.places[d.Callsite()] = n.places[d.Word]
			}
		}
	}
}

// moduleName is the file name in a module definition's data, in a form suitable for text.
func moduleName(data []byte) string {
	start, end := 0, len(data)
	for i, c := range data {
		if c == 0 {
			end = i
			break
		}
		if c == '/' {
			start = i + 1
		}
	}
	return printable.Line(string(data[start:end]))
}

// Prefixes of the texts of user handles.
var handlePrefix = map[signature.Kind]string{
	signature.Comm: "comm:", signature.Win: "win:", signature.File: "file:",
	signature.Type: "type:", signature.Group: "group:", signature.Op: "op:",
	signature.Req: "req:", signature.Msg: "msg:", signature.Info: "info:",
	signature.Errh: "errhandler:", signature.Keyval: "keyval:", signature.Sess: "session:",
}

// HandlePrefix is what the texts of handles of a kind begin with, "" if it has none.
func HandlePrefix(kind signature.Kind) string { return handlePrefix[kind] }

var defPrefix = map[efg.DefKind]string{
	efg.DefComm: "comm:", efg.DefWin: "win:", efg.DefFile: "file:",
	efg.DefType: "type:", efg.DefGroup: "group:", efg.DefOp: "op:",
}

// shortDigits is the minimum number of hex digits of a handle's text; more are used if handles
// of the process share them.
const shortDigits = 8

// nameHandles gives every defined handle the shortest unique prefix of its digits as text.
func (n *Names) nameHandles(defs []efg.Def) {
	seen := map[string]int{}
	for _, pass := range []func(word uint64, short, full string){
		func(_ uint64, short, _ string) { seen[short]++ },
		func(word uint64, short, full string) {
			if seen[short] > 1 {
				short = full
			}
			n.handles[word] = short
		},
	} {
		done := map[uint64]bool{}
		for _, d := range defs {
			prefix, ok := defPrefix[d.Kind]
			if !ok || done[d.Word] {
				continue
			}
			done[d.Word] = true
			digits := handleDigits(d.Kind <= efg.DefOp, d.Word)
			pass(d.Word, prefix+digits[:shortDigits], prefix+digits)
		}
	}
}

// handleDigits are all hex digits of an identity: of a content hash, or of the family in a word
// with a sequence number.
func handleDigits(hash bool, word uint64) string {
	if hash {
		return fmt.Sprintf("%016x", word)
	}
	return fmt.Sprintf("%010x", word>>24)
}

// Place returns the source location of a callsite word.
func (n *Names) Place(site uint64) string {
	if s, ok := n.sites[site]; ok {
		return s.Place
	}
	if s, ok := n.places[site]; ok {
		return s
	}
	return "unknown"
}

// Func returns the function that contains a callsite, "" if unknown.
func (n *Names) Func(site uint64) string { return n.sites[site].Func }

// Texts of the ends of call paths in Path, before their outermost calls.
const (
	PathUnknown = "unknown" // the rest is unknown
	PathCut     = "..."     // the rest was not recorded, because the path is longer than that
)

// maxPath bounds the length of paths: definitions may come from someone else, and form a ring.
const maxPath = 1 << 10

// Path returns the call path of a callsite word, the outermost call first, as "function file:line",
// "file:line" or "module+offset". The first element is PathUnknown or PathCut if the path does not begin
// where the program or the thread began. It is nil if the callsite has no path.
func (n *Names) Path(site uint64) []string {
	calls, start := n.PathCalls(site)
	if calls == nil {
		return nil
	}
	var path []string
	if start != "" {
		path = append(path, start)
	}
	for _, c := range calls {
		path = append(path, n.Call(c))
	}
	return path
}

// PathCalls returns the callsite words of the calls of a path, the outermost first, for Place and Func, and the text
// with which Path begins before them: PathUnknown, PathCut or "". There are none if the callsite has no path.
func (n *Names) PathCalls(site uint64) (calls []uint64, start string) {
	if short, ok := n.folded[site]; ok {
		site = short
	}
	parent, ok := n.parent(site)
	if !ok || parent == 0 {
		return nil, ""
	}
	calls = []uint64{site}
	for len(calls) < maxPath && signature.IsPlain(parent) && parent != 0 {
		calls = append(calls, parent)
		if parent, ok = n.parent(parent); !ok {
			parent = signature.Unknown
		}
	}
	slices.Reverse(calls)
	switch parent {
	case signature.Absent:
		return calls, ""
	case signature.Unknown:
		return calls, PathUnknown
	}
	return calls, PathCut
}

// parent is the word of the rest of a call path, 0 if that was not recorded. ok is false if the word is not known.
func (n *Names) parent(site uint64) (parent uint64, ok bool) {
	if s, ok := n.sites[site]; ok {
		return s.Parent, true
	}
	_, ok = n.places[site]
	return n.parents[site], ok
}

// Site returns the text of a callsite word: that of Call, and of a call path also those of the calls that
// led there, the outermost last: "exchange halo.c:88 ← main main.c:12".
func (n *Names) Site(word uint64) string {
	path := n.Path(word)
	if path == nil {
		return n.Call(word)
	}
	slices.Reverse(path)
	return strings.Join(path, PathArrow)
}

// Callsite returns what tells a callsite apart from others in the tables of its run: the text of Call, or of
// Site if these are by call paths.
func (n *Names) Callsite(word uint64) string {
	if n.byPath {
		return n.Site(word)
	}
	return n.Call(word)
}

// PathArrow is what separates calls in the text of a call path.
const PathArrow = " ← "

// Call returns the function and the source location of a callsite word: "exchange halo.c:88".
func (n *Names) Call(site uint64) string {
	if f := n.Func(site); f != "" {
		return f + " " + n.Place(site)
	}
	return n.Place(site)
}

// SplitCall splits the text of a call, "exchange in main halo.c:88", into the functions, the outermost
// first, and the place of the call.
func SplitCall(call string) (functions []string, place string) {
	i := strings.LastIndexByte(call, ' ')
	if i < 0 {
		return nil, call
	}
	functions = strings.Split(call[:i], " in ")
	slices.Reverse(functions)
	return functions, call[i+1:]
}

// TypeSize returns the size in bytes of a datatype.
func (n *Names) TypeSize(word uint64) (size uint64, ok bool) {
	if k, isConst := signature.ConstNumber(word); isConst {
		c := signature.ConstantByID(k)
		if c == nil || c.Group != "type" || c.Size == 0 {
			return 0, false
		}
		return uint64(c.Size), true
	}
	size, ok = n.sizes[word]
	return size, ok
}

// Handle returns the text of a handle's word: a constant's name, or its form in JSON Lines.
func (n *Names) Handle(kind signature.Kind, w uint64) string {
	if k, ok := signature.ConstNumber(w); ok {
		return constantName(k)
	}
	return string(n.appendHandle(nil, kind, w, 0))
}

// appendHandle appends the text of a handle that is not a constant, as seen by a thread.
func (n *Names) appendHandle(b []byte, kind signature.Kind, w uint64, thread uint32) []byte {
	if id, ok := signature.ParseID(w); ok {
		return appendID(b, kind, id, thread)
	}
	if !kind.Object() {
		if s, ok := n.handles[w]; ok {
			return append(b, s...)
		}
		return append(append(b, handlePrefix[kind]...), handleDigits(true, w)...)
	}
	if s, ok := n.handles[w&^signature.SequenceMask]; ok {
		b = append(b, s...)
	} else {
		b = append(append(b, handlePrefix[kind]...), handleDigits(false, w)...)
	}
	if seq := w & signature.SequenceMask; seq > 0 {
		b = strconv.AppendUint(append(b, '.'), seq, 10)
	}
	return b
}

// appendID appends "req:NODE.SLOT", preceded by the thread if it is another one.
func appendID(b []byte, kind signature.Kind, id signature.ID, thread uint32) []byte {
	b = append(b, handlePrefix[kind]...)
	if id.Thread != thread {
		b = append(strconv.AppendUint(b, uint64(id.Thread), 10), ':')
	}
	b = append(strconv.AppendUint(b, uint64(id.Node), 10), '.')
	return strconv.AppendUint(b, uint64(id.Slot), 10)
}
