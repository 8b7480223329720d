package otf2

// Definitions are the global definitions of an archive. Those that efg does not use are skipped.
type Definitions struct {
	Clock           Clock
	Strings         map[uint64]string
	Attributes      map[uint64]Attribute
	SystemTree      map[uint64]SystemTreeNode
	Processes       []LocationGroup // in the order of the file
	Locations       []Location      // likewise
	Regions         map[uint64]Region
	Groups          []Group // in the order of the file
	Comms           []Comm  // in the order of the file
	Windows         map[uint64]Window
	Paradigms       map[uint64]string // of files: their identification
	Files           map[uint64]string // names
	Handles         map[uint64]Handle
	SourceLines     map[uint64]SourceLine
	CallingContexts map[uint64]CallingContext
	Properties      []Property // of location groups
}

// Clock are the properties of the clock of an archive.
type Clock struct {
	Resolution    uint64 // ticks a second
	First, Length uint64 // ticks
	Realtime      uint64 // Unix ns of First; Undefined if it is not known
}

// Attribute is something that events can have.
type Attribute struct {
	Name string
	Type byte
}

// SystemTreeNode is a machine, a host or a part of one.
type SystemTreeNode struct {
	Name, Class string
	Parent      uint64
}

// LocationGroup is a process.
type LocationGroup struct {
	ID     uint64
	Name   string
	Type   byte
	Parent uint64 // in the system tree
}

// Location is a thread.
type Location struct {
	ID     uint64
	Name   string
	Type   byte
	Events uint64
	Group  uint64
}

// Types of location groups and locations.
const (
	ProcessGroup = 1
	CPUThread    = 1
)

// Region is a function, or what else events enter and leave.
type Region struct {
	Name, Canonical string
	Role, Paradigm  byte
	Source          string
	Begin           uint64 // line
}

// Paradigms of regions and groups.
const (
	ParadigmUnknown     = 0
	ParadigmMPI         = 4
	ParadigmMeasurement = 6
)

// Group is a list of locations, or of members of a communicator.
type Group struct {
	ID             uint64
	Name           string
	Type, Paradigm byte
	Members        []uint64
	Global         bool // members are locations, not indexes into the group of all
}

// Types of groups.
const (
	CommLocations = 4
	CommGroup     = 5
	CommSelf      = 6
)

// Comm is a communicator. Other is the remote group of an intercommunicator, otherwise Undefined.
type Comm struct {
	ID     uint64
	Name   string
	Group  uint64
	Other  uint64
	Parent uint64
}

// Window is a window of one-sided accesses.
type Window struct {
	Name string
	Comm uint64
}

// Handle is a file that is opened.
type Handle struct {
	Name     string
	File     uint64
	Paradigm uint64
	Comm     uint64 // Undefined if there is none
}

// SourceLine is a place in the source.
type SourceLine struct {
	File string
	Line uint64
}

// CallingContext is a node of the tree of calls.
type CallingContext struct{ Region, Source, Parent uint64 }

// Property is a property of a location group.
type Property struct {
	Group       uint64
	Name, Value string
}

// Records of global definitions.
const (
	defClockProperties       = 5
	defIoParadigm            = 8
	defString                = 10
	defAttribute             = 11
	defSystemTreeNode        = 12
	defLocationGroup         = 13
	defLocation              = 14
	defRegion                = 15
	defGroup                 = 18
	defComm                  = 22
	defRmaWin                = 24
	defLocationGroupProperty = 28
	defSourceCodeLocation    = 33
	defCallingContext        = 34
	defIoRegularFile         = 38
	defIoHandle              = 40
	defInterComm             = 43
)

func newDefinitions() *Definitions {
	return &Definitions{
		Strings: map[uint64]string{}, Attributes: map[uint64]Attribute{}, SystemTree: map[uint64]SystemTreeNode{},
		Regions: map[uint64]Region{}, SourceLines: map[uint64]SourceLine{},
		CallingContexts: map[uint64]CallingContext{},
		Windows:         map[uint64]Window{}, Paradigms: map[uint64]string{}, Files: map[uint64]string{}, Handles: map[uint64]Handle{},
	}
}

// read reads all definitions.
func (d *Definitions) read(c *chunks) error {
	for {
		kind, ok := c.more()
		if !ok {
			break
		}
		r := c.record(c.length())
		if r.err == nil {
			d.take(kind, &r)
		}
		if r.err != nil {
			return r.err
		}
	}
	if c.err == nil && d.Clock.Resolution == 0 {
		c.base, c.at = -1, 0
		c.failf("no properties of the clock")
	}
	return c.err
}

