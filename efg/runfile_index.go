package efg

import (
	"errors"
	"fmt"
	"strings"
)

// The index stores processes and streams by columns: column by column the
// values of all processes, then column by column those of all streams.

type procColumn struct {
	get func(*runWriter, *ProcInfo) uint64
	set func(*Run, *ProcInfo, uint64) error
}

var procColumns = []procColumn{
	{func(_ *runWriter, p *ProcInfo) uint64 { return zigzag(int64(p.Rank)) },
		func(_ *Run, p *ProcInfo, v uint64) error { p.Rank = int(unzigzag(v)); return nil }},
	{func(_ *runWriter, p *ProcInfo) uint64 { return zigzag(int64(p.Size)) },
		func(_ *Run, p *ProcInfo, v uint64) error { p.Size = int(unzigzag(v)); return nil }},
	{func(_ *runWriter, p *ProcInfo) uint64 { return p.World },
		func(_ *Run, p *ProcInfo, v uint64) error { p.World = v; return nil }},
	{func(_ *runWriter, p *ProcInfo) uint64 { return zigzag(int64(p.PID)) },
		func(_ *Run, p *ProcInfo, v uint64) error { p.PID = int(unzigzag(v)); return nil }},
	{func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(p.Host) },
		func(r *Run, p *ProcInfo, v uint64) (err error) { p.Host, err = r.str(v); return err }},
	{func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(p.MPI) },
		func(r *Run, p *ProcInfo, v uint64) (err error) { p.MPI, err = r.str(v); return err }},
	{func(rw *runWriter, p *ProcInfo) uint64 { return rw.str(strings.Join(p.Command, "\x00")) }, setCommand},
	{func(_ *runWriter, p *ProcInfo) uint64 { return zigzag(p.Start) },
		func(_ *Run, p *ProcInfo, v uint64) error { p.Start = unzigzag(v); return nil }},
	{func(_ *runWriter, p *ProcInfo) uint64 { return uint64(p.defList) },
		func(r *Run, p *ProcInfo, v uint64) (err error) {
			p.defList, err = r.blockNumber(v, blockDefList)
			return err
		}},
	{func(_ *runWriter, p *ProcInfo) uint64 { return uint64(len(p.Streams)) }, setStreams},
}

func setCommand(r *Run, p *ProcInfo, v uint64) error {
	s, err := r.str(v)
	if err == nil && s != "" {
		p.Command = strings.Split(s, "\x00")
	}
	return err
}

// setStreams makes room for a process's streams. Each takes a byte or more in
// every column, so that the bytes left bound them.
func setStreams(r *Run, p *ProcInfo, v uint64) error {
	if v > r.streamsLeft {
		return fmt.Errorf("%d streams announced, room for %d", v, r.streamsLeft)
	}
	r.streamsLeft -= v
	p.Streams = make([]StreamInfo, v)
	return nil
}

type streamColumn struct {
	get func(*StreamInfo) uint64
	set func(*Run, *StreamInfo, uint64) error
}

var streamColumns = []streamColumn{
	{func(s *StreamInfo) uint64 { return uint64(s.Thread) },
		func(_ *Run, s *StreamInfo, v uint64) error {
			s.Thread = uint32(v)
			return inRange(v, 1<<32-1, "thread")
		}},
	{func(s *StreamInfo) uint64 { return uint64(s.End) },
		func(_ *Run, s *StreamInfo, v uint64) error {
			s.End = End(v)
			return inRange(v, uint64(EndExit), "end")
		}},
	{func(s *StreamInfo) uint64 { return s.Events },
		func(_ *Run, s *StreamInfo, v uint64) error { s.Events = v; return nil }},
	{func(s *StreamInfo) uint64 { return s.Hash },
		func(_ *Run, s *StreamInfo, v uint64) error { s.Hash = v; return nil }},
	{func(s *StreamInfo) uint64 { return s.Dropped },
		func(_ *Run, s *StreamInfo, v uint64) error { s.Dropped = v; return nil }},
	{func(s *StreamInfo) uint64 { return s.Nodes },
		func(_ *Run, s *StreamInfo, v uint64) error { s.Nodes = v; return nil }},
	{func(s *StreamInfo) uint64 { return s.Edges },
		func(_ *Run, s *StreamInfo, v uint64) error { s.Edges = v; return nil }},
	{func(s *StreamInfo) uint64 { return s.Words },
		func(_ *Run, s *StreamInfo, v uint64) error { s.Words = v; return nil }},
	{func(s *StreamInfo) uint64 { return uint64(s.Graph) }, setGraph},
	{func(s *StreamInfo) uint64 { return uint64(s.stats + 1) }, setStats},
}

func setGraph(r *Run, s *StreamInfo, v uint64) (err error) {
	if s.Graph, err = r.blockNumber(v, blockGraph); err == nil {
		s.Bytes += r.blocks[s.Graph].length
	}
	return err
}

func setStats(r *Run, s *StreamInfo, v uint64) (err error) {
	s.stats = none
	if v == 0 {
		return nil
	}
	if s.stats, err = r.blockNumber(v-1, blockStats); err == nil {
		s.Bytes += r.blocks[s.stats].length
	}
	return err
}

func inRange(v, limit uint64, what string) error {
	if v > limit {
		return fmt.Errorf("%s %d out of range", what, v)
	}
	return nil
}

// blockNumber checks a reference to a block of a kind.
func (r *Run) blockNumber(v uint64, kind blockKind) (uint32, error) {
	if v >= uint64(len(r.blocks)) {
		return none, fmt.Errorf("block %d of %d", v, len(r.blocks))
	}
	if k := r.blocks[v].kind; k != kind {
		return none, fmt.Errorf("block %d holds %v, not %v", v, k, kind)
	}
	return uint32(v), nil
}

func (r *Run) str(v uint64) (string, error) {
	if v >= uint64(len(r.strs)) {
		return "", fmt.Errorf("string %d of %d", v, len(r.strs))
	}
	return r.strs[v], nil
}

// blockTable reads the list of blocks. Blocks lie one after the other from the
// header to the index.
func (c *cursor) blockTable(end uint64) []blockRef {
	n := c.count(2)
	refs := make([]blockRef, 0, n)
	offset := uint64(headerSize)
	for i := 0; i < n && c.err == nil; i++ {
		kind, length := blockKind(c.byte()), c.uvarint()
		if c.err == nil && (kind == 0 || kind >= blockIndex || length > end-offset) {
			c.failf("block %d of kind %d and length %d does not fit", i, kind, length)
			break
		}
		refs = append(refs, blockRef{kind, offset, length})
		offset += length
	}
	if c.err == nil && offset != end {
		c.fail(errors.New("gap before the index"))
	}
	return refs
}

// processes reads the columns of processes and streams.
func (c *cursor) processes(r *Run) []ProcInfo {
	procs := make([]ProcInfo, c.count(uint64(len(procColumns))))
	r.streamsLeft = c.left() / uint64(len(streamColumns))
	for _, col := range procColumns {
		for i := range procs {
			v := c.uvarint()
			if c.err != nil {
				return nil
			}
			if err := col.set(r, &procs[i], v); err != nil {
				c.fail(err)
				return nil
			}
		}
	}
	for _, col := range streamColumns {
		for i := range procs {
			for j := range procs[i].Streams {
				v := c.uvarint()
				if c.err != nil {
					return nil
				}
				if err := col.set(r, &procs[i].Streams[j], v); err != nil {
					c.fail(err)
					return nil
				}
			}
		}
	}
	return procs
}
