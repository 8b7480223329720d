package otf2

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/export"
	reader "github.com/efg-tools/efg/internal/importer/otf2"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// decoded is an archive with all of its events.
type decoded struct {
	*reader.Definitions
	events [][]reader.Event // by the index of their location
}

// decode reads an archive.
func decode(anchor string) (*decoded, error) {
	a, err := reader.Open(anchor)
	if err != nil {
		return nil, err
	}
	d := &decoded{a.Definitions, make([][]reader.Event, len(a.Definitions.Locations))}
	for i, l := range d.Locations {
		if d.events[i], err = decodeEvents(a, l.ID); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func decodeEvents(a *reader.Archive, location uint64) (list []reader.Event, err error) {
	r, err := a.Events(location)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return list, err
		}
		kept := *e
		kept.Fields, kept.Attributes = slices.Clone(e.Fields), slices.Clone(e.Attributes)
		list = append(list, kept)
	}
}

// validate checks what analysers demand of an archive, beyond what OTF2's library checks. complete
// is whether all ranks of a run that ended well are in it.
func (d *decoded) validate(complete bool) error {
	return errors.Join(d.validateDefinitions(), d.validateEvents(complete), d.validateMessages(), d.validateCollectives(), d.validateObjects(!complete))
}

func (d *decoded) validateDefinitions() (err error) {
	wrong := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	for _, r := range d.Regions {
		if mpi := strings.HasPrefix(r.Name, "MPI_"); mpi != (r.Source == "MPI") || mpi != (r.Paradigm == reader.ParadigmMPI) {
			wrong("region %s of %q, paradigm %d", r.Name, r.Source, r.Paradigm)
		}
	}
	last := -1
	for _, p := range d.Processes {
		rank, e := strconv.Atoi(strings.TrimPrefix(p.Name, "MPI Rank "))
		if e != nil || rank <= last || p.Type != reader.ProcessGroup {
			wrong("process %q of type %d after rank %d", p.Name, p.Type, last)
		}
		last = rank
	}
	for i, l := range d.Locations {
		if l.Name == "" || l.Type != reader.CPUThread || l.Name == d.Processes[l.Group].Name || l.Events != uint64(len(d.events[i])) {
			wrong("location %q of type %d with %d events, not %d", l.Name, l.Type, len(d.events[i]), l.Events)
		}
	}
	for i, g := range d.Groups {
		if (i == 0) != (g.Type == reader.CommLocations) {
			wrong("group %d of type %d", g.ID, g.Type)
		}
		for _, m := range g.Members {
			if i > 0 && m >= uint64(len(d.Groups[0].Members)) {
				wrong("group %d has the member %d", g.ID, m)
			}
		}
	}
	used := map[uint64]bool{}
	for _, list := range d.events {
		for _, e := range list {
			if comm, ok := commOf(e); ok {
				used[comm] = true
			}
		}
	}
	for _, c := range d.Comms {
		if c.Parent != reader.Undefined && c.Parent >= c.ID {
			wrong("communicator %d is a child of %d", c.ID, c.Parent)
		}
		delete(used, c.ID)
	}
	if len(used) > 0 {
		wrong("communicators without definition: %v", slices.Sorted(maps.Keys(used)))
	}
	return err
}

// commOf is the communicator of an event.
func commOf(e reader.Event) (uint64, bool) {
	switch e.Kind {
	case reader.MpiSend, reader.MpiIsend, reader.MpiRecv, reader.MpiIrecv, reader.MpiCollectiveEnd, reader.NonBlockingCollectiveComplete:
		return e.Fields[1], true
	}
	return 0, false
}

// validateEvents checks the order of the events of each location.
func (d *decoded) validateEvents(complete bool) (err error) {
	for i, l := range d.Locations {
		wrong := func(format string, args ...any) {
			err = errors.Join(err, fmt.Errorf("location %d: %s", i, fmt.Sprintf(format, args...)))
		}
		var stack []uint64
		last, begun, init := d.Clock.First, 0, false
		for _, e := range d.events[i] {
			if e.Time < last || e.Time > d.Clock.First+d.Clock.Length {
				wrong("time %d after %d", e.Time, last)
			}
			last = e.Time
			switch e.Kind {
			case reader.Enter:
				stack = append(stack, e.Fields[0])
				init = init || strings.HasPrefix(d.Regions[e.Fields[0]].Name, "MPI_Init")
			case reader.Leave:
				if len(stack) == 0 || stack[len(stack)-1] != e.Fields[0] {
					wrong("leaves %s, in %v", d.Regions[e.Fields[0]].Name, stack)
					return err
				}
				stack = stack[:len(stack)-1]
			case reader.MpiCollectiveBegin:
				begun++
			case reader.MpiCollectiveEnd:
				if begun--; begun < 0 {
					wrong("a collective ends that has not begun")
				}
			}
		}
		if len(stack) > 0 || begun != 0 {
			wrong("ends in %v, %d collectives", stack, begun)
		}
		if complete && !init && strings.HasPrefix(l.Name, "Master") {
			wrong("without MPI_Init")
		}
	}
	return err
}

