package runfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// MergeRuns merges several run files, the parts of a launch on several nodes, into one. The
// result depends on the content of the parts, not on their number, order or grouping. Memory is
// bounded by the parts' indexes and the result's shared tables.
func MergeRuns(path string, parts []string) error {
	return writeFile(path, func(w io.Writer) error { return new(Writer).EncodeMerged(w, parts) })
}

// EncodeMerged writes the content of a run file merged from several. Errors about parts are
// PartError, DifferentError and DuplicateError.
func (w *Writer) EncodeMerged(out io.Writer, parts []string) error { return w.merge(out, parts, false) }

// EncodeMergedPart writes the content of a run file that is to be merged further, like
// EncodePart.
func (w *Writer) EncodeMergedPart(out io.Writer, parts []string) error {
	return w.merge(out, parts, true)
}

func (w *Writer) merge(out io.Writer, parts []string, part bool) error {
	if len(parts) == 0 {
		return errors.New("nothing to merge")
	}
	cache := newBlockCache(mergeCacheSize)
	runs := make([]*Run, len(parts))
	for i, path := range parts {
		r, err := openLazily(path)
		if err != nil {
			return &PartError{path, err}
		}
		r.cache, r.times.limit, r.counted.limit, r.path = cache, 1, 1, path
		runs[i] = r
	}
	meta, err := mergeMeta(runs, parts)
	if err != nil {
		return err
	}
	procs := 0
	for _, r := range runs {
		procs += len(r.Procs)
	}
	sources, all := make([]source, 0, procs), make([]fileSource, procs)
	for _, r := range runs {
		for i := range r.Procs {
			s := &all[len(sources)]
			*s = fileSource{run: r, proc: i}
			sources = append(sources, s)
		}
	}
	if err := checkDuplicates(sources); err != nil {
		return err
	}
	return w.pack(out, sources, meta, part)
}

// mergeCacheSize is the approximate maximum size of the parts' decoded blocks that are kept.
const mergeCacheSize = 128 << 20

// DifferentError reports that two parts were recorded with different options, so they are not
// of one launch.
type DifferentError struct {
	Parts [2]string
	What  [2]string // the options of each
}

func (e *DifferentError) Error() string {
	return fmt.Sprintf("%s was recorded with %s, %s with %s", e.Parts[0], e.What[0], e.Parts[1], e.What[1])
}

// DuplicateError reports that a process is in two parts.
type DuplicateError struct {
	Parts [2]string
	Rank  int
	Host  string
	PID   int // 0 if unknown
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s is both in %s and in %s", e.Process(), e.Parts[0], e.Parts[1])
}

// Process describes the process.
func (e *DuplicateError) Process() string {
	if e.PID == 0 {
		return fmt.Sprintf("the same process, rank %d on %s,", e.Rank, e.Host)
	}
	return fmt.Sprintf("the same process, rank %d (%d on %s),", e.Rank, e.PID, e.Host)
}

// CheckDuplicates returns a DuplicateError if a process occurs twice. Process i is from part i.
func CheckDuplicates(procs []*efg.Process, parts []string) error {
	seen := processSet{}
	for i, p := range procs {
		if err := seen.add(identity{began(p), p.World, p.WorldRank(), p.PID, p.Host}, parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkDuplicates compares processes with equal hashes only: there may be millions.
func checkDuplicates(sources []source) error {
	type hashed struct {
		hash   uint64
		number uint32
	}
	list := make([]hashed, 0, len(sources))
	for i, s := range sources {
		if id := identityOf(s); id.known() {
			list = append(list, hashed{id.hash(), uint32(i)})
		}
	}
	slices.SortFunc(list, func(x, y hashed) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.number, y.number))
	})
	var found *DuplicateError
	last := len(sources) // number of the second of the duplicates
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].hash == list[0].hash {
			n++
		}
		if n > 1 {
			seen := processSet{}
			for _, h := range list[:n] {
				s := sources[h.number].(*fileSource)
				if err := seen.add(identityOf(s), s.run.path); err != nil && int(h.number) < last {
					found, last = err, int(h.number)
				}
			}
		}
		list = list[n:]
	}
	if found == nil {
		return nil
	}
	return found
}

func identityOf(s source) identity {
	p := s.info()
	return identity{s.began(), p.World, p.Rank, p.PID, p.Host}
}

// processSet is a set of processes with the parts that they are in. Without it a process that
// occurs twice, with equal start times, would be taken for ranks of two launches.
type processSet map[identity]string

