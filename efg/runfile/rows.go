package runfile

import (
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// The index has a column for each property of processes and streams. A run in memory has a row
// for each, which is small: rows refer to the values that many of them have in common, most of
// them equal to those of the row before.

// rowReader reads the columns row by row.
type rowReader struct {
	b       *block.Block
	columns []propertyReader
	values  []uint64 // of the current row
	rows    int      // read so far
}

// propertyReader iterates over the values of a property.
type propertyReader struct {
	it       seq.Iter
	constant bool
}

// newRowReader reads n rows of properties, whose columns begin with first.
func newRowReader(b *block.Block, first, properties, n int) *rowReader {
	x := &rowReader{b: b, columns: make([]propertyReader, properties), values: make([]uint64, properties)}
	for i := range x.columns {
		body := seq.TakeBody(b, first+i*seq.BodyColumns, nil)
		if b.Err != nil {
			return x
		}
		x.columns[i] = propertyReader{body.Seq(uint64(n), nil).Iter(), body.Constant()}
	}
	return x
}

// next reads a row, and reports whether it could.
func (x *rowReader) next() bool {
	if x.b.Err != nil {
		return false
	}
	for i := range x.columns {
		c := &x.columns[i]
		if c.constant && x.rows > 0 {
			continue
		}
		v, ok := c.it.Next()
		if !ok {
			x.b.Failf("%d values of a property, want more: %v", x.rows, c.it.Err())
			return false
		}
		x.values[i] = v
	}
	x.rows++
	return true
}

// maxKnown bounds the rows that are remembered, to share what they have in common.
const maxKnown = 1 << 14

// known finds what rows have in common, by the values in the file.
type known[K comparable, T any] struct {
	rows map[K]*T
	key  K
	last *T // of key
}

// of returns what the rows with these values have in common, made by create if it is new.
func (x *known[K, T]) of(key K, create func() *T) *T {
	if x.last != nil && key == x.key {
		return x.last
	}
	v := x.rows[key]
	if v == nil {
		v = create()
		if x.rows == nil || len(x.rows) >= maxKnown {
			x.rows = map[K]*T{}
		}
		x.rows[key] = v
	}
	x.key, x.last = key, v
	return v
}

// readRows reads processes and streams.
func (r *Run) readRows(b *block.Block, procs, streams int) {
	r.Procs, r.streams = make([]ProcInfo, procs), make([]StreamInfo, streams)
	all := r.streams
	processes := newRowReader(b, indexSeqs, len(processProperties), procs)
	var shared known[[len(processProperties)]uint64, ProcShared]
	for i := 0; i < procs && processes.next(); i++ {
		if err := r.setProcess(&r.Procs[i], processes.values, &shared); err != nil {
			b.Failf("%w", err)
		}
	}
	r.readStreams(b, all)
	r.anchors(b, uint64(procs))
	r.ends(b, procs)
	if len(r.streams) > 0 {
		b.Failf("%d streams without a process", len(r.streams))
	}
	if b.Err == nil {
		r.number()
	}
}

// setProcess sets the properties of a process from a row.
func (r *Run) setProcess(p *ProcInfo, row []uint64, known *known[[len(processProperties)]uint64, ProcShared]) error {
	key := [len(processProperties)]uint64(row)
	for i := range processProperties {
		prop := &processProperties[i]
		if prop.shared {
			continue
		}
		if err := prop.set(r, p, row[i]); err != nil {
			return err
		}
		if i > 0 {
			key[i] = 0 // the world is shared, too
		}
	}
	var failed error
	p.ProcShared = known.of(key, func() *ProcShared {
		with := ProcInfo{ProcShared: &ProcShared{World: r.worlds[p.world].id}}
		for i := range processProperties {
			if prop := &processProperties[i]; prop.shared && failed == nil {
				failed = prop.set(r, &with, row[i])
			}
		}
		return with.ProcShared
	})
	return failed
}

func (r *Run) readStreams(b *block.Block, all []StreamInfo) {
	properties := propertiesOf(r.features)
	rows := newRowReader(b, indexSeqs+len(processProperties)*seq.BodyColumns, len(properties), len(all))
	var shared known[[maxStreamProperties]uint64, StreamShared]
	for i := 0; i < len(all) && rows.next(); i++ {
		var key [maxStreamProperties]uint64
		copy(key[:], rows.values)
		s := shared.of(key, func() *StreamShared {
			s := &StreamShared{}
			for k := range properties {
				if err := properties[k].set(r, s, rows.values[k]); err != nil {
					b.Failf("%w", err)
				}
			}
			return s
		})
		all[i].StreamShared = s
		if b.Err == nil {
			r.blocks[r.groups[s.group].block].members++
		}
	}
}

// number completes what the properties do not contain: ranks in the run, which member of its
// group each process and stream is, and how many streams have a graph of each shape.
func (r *Run) number() {
	bases := worldBases(r.worlds)
	in := make([]uint32, len(r.groups))
	r.shapes = make([]uint32, len(r.groups))
	member := func(group int) uint32 {
		in[group]++
		return in[group] - 1
	}
	next := 0
	for i := range r.Procs {
		p := &r.Procs[i]
		if p.Rank = int(p.inIts); p.inIts >= 0 {
			p.Rank += bases[p.world]
		}
		p.first = next
		p.ordinal = member(int(p.defs))
		for j := range p.Streams {
			s := &p.Streams[j]
			if r.exact {
				s.hash = r.hashes[next]
			}
			if s.Bytes == 0 {
				b := &r.blocks[r.groups[s.group].block]
				s.Bytes = (b.Length + b.members - 1) / b.members
			}
			s.member = member(s.group)
			r.shapes[s.Class]++
			if s.checkpoints > 0 {
				s.checkpointMember = member(s.checkpoints - 1)
			}
			if s.InCall {
				s.pendingMember = member(s.pending)
			}
			next++
		}
	}
	for n := range r.groups {
		r.groups[n].members = uint64(in[n])
	}
}
