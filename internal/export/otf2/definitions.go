package otf2

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export/otf2/names"
	"github.com/efg-tools/efg/signature"
)

// definitions are the global definitions of an archive. They are collected before events are
// written, but for strings and attributes of arguments.
type definitions struct {
	texts   []string
	strings map[string]uint32
	regions []region
	byName  map[region]uint32
	places  []sourceLine
	byPlace map[string]uint32 // source lines, by their text

	contexts  []callContext
	byContext map[callContext]uint32

	worlds []int         // first ranks of the processes' worlds, by number in the run
	ranks  map[int]int32 // ranks of the run: their numbers among the processes with MPI
	groups [][]int32     // members of communicators, by such numbers
	byKey  map[string]uint32
	comms  []comm
	byComm map[analysis.CommKey]uint32
	made   map[analysis.CommKey]bool // communicators that calls make

	windows   []window
	byWindow  map[analysis.CommKey]uint32
	files     []string // names
	byFile    map[string]uint32
	handlesOf []handle // of files
	byHandle  map[analysis.CommKey]uint32
	opened    bool // files are open when what is written begins

	metrics     metrics
	attributes  []attribute
	byAttribute map[attribute]uint32

	digits map[string]string // of handles, by their names
}

// region is an MPI procedure, one that the program names, or the program.
type region struct {
	name     string
	role     byte
	paradigm byte
}

// sourceLine is a callsite's place.
type sourceLine struct {
	file string
	line uint32
}

// attribute is something that events can have.
type attribute struct {
	name string
	kind byte
}

// window is the definition of a window.
type window struct {
	name string
	comm uint32
}

// handle is the definition of an open file.
type handle struct {
	name       string
	file, comm uint32
}

// comm is the definition of a communicator. Its members are those that are written. Of an
// intercommunicator they are those of both groups, one after the other: python3-otf2 3.0.2 cannot
// read OTF2's own definition, and analysers do not know it.
type comm struct {
	key    analysis.CommKey
	name   string
	group  uint32
	parent uint32
	// places are the ranks of the members among those that are written, -1 of others; nil if all
	// are. Of an intercommunicator second are those of the second group; otherwise nil.
	places, second []int32
	firstKey       uint64 // of the members of the first group
}

// The first groups of an archive.
const (
	locationsGroup = 0
	selfGroup      = 1
	firstGroup     = 2
)

// Attributes that are not arguments.
const (
	numberAttribute = iota
	placeAttribute
	functionAttribute
	languageAttribute
	largeAttribute
	byPMPIAttribute
	unusedAttribute
	durationAttribute
	unfinishedAttribute
	pathAttribute
)

func newDefinitions() *definitions {
	d := &definitions{
		strings: map[string]uint32{}, byName: map[region]uint32{}, byPlace: map[string]uint32{}, byContext: map[callContext]uint32{}, ranks: map[int]int32{},
		byKey: map[string]uint32{}, byComm: map[analysis.CommKey]uint32{}, made: map[analysis.CommKey]bool{}, byWindow: map[analysis.CommKey]uint32{}, byFile: map[string]uint32{}, byHandle: map[analysis.CommKey]uint32{}, byAttribute: map[attribute]uint32{}, digits: map[string]string{},
	}
	d.text("")
	for _, a := range []attribute{
		{names.Number, typeUint64}, {names.Place, typeSourceCodeLocation}, {names.Function, typeString},
		{names.Language, typeString}, {names.Large, typeUint8}, {names.ByPMPI, typeUint8}, {names.Unused, typeString}, {names.Duration, typeUint64},
		{names.Unfinished, typeUint8}, {names.CallPath, typeCallingContext},
	} {
		d.attribute(a.name, a.kind)
	}
	return d
}

// text returns the number of a string.
func (d *definitions) text(s string) uint32 {
	n, ok := d.strings[s]
	if !ok {
		n = uint32(len(d.texts))
		d.texts, d.strings[s] = append(d.texts, s), n
	}
	return n
}

// attribute returns the number of an attribute.
func (d *definitions) attribute(name string, kind byte) uint32 {
	key := attribute{name, kind}
	n, ok := d.byAttribute[key]
	if !ok {
		n = uint32(len(d.attributes))
		d.attributes, d.byAttribute[key] = append(d.attributes, key), n
		d.text(name)
	}
	return n
}

