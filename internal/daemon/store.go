package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/trusted"
)

// Store is the directory of finished runs.
type Store struct{ Dir string }

// Names in the store.
const (
	runExt     = ".efg"
	summaryExt = ".json"
	sealingExt = ".sealing"
	brokenDir  = "broken"
	indexFile  = ".index"
	tokenFile  = ".token"
)

// tidy removes partially written files of a run, or of a part, left by a killed daemon of this
// machine.
func (s *Store) tidy(name string) {
	broken := strings.ReplaceAll(name, "/", ".")
	for _, pattern := range []string{
		filepath.Join(s.Dir, filepath.Dir(name), "."+filepath.Base(name)+".*.tmp"),
		filepath.Join(s.Dir, filepath.Dir(name), "."+filepath.Base(name)+runExt+".tmp"),
		filepath.Join(s.Dir, brokenDir, "."+broken+".*.tmp"),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		for _, f := range files {
			os.Remove(f)
		}
	}
}

// SummaryVersion is the version of Summary's JSON.
const SummaryVersion = 1

// Summary describes a run in a list of runs.
type Summary struct {
	Version int       `json:"version"`
	Name    string    `json:"name"`
	Command []string  `json:"command"`
	MPI     string    `json:"mpi"`
	Host    string    `json:"host"` // of the first process
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"` // of a job whose end a daemon has seen; otherwise the end of its last call
	Ranks   int       `json:"ranks"` // recorded
	Size    int       `json:"size"`  // number of ranks of the job
	Events  uint64    `json:"events"`
	Dropped uint64    `json:"dropped"`
	Bytes   int64     `json:"bytes"`
	// Complete: all ranks and all their events were recorded.
	Complete bool `json:"complete"`
	// Where: a rank was in a call when it ended; efg where tells. Deadlock: with ranks that
	// were blocked forever.
	Where    bool     `json:"where,omitempty"`
	Deadlock bool     `json:"deadlock,omitempty"`
	LeftOut  []string `json:"leftOut,omitempty"` // segments that could not be read, and why
	Exit     *Exit    `json:"exit,omitempty"`
	// Of a launch on several machines: the parts that the run was merged from; or those that
	// exist so far, if Unmerged is set: then there is no run file yet.
	Parts    []string `json:"parts,omitempty"`
	Unmerged bool     `json:"unmerged,omitempty"`
	// Writing are parts that are being written.
	Writing []string `json:"writing,omitempty"`
	// Of a part: its machine and job, and its ranks.
	Node   string  `json:"node,omitempty"`
	Job    string  `json:"job,omitempty"`
	Worlds []World `json:"worlds,omitempty"`
}

// World holds the ranks of an MPI_COMM_WORLD in a part.
type World struct {
	ID    uint64   `json:"id"`
	Size  int      `json:"size"`
	Ranks [][2]int `json:"ranks"` // ranges, first and last, in order
}

// OpenStore opens a store to read, or, if make is set, makes it if it does not exist, and opens
// it for a daemon: then only the user and root may be able to write to it.
func OpenStore(dir string, create bool) (*Store, error) {
	if create {
		_, err := trusted.Dir(dir, 0o700)
		if errors.As(err, new(*trusted.Error)) {
			err = fmt.Errorf("store: %w", err)
		}
		if err != nil {
			return nil, err
		}
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, fmt.Errorf("%s: not a directory", dir)
	}
	abs, err := filepath.Abs(dir)
	return &Store{abs}, err
}

func (s *Store) path(name, ext string) string { return filepath.Join(s.Dir, name+ext) }

// RunFile is the run file of a run.
func (s *Store) RunFile(name string) string { return s.path(name, runExt) }

// TokenFile returns the path of the token file for access over TCP.
func (s *Store) TokenFile() string { return filepath.Join(s.Dir, tokenFile) }

// Has reports whether there is a finished run of exactly this name.
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

// List returns the summaries of all runs, the oldest first, and of launches whose parts are not
// merged. Those that are not in the index are read one by one.
func (s *Store) List() ([]Summary, error) {
	list, _, err := NewLister(s, nil).List()
	return list, err
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

// readIndex reads the summaries that the daemon has collected. It is only a cache: the runs'
// own files are authoritative.
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

func (s *Store) writeIndex(node string, list []Summary) error {
	list = slices.DeleteFunc(list, func(x Summary) bool { return x.Unmerged })
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	e.UseArrayEncodedStructs(true)
	if err := e.Encode(list); err != nil {
		return err
	}
	tmp := s.nodeFile(node, ".index")
	if err := os.WriteFile(tmp, b.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(s.Dir, indexFile))
}

func writeJSON(path string, v any) error {
	return durable.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
}

// ErrNoRun: the store has no run of a name.
var ErrNoRun = errors.New("no such run")

// Find returns the name of the run, or of the launch whose parts are not merged, that a name or
// the unique prefix of one stands for; "last" is the newest.
func (s *Store) Find(name string) (string, error) {
	if name == "last" {
		list, err := s.List()
		if err != nil || len(list) == 0 {
			return "", errors.Join(err, ErrNoRun)
		}
		return list[len(list)-1].Name, nil
	}
	names, jobs, err := s.contents()
	if err != nil {
		return "", err
	}
	for j := range jobs {
		if !slices.Contains(names, j) {
			names = append(names, j)
		}
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
	slices.Sort(found)
	return "", fmt.Errorf("%d runs begin like this: %s", len(found), strings.Join(found[:min(len(found), 5)], ", "))
}

// remove removes a run in such an order that what remains is not a run at any moment. Another
// machine's daemon may do the same.
func (s *Store) remove(name string) error {
	err := s.removeLaunch(name)
	for _, ext := range []string{runExt, summaryExt} {
		err = errors.Join(err, removeFile(s.path(name, ext)))
	}
	return err
}

// removeFile ensures that a file does not exist.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// summarize reads the content of a new run file.
func summarize(name, file string) (*Summary, error) {
	run, err := runfile.OpenRun(file)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	x := Summarize(name, run)
	if x.Where {
		if j, err := live.OfRun(run); err == nil {
			x.Deadlock = len(live.NewJobState(j).Deadlocks) > 0
		}
	}
	x.Worlds = worldsOf(run)
	return x, nil
}

// Summarize returns the summary of a run with a name, except for Deadlock.
func Summarize(name string, run *runfile.Run) *Summary {
	x := &Summary{
		Version: SummaryVersion, Name: name, Command: run.Meta.Command, Started: time.Unix(0, run.Meta.Started).UTC(),
		Ended: time.Unix(0, max(run.Meta.Started, run.Meta.Ended)).UTC(),
		Ranks: len(run.Procs), Bytes: int64(run.Size()), Complete: true, Where: live.EndedInCall(run),
	}
	for i := range run.Procs {
		p := &run.Procs[i]
		if i == 0 {
			x.MPI, x.Host = p.MPI, p.Host
		}
		for k := range p.Streams {
			x.Events += p.Streams[k].Events
			x.Dropped += p.Streams[k].Dropped
			x.Complete = x.Complete && p.Streams[k].Complete()
		}
	}
	for _, w := range worldsOf(run) {
		x.Size += w.Size
	}
	x.Complete = x.Complete && x.Ranks >= x.Size
	return x
}
