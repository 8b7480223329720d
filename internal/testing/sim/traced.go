package sim

import (
	"bytes"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// GiveTimes gives the events of a process times within a hundredth, as a recorder writes
// them: begin is when each stream's clock begins, interval the next gap or duration, in ns.
func GiveTimes(p *efg.Process, begin, interval func() uint64) error {
	return GiveTimesWithin(p, efg.ErrorUnit/100, begin, interval)
}

// GiveTimesWithin is GiveTimes for another error, in parts of efg.ErrorUnit; 0: as they are.
func GiveTimesWithin(p *efg.Process, parts uint32, begin, interval func() uint64) error {
	for i := range p.Streams {
		s := &p.Streams[i]
		s.Trace = &efg.Trace{Begin: begin()}
		for k := range s.Nodes {
			s.Nodes[k].Times = &efg.Times{}
		}
		w := s.Walk(p.Defs)
		for w.Next() {
			t := s.Nodes[w.Node()].Times
			t.Gap.Append(interval())
			t.Dur.Append(interval())
		}
		if err := w.Err(); err != nil {
			return err
		}
		if err := s.Quantize(parts, efg.DefaultBound); err != nil {
			return err
		}
	}
	return nil
}

// Run makes a run file of the configuration and opens it. times adds the times of each event to
// a process; nil means that there are none.
func (c Config) Run(times func(p *efg.Process) error) (*runfile.Run, error) {
	var procs []*efg.Process
	for p, err := range c.All(2) {
		if err == nil && times != nil {
			err = times(p)
		}
		if err != nil {
			return nil, err
		}
		procs = append(procs, p)
	}
	meta, err := c.Meta()
	if err != nil {
		return nil, err
	}
	if times != nil {
		meta.Time = runfile.TraceTime(efg.ErrorUnit/100, 0)
	}
	var file bytes.Buffer
	if err := runfile.EncodeRun(&file, procs, meta); err != nil {
		return nil, err
	}
	return runfile.NewRun(bytes.NewReader(file.Bytes()), int64(file.Len()))
}
