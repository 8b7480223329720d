package daemon

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/merge"
)

// joining is a launch of which this machine has a part and which is not merged yet.
type joining struct {
	next time.Time
	wait time.Duration
}

const (
	firstLook   = time.Second
	longestLook = time.Minute
	// settle is how long to wait for other machines' parts before merging the existing ones; if
	// the first machine does not merge them, the next one takes over.
	settle   = 10 * time.Minute
	takeOver = time.Minute
)

// findJoining resumes, after a start, the launches that are not merged.
func (d *daemon) findJoining() {
	d.joining = map[string]*joining{}
	if _, jobs, err := d.store.contents(); err == nil {
		for name := range jobs {
			d.joining[name] = &joining{}
		}
	}
}

// joinDue merges launches that are due; it is called periodically.
func (d *daemon) joinDue(now time.Time) {
	for name, j := range d.joining {
		if now.Before(j.next) {
			continue
		}
		done, err := d.join(name, now)
		if done {
			delete(d.joining, name)
			continue
		}
		if err != nil {
			d.joinProblems[name] = problem(err)
		} else {
			delete(d.joinProblems, name)
		}
		j.wait = min(max(2*j.wait, firstLook), longestLook)
		j.next = now.Add(j.wait)
	}
	for name, text := range d.joinProblems {
		if d.joining[name] == nil {
			delete(d.joinProblems, name)
			continue
		}
		d.problems = append(d.problems, name+": "+text)
	}
}

// join merges the parts of a launch if all of them exist, or if no more are expected. done
// reports whether this machine has nothing left to do.
func (d *daemon) join(name string, now time.Time) (done bool, err error) {
	l, err := d.store.launch(name)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if x, err := d.store.Summary(name); err == nil && x.allRanks() { // removing the parts was interrupted
		return true, d.store.removeParts(name, x.Parts)
	}
	mine := slices.IndexFunc(l.parts, func(p Summary) bool { return p.Node == d.opt.Node })
	switch {
	case mine < 0:
		return len(l.parts) > 0, nil
	case l.bytes() > d.opt.Merge:
		return true, nil // a user has to merge it
	case !l.whole() && now.Sub(l.newest) < settle+time.Duration(mine)*takeOver:
		return false, nil
	}
	began := time.Now()
	err = d.store.Merge(name, merge.Options{Workers: 1, Tool: d.opt.Tool})
	if errors.Is(err, durable.ErrBusy) {
		return false, nil // another machine is doing it
	}
	if err != nil {
		return false, err
	}
	d.changed = true
	d.opt.Log.Info("merged", "run", name, "parts", len(l.parts), "seconds", time.Since(began).Seconds())
	return true, nil
}

func (l *launch) bytes() (n int64) {
	for i := range l.parts {
		n += l.parts[i].Bytes
	}
	return n
}

// Merge merges the existing parts of a launch into a run file. If all parts exist, and the file
// is in the store, they are removed. Other processes may share the work, according to the
// options; worker 0 writes the result.
func (s *Store) Merge(name string, opt merge.Options) error {
	l, err := s.launch(name)
	if err != nil {
		return err
	}
	if x, err := s.Summary(name); err == nil {
		if up, err := l.upToDate(&x); up || err != nil {
			return err
		}
	}
	if len(l.parts) == 0 {
		return ErrNoRun
	}
	opt.Output = s.RunFile(name)
	result, err := merge.Run(s.files(l), opt)
	if err != nil || !result.Written {
		return err
	}
	sum, err := summarize(name, opt.Output)
	if err != nil {
		return err
	}
	all := l.summary()
	sum.LeftOut, sum.Exit, sum.Parts, sum.Worlds = all.LeftOut, all.Exit, all.Parts, nil
	sum.Complete = sum.Complete && len(sum.LeftOut) == 0
	if err := writeJSON(s.path(name, summaryExt), sum); err != nil {
		return err
	}
	if !sum.allRanks() {
		return nil
	}
	return s.removeParts(name, sum.Parts)
}

// allRanks reports whether nothing can be added to a run.
func (x *Summary) allRanks() bool { return !x.Unmerged && x.Size > 0 && x.Ranks >= x.Size }

func (s *Store) files(l *launch) (list []string) {
	for _, part := range l.names() {
		list = append(list, s.path(l.name+"/"+part, runExt))
	}
	return list
}

// Parts are the existing files of the parts of a launch.
func (s *Store) Parts(name string) ([]string, error) {
	l, err := s.launch(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.files(l), nil
}

// upToDate reports whether a run contains all existing parts. It is an error if parts that it
// contains are gone: they could not be merged again.
func (l *launch) upToDate(x *Summary) (bool, error) {
	for _, part := range l.names() {
		if !slices.Contains(x.Parts, part) {
			for _, old := range x.Parts {
				if !slices.Contains(l.names(), old) {
					return false, fmt.Errorf("%s came after the others were merged; merge the two files by hand", part)
				}
			}
			return false, nil
		}
	}
	return true, nil
}
