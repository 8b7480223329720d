package otf2

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/otf2/names"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/internal/printable"
)

// Options are what Read does besides reading.
type Options struct {
	Times importer.Times
	// Progress, if not nil, is called from time to time with the number of bytes read.
	Progress func(bytes int64)
	// Note, if not nil, takes what of the archive was not imported, one line each.
	Note func(line string)
}

// Read reads an archive, and hands its processes to sink, by rank. Errors are of type *Error unless
// a file cannot be opened or sink fails.
func Read(anchor string, o Options, sink export.Sink) error {
	a, err := Open(anchor)
	if err != nil {
		return err
	}
	r := &reader{archive: a, options: o, sink: sink, names: importer.NewNames(), comms: map[uint64]comm{}, indexOf: map[uint64]int{}, lists: map[uint64][]int{}}
	if err := r.prepare(); err != nil {
		return err
	}
	for i := range r.ranks {
		if err := r.process(&r.ranks[i]); err != nil {
			return err
		}
	}
	if r.processes == 0 {
		return r.defective("no calls of MPI in the events of %d processes", len(r.ranks))
	}
	r.note()
	return nil
}

// reader reads an archive.
type reader struct {
	archive *Archive
	options Options
	sink    export.Sink
	names   *importer.Names
	own     bool // efg wrote it
	exact   bool // with all arguments and results

	ranks   []rank
	size    int            // of the run
	masters []uint64       // see Definitions.masters
	indexOf map[uint64]int // of ranks, by masters
	comms   map[uint64]comm
	world   bool // MPI_COMM_WORLD is defined
	groups  map[uint64]*Group
	lists   map[uint64][]int // members of groups
	// memberships are the members of all communicators.
	memberships int
	regions     map[uint64]region
	members     map[uint64]member // by attribute
	meta        runfile.Meta
	shift       int64 // what is added to times after the first one of the archive, ns

	bytes     int64
	processes int
	skipped   skipped
}

// skipped are what was not imported.
type skipped struct {
	locations int    // that are no threads of processes
	missing   int    // locations without file of events
	silent    int    // processes without calls
	nested    uint64 // regions
	// annotations are attributes that the program set, and ends of no region.
	annotations uint64
	outside     uint64 // records
	persistent  uint64 // messages
	procedures  map[string]uint64
}

func (r *reader) prepare() error {
	a := r.archive
	r.own = a.Creator == names.Creator
	_, r.exact = a.Properties[names.Arguments]
	if err := r.findRanks(); err != nil {
		return err
	}
	for i, location := range r.masters {
		r.indexOf[location] = i
	}
	r.size = r.ranks[len(r.ranks)-1].number + 1
	if n, err := strconv.Atoi(a.Properties[names.Ranks]); err == nil && n >= r.size && n < maxRank {
		r.size = n
	}
	for _, handle := range strings.Fields(a.Properties[names.Handles]) {
		if name, digits, ok := strings.Cut(handle, "="); ok && r.exact {
			r.names.SetDigits(name, digits)
		}
	}
	if err := r.findComms(); err != nil {
		return err
	}
	r.skipped.procedures = map[string]uint64{}
	r.findRegions()
	r.findMembers()
	r.describe()
	return nil
}

// whole reports whether all processes of the run are in the archive.
func (r *reader) whole() bool { return len(r.ranks) == r.size }

// describe sets what is known of the run.
func (r *reader) describe() {
	a := r.archive
	m := &r.meta
	m.StatusUnknown, m.Time = true, r.options.Times.Text()
	if n, err := strconv.Atoi(a.Properties[names.CallPaths]); err == nil && r.own && n > 0 {
		m.CallPath = n
	}
	if r.own && a.Description != "" {
		m.Command = strings.Fields(a.Description)
	}
	first := a.Definitions.Clock.Realtime
	if first == Undefined || first > math.MaxInt64/4 {
		return
	}
	m.Started = int64(first)
	if began, err := strconv.ParseInt(a.Properties[names.Started], 10, 64); err == nil && r.own && began > 0 {
		m.Started, r.shift = began, int64(first)-began
	}
}

// ns converts a time.
func (r *reader) ns(ticks uint64) (uint64, bool) {
	clock := &r.archive.Definitions.Clock
	ticks -= min(clock.First, ticks)
	high, low := bits.Mul64(ticks, 1e9)
	if high >= clock.Resolution {
		return 0, false
	}
	ns, _ := bits.Div64(high, low, clock.Resolution)
	if ns > math.MaxInt64/4 {
		return 0, false
	}
	return uint64(max(0, int64(ns)+r.shift)), true
}

// process reads a process.
func (r *reader) process(q *rank) error {
	data := &efg.Process{Rank: q.number, Size: r.size, Host: q.host}
	p := &process{reader: r, out: importer.NewProcess(data, r.names, r.options.Times), waiting: map[uint64]*call{}, requests: map[uint64]uint64{}, paths: map[uint64]uint64{}, comms: map[uint64]uint64{}, operations: map[operationKey]*operation{}, handles: map[handleKey]uint64{}}
	calls, err := p.read(q.locations)
	if err != nil {
		return err
	}
	if calls == 0 {
		r.skipped.silent++
		return nil
	}
	done, err := p.out.Finish()
	if err != nil {
		return err
	}
	if err := export.Check(done); err != nil {
		return err
	}
	meta := r.meta
	meta.Sites = r.names.Sites
	if err := r.sink(&meta, done); err != nil {
		return &export.SinkError{Err: err}
	}
	r.processes++
	return nil
}

// note says what was not imported.
func (r *reader) note() {
	if r.options.Note == nil {
		return
	}
	s := &r.skipped
	count := func(n uint64, format string) {
		if n > 0 {
			r.options.Note(fmt.Sprintf(format, n))
		}
	}
	count(uint64(s.missing), "no events of %d locations: their files are missing")
	count(uint64(s.locations), "not imported: %d locations that are no threads of processes with MPI")
	count(uint64(s.silent), "not imported: %d processes without calls")
	count(s.annotations, "not imported: %d attributes of regions, as the archive does not have their values")
	count(s.nested, "not imported: %d regions within calls of MPI")
	count(s.outside, "not imported: %d records of messages or collective calls outside of calls that can make them")
	count(s.persistent, "not imported: %d messages of persistent requests, as the archive does not say which requests were started")
	var procedures []string
	total := uint64(0)
	for name, n := range s.procedures {
		procedures = append(procedures, printable.Line(name))
		total += n
	}
	slices.Sort(procedures)
	if len(procedures) > 0 {
		r.options.Note(fmt.Sprintf("not imported: %d calls of %s, which efg does not record", total, strings.Join(procedures[:min(len(procedures), 5)], ", ")))
	}
}
