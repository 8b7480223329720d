package otf2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// decoded is an archive, as far as the validator looks at it.
type decoded struct {
	strings   map[uint64]string
	clock     []uint64 // resolution, first time, length, real time
	regions   map[uint64]decodedRegion
	groups    []decodedGroup
	processes []decodedProcess
	locations []decodedLocation
	comms     map[uint64]decodedComm
}

type decodedRegion struct {
	name, source string
	paradigm     byte
}

type decodedGroup struct {
	id, kind uint64
	members  []uint64
}

type decodedProcess struct {
	name string
	kind byte
}

type decodedLocation struct {
	name          string
	kind          byte
	events, group uint64
	list          []decodedEvent
}

type decodedComm struct{ group, parent uint64 }

// decodedEvent has the numbers of a record, in order; op is the byte with which the end of a
// collective begins.
type decodedEvent struct {
	time   uint64
	kind   byte
	op     byte
	fields []uint64
}

// cursor reads what records.go writes.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.err = errors.New("the file ends early")
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) number() (v uint64) {
	n := c.byte()
	if n == 0xff {
		return undefined64
	}
	for i := range n {
		v |= uint64(c.byte()) << (8 * i)
	}
	return v
}

func (c *cursor) numbers(n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = c.number()
	}
	return list
}

func (c *cursor) cut(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.err = fmt.Errorf("%d bytes of %d", n, len(c.b))
		n = uint64(len(c.b))
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) length() uint64 {
	if n := c.byte(); n < 0xff {
		return uint64(n)
	}
	return binary.LittleEndian.Uint64(append(slices.Clone(c.cut(8)), make([]byte, 8)...))
}