// region returns the number of a region.
func (d *definitions) region(r region) uint32 {
	n, ok := d.byName[r]
	if !ok {
		n = uint32(len(d.regions))
		d.regions, d.byName[r] = append(d.regions, r), n
	}
	return n
}

// procedure is the region of a procedure; p is nil if it is not in the table.
func procedure(p *signature.Proc, name string) region {
	if p != nil && p.Class == signature.Annotation {
		return region{name, roleCode, paradigmUser}
	}
	return region{name, roleOf(p), paradigmMPI}
}

// named is a region that the program names.
func named(name string) region {
	if name == "" {
		name = "region without name"
	}
	return region{name, roleCode, paradigmUser}
}

// place returns the number of a callsite's place, as "file:line" or another text.
func (d *definitions) place(text string) uint32 {
	n, ok := d.byPlace[text]
	if !ok {
		n = uint32(len(d.places))
		file, line := text, uint64(0)
		if i := strings.LastIndexByte(text, ':'); i > 0 {
			if v, err := strconv.ParseUint(text[i+1:], 10, 32); err == nil {
				file, line = text[:i], v
			}
		}
		d.places, d.byPlace[text] = append(d.places, sourceLine{file, uint32(line)}), n
		d.text(file)
	}
	return n
}

// keyOf is the key of a communicator of a process; false if its members are unknown.
// All processes have one MPI_COMM_SELF.
func keyOf(p *analysis.Process, word uint64) (key analysis.CommKey, own, other *analysis.Members, ok bool) {
	if word == signature.CommSelf {
		return analysis.CommKey{Name: word}, nil, nil, true
	}
	own, other = p.Members(word)
	if own == nil {
		return key, nil, nil, false
	}
	return p.CommKey(word), own, other, true
}

// addComm defines a communicator of a process, unless it is known.
func (d *definitions) addComm(p *analysis.Process, word uint64, name string) {
	key, own, other, ok := keyOf(p, word)
	if _, known := d.byComm[key]; !ok || known {
		return
	}
	c := comm{name: name, group: selfGroup, parent: undefined}
	switch {
	case own == nil:
	case other != nil:
		if other.At(0) >= 0 && (own.At(0) < 0 || other.At(0) < own.At(0)) {
			own, other = other, own
		}
		c.name += fmt.Sprintf(" between %d and %d", own.Size(), other.Size())
		c.firstKey = own.Key()
		var list []int32
		list, c.places = d.written(own, nil)
		list, c.second = d.written(other, list)
		c.group = d.group(list)
	default:
		var list []int32
		if list, c.places = d.written(own, nil); len(list) == len(c.places) {
			c.places = nil
		}
		c.group = d.group(list)
		if world, ok := d.byComm[analysis.CommKey{Name: signature.CommWorld, World: key.World}]; ok {
			c.parent = world
		}
	}
	c.key = key
	d.byComm[key] = uint32(len(d.comms))
	d.comms = append(d.comms, c)
}

// isMade reports whether calls make a communicator: there are events of that.
func (d *definitions) isMade(id uint32) bool { return d.made[d.comms[id].key] }

// written appends the members that are written to a list, and returns their places there.
func (d *definitions) written(m *analysis.Members, list []int32) (all, places []int32) {
	places = make([]int32, m.Size())
	for i := range places {
		places[i] = -1
		if n, ok := d.ranks[m.At(i)]; ok && m.At(i) >= 0 {
			places[i] = int32(len(list))
			list = append(list, n)
		}
	}
	return list, places
}

// groupOf returns the group of some members, undefined if there is none.
func (d *definitions) groupOf(list []int32) uint32 {
	if id, ok := d.byKey[groupKey(list)]; ok {
		return id
	}
	return undefined
}

func groupKey(list []int32) string {
	var key []byte
	for _, n := range list {
		key = u32(key, uint32(n))
	}
	return string(key)
}

// group returns the group of some members.
func (d *definitions) group(list []int32) uint32 {
	key := groupKey(list)
	id, ok := d.byKey[key]
	if !ok {
		id = firstGroup + uint32(len(d.groups))
		d.groups, d.byKey[key] = append(d.groups, list), id
	}
	return id
}

// location is a thread.
type location struct {
	name   string
	group  uint32
	events uint64
}