// name reads a reference to a string.
func (d *Definitions) name(r *cursor) string {
	ref := r.u32()
	if ref == Undefined {
		return ""
	}
	s, ok := d.Strings[ref]
	if !ok && r.err == nil {
		r.failf("string %d is not defined", ref)
	}
	return s
}

// take reads a definition.
func (d *Definitions) take(kind byte, r *cursor) {
	switch kind {
	case defClockProperties:
		d.Clock = Clock{r.u64(), r.u64(), r.u64(), Undefined}
		if r.left() > 0 {
			d.Clock.Realtime = r.u64()
		}
		if r.err == nil && d.Clock.Resolution == 0 {
			r.failf("a clock without ticks")
		}
	case defString:
		id := r.u32()
		d.Strings[id] = r.text()
	case defAttribute:
		id := r.u32()
		name := d.name(r)
		d.Attributes[id] = Attribute{name, r.byte()}
	case defSystemTreeNode:
		id := r.u32()
		d.SystemTree[id] = SystemTreeNode{d.name(r), d.name(r), r.u32()}
	case defLocationGroup:
		d.Processes = append(d.Processes, LocationGroup{r.u32(), d.name(r), r.byte(), r.u32()})
	case defLocation:
		d.Locations = append(d.Locations, Location{r.u64(), d.name(r), r.byte(), r.u64(), r.u32()})
	case defRegion:
		d.region(r)
	case defGroup:
		d.group(r)
	case defComm:
		d.Comms = append(d.Comms, Comm{r.u32(), d.name(r), r.u32(), Undefined, r.u32()})
	case defInterComm:
		d.Comms = append(d.Comms, Comm{r.u32(), d.name(r), r.u32(), r.u32(), r.u32()})
	case defLocationGroupProperty:
		d.property(r)
	case defSourceCodeLocation:
		id := r.u32()
		d.SourceLines[id] = SourceLine{d.name(r), r.u32()}
	case defCallingContext:
		id := r.u32()
		d.CallingContexts[id] = CallingContext{r.u32(), r.u32(), r.u32()}
	default:
		d.takeHandle(kind, r)
	}
}

// takeHandle reads the definition of a window, a file, or of what these belong to.
func (d *Definitions) takeHandle(kind byte, r *cursor) {
	switch kind {
	case defRmaWin:
		id := r.u32()
		d.Windows[id] = Window{d.name(r), r.u32()}
	case defIoParadigm:
		id := uint64(r.byte())
		d.Paradigms[id] = d.name(r)
	case defIoRegularFile:
		id := r.u32()
		d.Files[id] = d.name(r)
	case defIoHandle:
		id := r.u32()
		h := Handle{Name: d.name(r), File: r.u32(), Paradigm: uint64(r.byte())}
		r.u32() // flags
		h.Comm = r.u32()
		d.Handles[id] = h
	}
}

func (d *Definitions) region(r *cursor) {
	id := r.u32()
	x := Region{Name: d.name(r)}
	d.name(r) // description
	r.byte()  // type of OTF2 1.0
	x.Source, x.Begin = d.name(r), r.u32()
	r.u32() // last line
	if r.left() > 0 {
		x.Canonical, x.Role, x.Paradigm = d.name(r), r.byte(), r.byte()
	}
	d.Regions[id] = x
}

func (d *Definitions) group(r *cursor) {
	g := Group{ID: r.u32(), Name: d.name(r)}
	old, n := r.byte(), r.u32()
	if n > uint64(r.left()) { // a member has at least a byte
		r.failf("%d members in %d bytes", n, r.left())
		return
	}
	g.Members = make([]uint64, n)
	for i := range g.Members {
		g.Members[i] = r.u64()
	}
	if r.left() > 0 {
		g.Type, g.Paradigm = r.byte(), r.byte()
		const globalMembers = 1
		g.Global = r.u32()&globalMembers != 0
	} else {
		g.Type, g.Paradigm = groupTypes1[old], ParadigmMPI
	}
	d.Groups = append(d.Groups, g)
}

// groupTypes1 are the types of groups with those of OTF2 1.0.
var groupTypes1 = map[byte]byte{4: CommGroup, 5: CommSelf, 6: CommLocations}

func (d *Definitions) property(r *cursor) {
	p := Property{Group: r.u32(), Name: d.name(r)}
	if kind := r.byte(); kind != TypeString {
		return
	}
	p.Value = d.name(r)
	d.Properties = append(d.Properties, p)
}