// eachChunk calls f after the header of each chunk with what is left of it, until a chunk ends.
func eachChunk(file []byte, size int, f func(c *cursor)) error {
	for len(file) > 0 {
		chunk := file[:min(size, len(file))]
		file = file[len(chunk):]
		if len(chunk) < headerSize || chunk[0] != chunkHeader || chunk[1] != littleEndian {
			return errors.New("no header of a chunk")
		}
		c := &cursor{b: chunk[headerSize:]}
		for len(c.b) > 0 && c.b[0] > endOfFile && c.err == nil {
			f(c)
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// decode reads an archive.
func decode(anchor string) (*decoded, error) {
	dir := filepath.Dir(anchor)
	file, err := os.ReadFile(filepath.Join(dir, Name+".def"))
	if err != nil {
		return nil, err
	}
	d := &decoded{strings: map[uint64]string{}, regions: map[uint64]decodedRegion{}, comms: map[uint64]decodedComm{}}
	if err := eachChunk(file, definitionChunk, d.definition); err != nil {
		return nil, err
	}
	for i := range d.locations {
		file, err := os.ReadFile(filepath.Join(dir, Name, strconv.Itoa(i)+".evt"))
		if err != nil {
			return nil, err
		}
		var time uint64
		if err := eachChunk(file, eventChunk, func(c *cursor) { d.locations[i].event(c, &time) }); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *decoded) definition(c *cursor) {
	kind := c.byte()
	r := &cursor{b: c.cut(c.length())}
	switch kind {
	case defClockProperties:
		d.clock = r.numbers(4)
	case defString:
		id := r.number()
		d.strings[id] = strings.TrimSuffix(string(r.b), "\x00")
	case defLocationGroup:
		r.number()
		name := d.strings[r.number()]
		d.processes = append(d.processes, decodedProcess{name, r.byte()})
	case defLocation:
		r.number()
		name := d.strings[r.number()]
		l := decodedLocation{name: name, kind: r.byte()}
		l.events, l.group = r.number(), r.number()
		d.locations = append(d.locations, l)
	case defRegion:
		id, name := r.number(), d.strings[r.number()]
		r.number()
		r.byte()
		source := d.strings[r.number()]
		r.numbers(3)
		r.byte()
		d.regions[id] = decodedRegion{name, source, r.byte()}
	case defGroup:
		id := r.number()
		r.number()
		r.byte()
		members := r.numbers(int(r.number()))
		d.groups = append(d.groups, decodedGroup{id, uint64(r.byte()), members})
	case defComm:
		f := r.numbers(4)
		d.comms[f[0]] = decodedComm{f[2], f[3]}
	}
	if r.err != nil {
		c.err = r.err
	}
}

func (l *decodedLocation) event(c *cursor, time *uint64) {
	kind := c.byte()
	switch kind {
	case timestampMark:
		*time = binary.LittleEndian.Uint64(append(slices.Clone(c.cut(8)), make([]byte, 8)...))
		return
	case attributeMark:
		c.cut(c.length())
		return
	}
	e := decodedEvent{time: *time, kind: kind}
	switch kind {
	case eventEnter, eventLeave, eventMpiIsendComplete, eventMpiIrecvRequest, eventMpiRequestTest, eventMpiRequestCancelled:
		e.fields = c.numbers(1)
	default:
		r := &cursor{b: c.cut(c.length())}
		if kind == eventMpiCollectiveEnd || kind == eventNonBlockingCollectiveComplete {
			e.op = r.byte()
		}
		for len(r.b) > 0 {
			e.fields = append(e.fields, r.number())
		}
	}
	l.list = append(l.list, e)
}

// validate checks what analysers demand of an archive, beyond what OTF2's library checks. complete
// is whether all ranks of a run that ended well are in it.
func (d *decoded) validate(complete bool) error {
	return errors.Join(d.validateDefinitions(), d.validateEvents(complete), d.validateMessages(), d.validateCollectives())
}

func (d *decoded) validateDefinitions() (err error) {
	wrong := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	for _, r := range d.regions {
		if mpi := strings.HasPrefix(r.name, "MPI_"); mpi != (r.source == "MPI") || mpi != (r.paradigm == paradigmMPI) {
			wrong("region %s of %q, paradigm %d", r.name, r.source, r.paradigm)
		}
	}
	last := -1
	for _, p := range d.processes {
		rank, e := strconv.Atoi(strings.TrimPrefix(p.name, "MPI Rank "))
		if e != nil || rank <= last || p.kind != 1 {
			wrong("process %q of type %d after rank %d", p.name, p.kind, last)
		}
		last = rank
	}
	for _, l := range d.locations {
		if l.name == "" || l.kind != 1 || l.name == d.processes[l.group].name || l.events != uint64(len(l.list)) {
			wrong("location %q of type %d with %d events, not %d", l.name, l.kind, len(l.list), l.events)
		}
	}
	for i, g := range d.groups {
		if (i == 0) != (g.kind == groupCommLocations) {
			wrong("group %d of type %d", g.id, g.kind)
		}
		for _, m := range g.members {
			if i > 0 && m >= uint64(len(d.groups[0].members)) {
				wrong("group %d has the member %d", g.id, m)
			}
		}
	}
	used := map[uint64]bool{}
	for _, l := range d.locations {
		for _, e := range l.list {
			if comm, ok := e.comm(); ok {
				used[comm] = true
			}
		}
	}
	for id, c := range d.comms {
		if c.parent != undefined64 && c.parent >= id {
			wrong("communicator %d is a child of %d", id, c.parent)
		}
		delete(used, id)
	}
	if len(used) > 0 {
		wrong("communicators without definition: %v", slices.Sorted(maps.Keys(used)))
	}
	return err
}

// comm is the communicator of an event.
func (e *decodedEvent) comm() (uint64, bool) {
	switch e.kind {
	case eventMpiSend, eventMpiIsend, eventMpiRecv, eventMpiIrecv:
		return e.fields[1], true
	case eventMpiCollectiveEnd, eventNonBlockingCollectiveComplete:
		return e.fields[0], true
	}
	return 0, false
}

// validateEvents checks the order of the events of each location.
func (d *decoded) validateEvents(complete bool) (err error) {
	for i, l := range d.locations {
		wrong := func(format string, args ...any) {
			err = errors.Join(err, fmt.Errorf("location %d: %s", i, fmt.Sprintf(format, args...)))
		}
		var stack []uint64
		last, begun, init := d.clock[1], 0, false
		for _, e := range l.list {
			if e.time < last || e.time > d.clock[1]+d.clock[2] {
				wrong("time %d after %d", e.time, last)
			}
			last = e.time
			switch e.kind {
			case eventEnter:
				stack = append(stack, e.fields[0])
				init = init || strings.HasPrefix(d.regions[e.fields[0]].name, "MPI_Init")
			case eventLeave:
				if len(stack) == 0 || stack[len(stack)-1] != e.fields[0] {
					wrong("leaves %s, in %v", d.regions[e.fields[0]].name, stack)
					return err
				}
				stack = stack[:len(stack)-1]
			case eventMpiCollectiveBegin:
				begun++
			case eventMpiCollectiveEnd:
				if begun--; begun < 0 {
					wrong("a collective ends that has not begun")
				}
			}
		}
		if len(stack) > 0 || begun != 0 {
			wrong("ends in %v, %d collectives", stack, begun)
		}
		if complete && !init && strings.HasPrefix(l.name, "Master") {
			wrong("without MPI_Init")
		}
	}
	return err
}

// place is a process's number, by that of a member of a communicator.
func (d *decoded) member(comm, rank uint64, self uint64) uint64 {
	for _, g := range d.groups {
		if g.id != d.comms[comm].group {
			continue
		}
		if g.kind == groupCommSelf {
			return self
		}
		if rank < uint64(len(g.members)) {
			return g.members[rank]
		}
	}
	return undefined64
}

// validateMessages matches sends and receives in order: as many, and none received before it was
// sent. Orders of several threads are not compared.
func (d *decoded) validateMessages() (err error) {
	type channel struct{ from, to, comm, tag uint64 }
	sent, received := map[channel][]uint64{}, map[channel][]uint64{}
	for _, l := range d.locations {
		for _, e := range l.list {
			switch e.kind {
			case eventMpiSend, eventMpiIsend:
				k := channel{l.group, d.member(e.fields[1], e.fields[0], l.group), e.fields[1], e.fields[2]}
				sent[k] = append(sent[k], e.time)
			case eventMpiRecv, eventMpiIrecv:
				k := channel{d.member(e.fields[1], e.fields[0], l.group), l.group, e.fields[1], e.fields[2]}
				received[k] = append(received[k], e.time)
			}
		}
	}
	for k, list := range sent {
		got := received[k]
		delete(received, k)
		if len(got) != len(list) {
			err = errors.Join(err, fmt.Errorf("%+v: %d sent, %d received", k, len(list), len(got)))
			continue
		}
		slices.Sort(list)
		slices.Sort(got)
		for i := range list {
			if got[i] < list[i] {
				err = errors.Join(err, fmt.Errorf("%+v: message %d was sent at %d and received at %d", k, i, list[i], got[i]))
			}
		}
	}
	for k, got := range received {
		err = errors.Join(err, fmt.Errorf("%+v: %d were received that nobody sent", k, len(got)))
	}
	return err
}

// validateCollectives checks that all members of a communicator make the same collective calls.
func (d *decoded) validateCollectives() (err error) {
	calls := map[uint64]map[uint64][]byte{} // by communicator and process
	for _, l := range d.locations {
		for _, e := range l.list {
			if e.kind != eventMpiCollectiveEnd && e.kind != eventNonBlockingCollectiveComplete {
				continue
			}
			if calls[e.fields[0]] == nil {
				calls[e.fields[0]] = map[uint64][]byte{}
			}
			calls[e.fields[0]][l.group] = append(calls[e.fields[0]][l.group], e.op)
		}
	}
	for comm, by := range calls {
		var first []byte
		for _, g := range d.groups {
			if g.id != d.comms[comm].group || g.kind == groupCommSelf {
				continue
			}
			for k, m := range g.members {
				list := slices.Clone(by[m])
				slices.Sort(list) // nonblocking ones complete in any order
				if k == 0 {
					first = list
				} else if !slices.Equal(first, list) {
					err = errors.Join(err, fmt.Errorf("communicator %d: %d calls of one member, %d of another", comm, len(first), len(list)))
				}
			}
		}
	}
	return err
}

// Archives of programs with corrected times meet the demands of analysers.
func TestValid(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "500", MPI: "openmpi"},
		{Source: "c/jacobi.c", Args: "300", MPI: "mpich", Skew: &testrun.Skew{Offset: 20_000_000, PPM: 30}},
		{Source: "c/fail.c", Args: "kill 50", Fails: true, MPI: "mpich"},
		{Source: "c/threads.c", MPI: "openmpi"},
		{Source: "c/icoll.c", MPI: "openmpi"},
		{Source: "c/probes.c", MPI: "mpich"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		for _, job := range []*export.Job{{}, {Compat: true}, {Selection: export.Selection{Procs: []int{0, 2, 3}}}, {Selection: export.Selection{From: 10, To: 90}}} {
			complete := job.Procs == nil && job.To == 0 && !programs[r.Program].Fails
			d, err := decode(write(t, r.Run, job))
			if err == nil {
				err = d.validate(complete)
			}
			if err != nil {
				t.Errorf("%+v, compat %v: %.3000v", job.Selection, job.Compat, err)
			}
		}
	})
}

// The validator finds each of the demands that is not met.
func TestValidator(t *testing.T) {
	s := testrun.NewScript(t, 2)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		r.Call(0, 10, "MPI_Init", nil)
		if rank == 0 {
			r.Call(20, 30, "MPI_Send", testrun.Args{"count": 1, "datatype": "MPI_INT", "dest": 1, "tag": 5, "comm": "MPI_COMM_WORLD"})
		} else {
			r.Call(15, 40, "MPI_Recv", testrun.Args{"count": 1, "datatype": "MPI_INT", "source": 0, "tag": 5, "comm": "MPI_COMM_WORLD", "status.source": 0, "status.tag": 5, "status.bytes": 4})
		}
		r.Call(50, 60, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
		r.Call(70, 80, "MPI_Finalize", nil)
	})
	anchor := write(t, s.Run(), &export.Job{})
	find := func(d *decoded, location int, kind byte) int {
		return slices.IndexFunc(d.locations[location].list, func(e decodedEvent) bool { return e.kind == kind })
	}
	drop := func(location int, kind byte) func(*decoded) {
		return func(d *decoded) {
			l := &d.locations[location]
			l.list = slices.Delete(l.list, find(d, location, kind), find(d, location, kind)+1)
			l.events--
		}
	}
	for name, spoil := range map[string]func(d *decoded){
		"nothing":                   func(*decoded) {},
		"no send":                   drop(0, eventMpiSend),
		"no receive":                drop(1, eventMpiRecv),
		"no beginning":              drop(1, eventMpiCollectiveBegin),
		"no collective of one":      func(d *decoded) { drop(1, eventMpiCollectiveBegin)(d); drop(1, eventMpiCollectiveEnd)(d) },
		"an event too few":          func(d *decoded) { d.locations[0].events++ },
		"not left":                  drop(0, eventLeave),
		"inverted":                  func(d *decoded) { d.locations[0].list[find(d, 0, eventMpiSend)].time += 30_000 },
		"another tag":               func(d *decoded) { d.locations[0].list[find(d, 0, eventMpiSend)].fields[2]++ },
		"another peer":              func(d *decoded) { d.locations[0].list[find(d, 0, eventMpiSend)].fields[0] = 0 },
		"order of ranks":            func(d *decoded) { slices.Reverse(d.processes) },
		"type of process":           func(d *decoded) { d.processes[0].kind = 0 },
		"names":                     func(d *decoded) { d.locations[0].name = d.processes[0].name },
		"no MPI locations":          func(d *decoded) { d.groups[0].kind = groupCommGroup },
		"members":                   func(d *decoded) { d.groups[2].members[0] = 7 },
		"no communicator":           func(d *decoded) { clear(d.comms) },
		"parent":                    func(d *decoded) { d.comms[0] = decodedComm{d.comms[0].group, 0} },
		"region of no MPI":          func(d *decoded) { d.regions[1] = decodedRegion{d.regions[1].name, "", paradigmMPI} },
		"clock begins after events": func(d *decoded) { d.clock[1] += 5 },
		"no MPI_Init": func(d *decoded) {
			l := &d.locations[0]
			l.list = slices.Delete(l.list, 1, 3)
			l.events -= 2
		},
	} {
		d, err := decode(anchor)
		if err != nil {
			t.Fatal(err)
		}
		spoil(d)
		if err := d.validate(true); (err == nil) != (name == "nothing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