// process is a location group.
type process struct {
	name string
	host string
	// master is the first of its locations, in the group of those with MPI if ranked.
	master uint32
	ranked bool
}

// system is what runs: processes in the order of their ranks, and their threads.
type system struct {
	machine   string
	processes []process
	locations []location
}

// clock are the properties of the clock, in ns.
type clock struct {
	first, length uint64
	realtime      uint64 // Unix time of first
}

// definitionWriter writes definitions.
type definitionWriter struct {
	*definitions
	out *chunks
	b   []byte
}

func (w *definitionWriter) add(kind byte, body func(b []byte) []byte) {
	w.b = record(w.b[:0], kind, body)
	w.out.definition(w.b)
}

// write writes all definitions: each after those that it refers to.
func (w *definitionWriter) write(s *system, c clock) {
	w.nameAll(s)
	w.add(defClockProperties, func(b []byte) []byte {
		return u64(u64(u64(u64(b, 1e9), c.first), c.length), c.realtime)
	})
	for i, t := range w.texts {
		w.add(defString, func(b []byte) []byte { return text(u32(b, uint32(i)), t) })
	}
	w.add(defParadigm, func(b []byte) []byte { return append(u32(append(b, paradigmMPI), w.text("MPI")), 0) })
	for i, a := range w.attributes {
		w.add(defAttribute, func(b []byte) []byte {
			return u32(append(u32(u32(b, uint32(i)), w.text(a.name)), a.kind), w.text(""))
		})
	}
	w.tree(s)
	for i, r := range w.regions {
		w.add(defRegion, func(b []byte) []byte {
			b = append(u32(u32(u32(b, uint32(i)), w.text(r.name)), w.text("")), r.type1())
			b = u32(u32(u32(u32(b, w.text(r.source())), 0), 0), w.text(r.name))
			return u32(append(b, r.role, r.paradigm), 0)
		})
	}
	for i, p := range w.places {
		w.add(defSourceCodeLocation, func(b []byte) []byte { return u32(u32(u32(b, uint32(i)), w.text(p.file)), p.line) })
	}
	for i, c := range w.contexts {
		w.add(defCallingContext, func(b []byte) []byte { return u32(u32(u32(u32(b, uint32(i)), c.region), c.place), c.parent) })
	}
	w.metrics.write(w)
	w.communicators(s)
	w.windowsAndFiles()
}

// windowsAndFiles writes windows, files and what these are opened as.
func (w *definitionWriter) windowsAndFiles() {
	const createAndDestroy, parallel, everywhere = 1, 1, 0
	for i, x := range w.windows {
		w.add(defRmaWin, func(b []byte) []byte {
			return u32(u32(u32(u32(b, uint32(i)), w.text(x.name)), x.comm), createAndDestroy)
		})
	}
	if len(w.files) > 0 {
		w.add(defIoParadigm, func(b []byte) []byte {
			return append(u32(append(u32(u32(append(b, mpiIO), w.text("MPI-IO")), w.text("MPI-IO")), parallel), 0), 0)
		})
	}
	for i, name := range w.files {
		w.add(defIoRegularFile, func(b []byte) []byte { return u32(u32(u32(b, uint32(i)), w.text(name)), everywhere) })
	}
	for i, x := range w.handlesOf {
		flags := uint32(0)
		if w.opened {
			flags = 1
		}
		w.add(defIoHandle, func(b []byte) []byte {
			b = append(u32(u32(u32(b, uint32(i)), w.text(x.name)), x.file), mpiIO)
			return u32(u32(u32(b, flags), x.comm), undefined)
		})
		if w.opened {
			w.add(defIoPreCreatedState, func(b []byte) []byte { return u32(append(u32(b, uint32(i)), accessReadWrite), 0) })
		}
	}
}

// source is the source file of a region: analysers know MPI by it.
func (r *region) source() string {
	if r.paradigm == paradigmMPI {
		return "MPI"
	}
	return ""
}

// type1 is the type that the region has in OTF2 1.0.
func (r *region) type1() byte {
	const barrier = 22
	switch {
	case r.paradigm != paradigmMPI:
		return 0
	case r.role == roleBarrier:
		return barrier
	case r.role >= roleOneToAll && r.role <= roleOther:
		return r.role
	}
	return 0
}

