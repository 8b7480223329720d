package export

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// Walk is how the events of a stream are gone through.
type Walk struct {
	// Follower passes the events that are not selected, if it must see each.
	Follower *analysis.Follower
	// Issues asks for the events that issued the requests that an event completes.
	Issues bool
	// Timed ends the walk at the first event without times.
	Timed bool
	// Write writes a selected event. Its start and end, ns, are 0 if it has no times.
	Write func(e *reconstruct.Event, start, end int64, timed bool) error
}

// InProgress returns when the call began that the thread of Data().Streams[i] of a process was in when its recording
// ended, and when it is taken to end: when the process was gone, or with the run. Times are ns since the run began;
// after is when the thread's last call ended. It is not ok if there is no such call with a time, or if it is not selected.
func (j *Job) InProgress(p *reconstruct.Process, i int, after int64) (from, to int64, ok bool) {
	data := p.Data()
	s := &data.Streams[i]
	if s.Pending == nil || s.Pending.Since == 0 || s.Trace == nil || s.Trace.Untimed != 0 || j.To != 0 || j.From > s.Events {
		return 0, 0, false
	}
	from, to = max(s.Pending.InRun(data), after), data.LatestEndInRun(j.Run.Meta.Ended-j.Run.Meta.Started)
	return from, to, from < to && j.Time.Has(from, to)
}

// progressEvery is the number of events after which progress is shown.
const progressEvery = 1 << 12

// Walk writes the selected events of Data().Streams[i] of a process, and tells how far it is.
func (j *Job) Walk(p *reconstruct.Process, i int, w Walk) error {
	opt := reconstruct.Options{From: j.From, To: j.To, Issues: w.Issues}
	all := w.Follower.NeedsAll()
	if all {
		opt.From = 0
	}
	done := uint64(0)
	for e, err := range p.Events(i, opt) {
		if err != nil {
			return err
		}
		if done++; done%progressEvery == 0 {
			if err := j.Done(progressEvery); err != nil {
				return err
			}
		}
		start, end, timed := e.Times()
		if !timed && w.Timed || timed && j.Time != nil && start >= j.Time.To {
			break
		}
		switch {
		case e.Seq >= j.From && (j.Time == nil || timed && j.Time.Has(start, end)):
			err = w.Write(e, start, end, timed)
		case all:
			_, err = w.Follower.Call(e)
		}
		if err != nil {
			return err
		}
	}
	return j.Done(done % progressEvery)
}
