package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/live"
)

// Store is the folder of finished runs.
type Store struct{ Dir string }

// DefaultStore is $EFG_STORE, or efg in the user's state folder.
func DefaultStore() (string, error) {
	if dir := os.Getenv("EFG_STORE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "efg"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the store: %w; set EFG_STORE", err)
	}
	return filepath.Join(home, ".local", "state", "efg"), nil
}

// Names in the store.
const (
	runExt     = ".efg"
	summaryExt = ".json"
	sealingExt = ".sealing"
	brokenDir  = "broken"
	indexFile  = ".index"
	stateFile  = ".state"
	lockFile   = ".lock"
	tokenFile  = ".token"
)

// SummaryVersion is the version of Summary's JSON.
const SummaryVersion = 1

// Summary is what a list of runs tells of one.
type Summary struct {
	Version int       `json:"version"`
	Name    string    `json:"name"`
	Command []string  `json:"command"`
	MPI     string    `json:"mpi"`
	Host    string    `json:"host"` // of the first process
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"` // last call, as far as it is known
	Ranks   int       `json:"ranks"` // recorded
	Size    int       `json:"size"`  // that the job had
	Events  uint64    `json:"events"`
	Dropped uint64    `json:"dropped"`
	Bytes   int64     `json:"bytes"`
	// Complete: all ranks are there, and all their events.
	Complete bool `json:"complete"`
	// Where: a rank was in a call when it ended; efg where tells. Deadlock: with ranks
	// that could never have gone on.
	Where    bool     `json:"where,omitempty"`
	Deadlock bool     `json:"deadlock,omitempty"`
	LeftOut  []string `json:"leftOut,omitempty"` // segments that could not be read, and why
}

// OpenStore opens a store, and makes it if make is set.
func OpenStore(dir string, make bool) (*Store, error) {
	if make {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", dir)
	}
	abs, err := filepath.Abs(dir)
	return &Store{abs}, err
}

func (s *Store) path(name, ext string) string { return filepath.Join(s.Dir, name+ext) }

// RunFile is the run file of a run.
func (s *Store) RunFile(name string) string { return s.path(name, runExt) }

// TokenFile is where the token is that lets people ask the daemon over TCP.
func (s *Store) TokenFile() string { return filepath.Join(s.Dir, tokenFile) }

// Has tells whether there is a finished run of exactly this name.
func (s *Store) Has(name string) bool {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\x00") {
		return false
	}
	for _, ext := range []string{runExt, summaryExt} {
		if _, err := os.Lstat(s.path(name, ext)); err != nil {
			return false
		}
	}
	return true
}

// lock makes this process the only daemon of the store, until it ends.
func (s *Store) lock() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: another daemon works with this store", s.Dir)
	}
	return f, nil
}

// tidy removes what a killed daemon has begun to write; the lock must be held.
func (s *Store) tidy() {
	for _, pattern := range []string{".*.tmp", brokenDir + "/.*.tmp"} {
		files, err := filepath.Glob(filepath.Join(s.Dir, pattern))
		if err != nil {
			continue
		}
		for _, f := range files {
			os.Remove(f)
		}
	}
}