// identity distinguishes a process from all others.
type identity struct {
	began int64
	world uint64
	rank  int
	pid   int
	host  string
}

// known reports whether the identity distinguishes the process from others.
func (id *identity) known() bool { return (id.rank >= 0 || id.pid != 0) && id.began != 0 }

func (id *identity) hash() uint64 {
	b := block.AppendU64(block.AppendU64(nil, uint64(id.began)), id.world)
	b = block.AppendU64(block.AppendU64(b, uint64(id.rank)), uint64(id.pid))
	return xxhash.Sum64(append(b, id.host...))
}

func (x processSet) add(id identity, part string) *DuplicateError {
	if !id.known() {
		return nil
	}
	if other, ok := x[id]; ok {
		return &DuplicateError{[2]string{other, part}, id.rank, id.host, id.pid}
	}
	x[id] = part
	return nil
}

// Join combines what two parts say about a run as a whole, except for the callsites. Command
// and tool are those of the part that began first, the launcher's command that which is known.
func (m *Meta) Join(o *Meta) {
	first := m
	if cmp.Or(cmp.Compare(m.Started, o.Started), slices.Compare(m.Command, o.Command), cmp.Compare(m.Tool, o.Tool)) > 0 {
		first = o
	}
	m.Started, m.Command, m.Tool = first.Started, first.Command, first.Tool
	m.Ended = max(m.Ended, o.Ended)
	m.Forks = joinForks(m.Forks, o.Forks)
	m.Energy = joinEnergy(m.Energy, o.Energy)
	m.Processors = joinProcessors(m.Processors, o.Processors)
	m.Status, m.StatusUnknown = max(m.Status, o.Status), m.StatusUnknown && o.StatusUnknown
	if len(m.Launcher) == 0 || len(o.Launcher) > 0 && slices.Compare(o.Launcher, m.Launcher) < 0 {
		m.Launcher = o.Launcher
	}
}

// options describes the options with which a run was recorded.
func (m *Meta) options() string {
	s := "--time " + m.Time
	if m.Polls != "" {
		s += " --polls " + m.Polls
	}
	if m.Queries {
		s += " --queries"
	}
	if m.Buffers {
		s += " --buffers"
	}
	if m.CallPath > 0 {
		s += fmt.Sprintf(" --callpath=%d", m.CallPath)
	}
	if len(m.Counters) > 0 {
		s += " --counters " + strings.Join(m.Counters, ",")
	}
	return s
}

// CheckSame returns a DifferentError if two parts have different options.
func (m *Meta) CheckSame(part string, o *Meta, other string) error {
	if a, b := m.options(), o.options(); a != b {
		return &DifferentError{[2]string{part, other}, [2]string{a, b}}
	}
	return nil
}

// mergeMeta combines what the parts say about the run.
func mergeMeta(runs []*Run, parts []string) (Meta, error) {
	meta := runs[0].Meta
	meta.Sites = nil
	for i, r := range runs {
		if err := meta.CheckSame(parts[0], &r.Meta, parts[i]); err != nil {
			return meta, err
		}
		meta.Join(&r.Meta)
		sites, err := r.Sites()
		if err != nil {
			return meta, &PartError{parts[i], err}
		}
		meta.Sites = append(meta.Sites, sites...)
		if len(meta.Sites) > 1<<16 {
			meta.Sites = uniqueSites(meta.Sites)
		}
	}
	return meta, nil
}

// uniqueSites keeps one site for each word: if possible one whose position in its module is
// known, and that has a function.
func uniqueSites(sites []Site) []Site {
	slices.SortFunc(sites, func(a, b Site) int {
		return cmp.Or(cmp.Compare(a.Word, b.Word), cmp.Compare(block.Bit(a.ref.module == ""), block.Bit(b.ref.module == "")), compareSites(a, b))
	})
	sites = slices.CompactFunc(sites, func(a, b Site) bool { return a.Word == b.Word })
	slices.SortFunc(sites, compareSites)
	return sites
}

// lazyFile is a file that is open only while it is being read, so that there can be many.
type lazyFile struct {
	path string
}

func (f lazyFile) ReadAt(b []byte, off int64) (int, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(b, off)
}

// openLazily opens a run file without keeping it open.
func openLazily(path string) (*Run, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = ErrNotEFG
	}
	if err != nil {
		return nil, withoutPath(err)
	}
	r, err := NewRun(lazyFile{path}, st.Size())
	return r, withoutPath(err)
}

// withoutPath removes the path from an error of the file system.
func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