// member is a process's number, by that of a member of a communicator.
func (d *decoded) member(comm, rank uint64, self uint64) uint64 {
	group := d.groupOf(comm)
	for _, g := range d.Groups {
		if g.ID != group {
			continue
		}
		if g.Type == reader.CommSelf {
			return self
		}
		if rank < uint64(len(g.Members)) {
			return g.Members[rank]
		}
	}
	return reader.Undefined
}

// groupOf is the group of a communicator.
func (d *decoded) groupOf(comm uint64) uint64 {
	for _, c := range d.Comms {
		if c.ID == comm {
			return c.Group
		}
	}
	return reader.Undefined
}

// validateMessages matches sends and receives in order: as many, and none received before it was
// sent. Orders of several threads are not compared.
func (d *decoded) validateMessages() (err error) {
	type channel struct{ from, to, comm, tag uint64 }
	sent, received := map[channel][]uint64{}, map[channel][]uint64{}
	for i, l := range d.Locations {
		for _, e := range d.events[i] {
			switch e.Kind {
			case reader.MpiSend, reader.MpiIsend:
				k := channel{l.Group, d.member(e.Fields[1], e.Fields[0], l.Group), e.Fields[1], e.Fields[2]}
				sent[k] = append(sent[k], e.Time)
			case reader.MpiRecv, reader.MpiIrecv:
				k := channel{d.member(e.Fields[1], e.Fields[0], l.Group), l.Group, e.Fields[1], e.Fields[2]}
				received[k] = append(received[k], e.Time)
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
	for i, l := range d.Locations {
		for _, e := range d.events[i] {
			if e.Kind != reader.MpiCollectiveEnd && e.Kind != reader.NonBlockingCollectiveComplete {
				continue
			}
			if calls[e.Fields[1]] == nil {
				calls[e.Fields[1]] = map[uint64][]byte{}
			}
			calls[e.Fields[1]][l.Group] = append(calls[e.Fields[1]][l.Group], byte(e.Fields[0]))
		}
	}
	for comm, by := range calls {
		group := d.groupOf(comm)
		var first []byte
		for _, g := range d.Groups {
			if g.ID != group || g.Type == reader.CommSelf {
				continue
			}
			for k, m := range g.Members {
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
		{Source: "c/regions.c", MPI: "openmpi"},
		{Source: "c/callbacks.c", Args: "3", MPI: "mpich"},
		{Source: "c/rma.c", Args: "2", MPI: "mpich"},
		{Source: "c/io.c", Args: "2 DIR", MPI: "openmpi"},
		{Source: "c/comms.c", MPI: "openmpi"},
		{Source: "c/persistent.c", MPI: "openmpi"},
		{Source: "c/partitioned.c", MPI: "mpich"},
		{Source: "c/pcoll.c", MPI: "mpich"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		for _, job := range []*export.Job{{}, {Compat: true}, {Selection: export.Selection{Procs: []int{0, 2, 3}}}, {Selection: export.Selection{From: 10, To: 90}}, {Selection: export.Selection{From: 40, To: 120}}} {
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
	find := func(d *decoded, location int, kind reader.Kind) int {
		return slices.IndexFunc(d.events[location], func(e reader.Event) bool { return e.Kind == kind })
	}
	drop := func(location int, kind reader.Kind) func(*decoded) {
		return func(d *decoded) {
			at := find(d, location, kind)
			d.events[location] = slices.Delete(d.events[location], at, at+1)
			d.Locations[location].Events--
		}
	}
	for name, spoil := range map[string]func(d *decoded){
		"nothing":              func(*decoded) {},
		"no send":              drop(0, reader.MpiSend),
		"no receive":           drop(1, reader.MpiRecv),
		"no beginning":         drop(1, reader.MpiCollectiveBegin),
		"no collective of one": func(d *decoded) { drop(1, reader.MpiCollectiveBegin)(d); drop(1, reader.MpiCollectiveEnd)(d) },
		"an event too few":     func(d *decoded) { d.Locations[0].Events++ },
		"not left":             drop(0, reader.Leave),
		"inverted":             func(d *decoded) { d.events[0][find(d, 0, reader.MpiSend)].Time += 30_000 },
		"another tag":          func(d *decoded) { d.events[0][find(d, 0, reader.MpiSend)].Fields[2]++ },
		"another peer":         func(d *decoded) { d.events[0][find(d, 0, reader.MpiSend)].Fields[0] = 0 },
		"order of ranks":       func(d *decoded) { slices.Reverse(d.Processes) },
		"type of process":      func(d *decoded) { d.Processes[0].Type = 0 },
		"names":                func(d *decoded) { d.Locations[0].Name = d.Processes[0].Name },
		"no MPI locations":     func(d *decoded) { d.Groups[0].Type = reader.CommGroup },
		"members":              func(d *decoded) { d.Groups[2].Members[0] = 7 },
		"no communicator":      func(d *decoded) { d.Comms = nil },
		"parent":               func(d *decoded) { d.Comms[0].Parent = d.Comms[0].ID },
		"region of no MPI": func(d *decoded) {
			d.Regions[1] = reader.Region{Name: d.Regions[1].Name, Paradigm: reader.ParadigmMPI}
		},
		"clock begins after events": func(d *decoded) { d.Clock.First += 5 },
		"no MPI_Init": func(d *decoded) {
			d.events[0] = slices.Delete(d.events[0], 1, 3)
			d.Locations[0].Events -= 2
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