// Served tells whether a daemon works with the store.
func (s *Store) Served() bool {
	f, err := os.Open(filepath.Join(s.Dir, lockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// List returns the summaries of all runs, the oldest first. Those that the index has
// not are read one by one.
func (s *Store) List() ([]Summary, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	index := s.readIndex()
	list := make([]Summary, 0, len(names))
	for _, name := range names {
		x, ok := index[name]
		if !ok {
			if x, err = s.Summary(name); err != nil {
				continue // just being sealed, or removed
			}
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b Summary) int { return a.Started.Compare(b.Started) })
	return list, nil
}

// names lists the finished runs.
func (s *Store) names() ([]string, error) {
	d, err := os.Open(s.Dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	all, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(all))
	for _, n := range all {
		has[n] = true
	}
	var names []string
	for _, n := range all {
		if name, ok := strings.CutSuffix(n, runExt); ok && !strings.HasPrefix(n, ".") && has[name+summaryExt] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Summary reads the summary of a run.
func (s *Store) Summary(name string) (x Summary, err error) {
	data, err := os.ReadFile(s.path(name, summaryExt))
	if err == nil {
		err = json.Unmarshal(data, &x)
	}
	x.Name = name
	return x, err
}

// readIndex reads the summaries that the daemon has put together. It is only a help:
// the runs' own files count.
func (s *Store) readIndex() map[string]Summary {
	data, err := os.ReadFile(filepath.Join(s.Dir, indexFile))
	var list []Summary
	if err != nil || msgpack.Unmarshal(data, &list) != nil {
		return nil
	}
	index := make(map[string]Summary, len(list))
	for _, x := range list {
		index[x.Name] = x
	}
	return index
}

func (s *Store) writeIndex() error {
	list, err := s.List()
	if err != nil {
		return err
	}
	return durable.Write(filepath.Join(s.Dir, indexFile), func(w io.Writer) error {
		e := msgpack.NewEncoder(w)
		e.UseArrayEncodedStructs(true)
		return e.Encode(list)
	})
}

func writeJSON(path string, v any) error {
	return durable.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
}

// ErrNoRun: the store has no run of a name.
var ErrNoRun = errors.New("no such run")

// Find returns the name of the run that a name or the unambiguous beginning of one
// stands for; "last" is the newest.
func (s *Store) Find(name string) (string, error) {
	names, err := s.names()
	if err != nil {
		return "", err
	}
	if name == "last" && len(names) > 0 {
		list, err := s.List()
		if err != nil || len(list) == 0 {
			return "", errors.Join(err, ErrNoRun)
		}
		return list[len(list)-1].Name, nil
	}
	var found []string
	for _, n := range names {
		if n == name {
			return n, nil
		}
		if strings.HasPrefix(n, name) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return "", ErrNoRun
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%d runs begin like this: %s", len(found), strings.Join(found[:min(len(found), 5)], ", "))
}

// remove removes a run, so that what is left at any moment is no run.
func (s *Store) remove(name string) error {
	err := os.Remove(s.path(name, runExt))
	if e := os.Remove(s.path(name, summaryExt)); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// retain removes the runs that ended before keep ago, and then the oldest, until the
// rest has at most so many bytes; 0 stands for no bound.
func (s *Store) retain(now time.Time, keep time.Duration, most int64) (removed []string, err error) {
	list, err := s.List()
	if err != nil {
		return nil, err
	}
	var total int64
	for i := range list {
		total += list[i].Bytes
	}
	for i := range list {
		x := &list[i]
		old := keep > 0 && now.Sub(x.Ended) > keep
		if !old && (most <= 0 || total <= most) {
			continue
		}
		if e := s.remove(x.Name); e != nil {
			err = errors.Join(err, e)
			continue
		}
		total -= x.Bytes
		removed = append(removed, x.Name)
	}
	return removed, err
}

// summarize reads what a new run file holds.
func summarize(name, file string) (*Summary, error) {
	run, err := efg.OpenRun(file)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	x := Summarize(name, run)
	if x.Where {
		if j, err := live.OfRun(run); err == nil {
			x.Deadlock = len(live.NewRollCall(j).Deadlocks) > 0
		}
	}
	return x, nil
}

// Summarize sums up a run that goes by a name, but for whether it was a deadlock.
func Summarize(name string, run *efg.Run) *Summary {
	x := &Summary{
		Version: SummaryVersion, Name: name, Command: run.Meta.Command, Started: time.Unix(0, run.Meta.Started).UTC(),
		Ended: time.Unix(0, max(run.Meta.Started, run.Meta.Ended)).UTC(),
		Ranks: len(run.Procs), Bytes: int64(run.Size()), Complete: true, Where: live.EndedInCall(run),
	}
	sizes := map[uint64]int{}
	for i := range run.Procs {
		p := &run.Procs[i]
		if i == 0 {
			x.MPI, x.Host = p.MPI, p.Host
		}
		sizes[p.World] = max(sizes[p.World], p.Size)
		for k := range p.Streams {
			x.Events += p.Streams[k].Events
			x.Dropped += p.Streams[k].Dropped
			x.Complete = x.Complete && p.Streams[k].Complete()
		}
	}
	for _, n := range sizes {
		x.Size += n
	}
	x.Complete = x.Complete && x.Ranks >= x.Size
	return x
}