// nameAll makes sure that all names are strings before these are written.
func (w *definitionWriter) nameAll(s *system) {
	for _, t := range []string{"MPI", s.machine, "machine", "node"} {
		w.text(t)
	}
	for i := range s.processes {
		w.text(s.processes[i].name)
		w.text(s.processes[i].host)
	}
	for i := range s.locations {
		w.text(s.locations[i].name)
	}
	for i := range w.regions {
		w.text(w.regions[i].name)
	}
	for i := range w.comms {
		w.text(w.comms[i].name)
	}
	for i := range w.windows {
		w.text(w.windows[i].name)
	}
	for i := range w.handlesOf {
		w.text(w.handlesOf[i].name)
	}
	if len(w.files) > 0 {
		w.text("MPI-IO")
	}
}

// tree writes machine, hosts, processes and threads.
func (w *definitionWriter) tree(s *system) {
	const machine, sharedMemory = 0, 1
	node := func(id uint32, name, class string, parent uint32, domain byte) {
		w.add(defSystemTreeNode, func(b []byte) []byte {
			return u32(u32(u32(u32(b, id), w.text(name)), w.text(class)), parent)
		})
		w.add(defSystemTreeDomain, func(b []byte) []byte { return append(u32(b, id), domain) })
	}
	node(0, s.machine, "machine", undefined, machine)
	hosts := map[string]uint32{}
	for i := range s.processes {
		host := s.processes[i].host
		if _, ok := hosts[host]; !ok {
			hosts[host] = uint32(len(hosts)) + 1
			node(hosts[host], host, "node", 0, sharedMemory)
		}
	}
	for i := range s.processes {
		p := &s.processes[i]
		w.add(defLocationGroup, func(b []byte) []byte {
			const isProcess = 1
			return u32(u32(append(u32(u32(b, uint32(i)), w.text(p.name)), isProcess), hosts[p.host]), undefined)
		})
	}
	for i := range s.locations {
		l := &s.locations[i]
		w.add(defLocation, func(b []byte) []byte {
			const thread = 1
			return u32(u64(append(u32(u64(b, uint64(i)), w.text(l.name)), thread), l.events), l.group)
		})
	}
}

// communicators writes the groups and what they are the members of.
func (w *definitionWriter) communicators(s *system) {
	var masters []uint64
	for i := range s.processes {
		if s.processes[i].ranked {
			masters = append(masters, uint64(s.processes[i].master))
		}
	}
	w.group(locationsGroup, groupCommLocations, masters)
	w.group(selfGroup, groupCommSelf, nil)
	for i, list := range w.groups {
		members := make([]uint64, len(list))
		for k, n := range list {
			members[k] = uint64(n)
		}
		w.group(firstGroup+uint32(i), groupCommGroup, members)
	}
	for i := range w.comms {
		c := &w.comms[i]
		w.add(defComm, func(b []byte) []byte {
			flags := uint32(0)
			if w.isMade(uint32(i)) {
				const createAndDestroy = 1
				flags = createAndDestroy
			}
			return u32(u32(u32(u32(u32(b, uint32(i)), w.text(c.name)), c.group), c.parent), flags)
		})
	}
}

func (w *definitionWriter) group(id uint32, kind byte, members []uint64) {
	w.add(defGroup, func(b []byte) []byte {
		b = append(u32(u32(b, id), w.text("")), groupTypes1[kind])
		b = u32(b, uint32(len(members)))
		for _, m := range members {
			b = u64(b, m)
		}
		return u32(append(b, kind, paradigmMPI), 0)
	})
}

// groupTypes1 are the types of groups in OTF2 1.0.
var groupTypes1 = map[byte]byte{groupCommLocations: 6, groupCommGroup: 4, groupCommSelf: 5}

// programName is the name of the program's region.
func programName(command []string) string {
	if len(command) == 0 || command[0] == "" {
		return "program"
	}
	return filepath.Base(command[0])
}

// hostsOf are the hosts of processes, sorted, as the name of a machine.
func hostsOf(list []process) string {
	var hosts []string
	for i := range list {
		hosts = append(hosts, list[i].host)
	}
	slices.Sort(hosts)
	if hosts = slices.Compact(hosts); len(hosts) == 1 {
		return hosts[0]
	}
	return strconv.Itoa(len(hosts)) + " hosts"
}
