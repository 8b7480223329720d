package daemon

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/segment"
)

// The parts of a launch on several machines are in a directory of the store that has the name
// of the run: part-NODE.efg, part-NODE.json. The machine that seals the first part creates the
// directory, and a claim that informs the others: a file with the launch's name in the
// directory ".jobs". The claim is removed when the run is complete.
const (
	jobsDir    = ".jobs"
	partPrefix = "part-"
)

// claim says where the parts of a launch are.
type claim struct {
	Name    string    `json:"name"`
	Job     string    `json:"job"`
	Started time.Time `json:"started"` // of the first part
}

// apart is how far apart the parts of a launch may begin on different machines, if its name
// could be reused. (Those of Slurm and of the user are unique.)
const apart = 10 * time.Minute

// shared is the name of the launch, the same on all its machines, if it has or may have
// processes on others; otherwise "". It consists of the launcher's name for it and the world of
// the first process: a machine with only processes of MPI_Comm_spawn is a launch of its own.
func (j *Job) shared() string {
	var first *segment.Header
	several, unknown := false, false
	for _, s := range j.Segments {
		h := &s.Header
		if !s.Begun || h.Job[0] == 0 {
			continue
		}
		if first == nil || h.StartReal < first.StartReal {
			first = h
		}
		several = several || h.Machines == 2
		unknown = unknown || h.Machines == 0
	}
	if several || unknown && !j.whole() {
		return fmt.Sprintf("%s %x/%d", cText(first.Job[:]), first.World, first.Size)
	}
	return ""
}

// cText is a text that ends at a NUL.
func cText(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// beginPart finds the directory of the launch and writes the list for this machine's part.
func (x *sealer) beginPart(s *sealing, j *Job) error {
	if err := makeDir(filepath.Join(x.store.Dir, jobsDir)); err != nil {
		return err
	}
	base := filepath.Join(x.store.Dir, jobsDir, claimName(s.Job))
	claims, err := filepath.Glob(base + "*") // the name may have been used before
	if err != nil {
		return err
	}
	for _, path := range claims {
		if c, err := x.store.readClaim(path); err == nil && c != nil {
			if ok, err := x.join(s, c, j); ok || err != nil {
				return err
			}
		}
	}
	return numbered(base, "-", func(path string) (bool, error) {
		if slices.Contains(claims, path) {
			return false, nil
		}
		c, err := x.claim(path, s.Job, j)
		if err != nil {
			return false, err
		}
		return x.join(s, c, j)
	})
}

// join writes the list of a part into the directory of a launch, if the launch accepts it.
func (x *sealer) join(s *sealing, c *claim, j *Job) (ok bool, err error) {
	if c.Job != s.Job || !x.store.takes(c, j) {
		return false, nil
	}
	err = numbered(c.Name+"/"+partPrefix+x.node, ".", func(part string) (bool, error) {
		if taken, err := x.store.taken(part); taken || err != nil {
			return false, err
		}
		s.Name = part
		return x.list(s)
	})
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // merged and removed meanwhile
	}
	return err == nil, err
}

// claimName makes a file name from the name of a launch.
func claimName(job string) string {
	text := plainName(job)
	return fmt.Sprintf("%s-%016x", text[:min(len(text), 60)], xxhash.Sum64String(job))
}

// claim reads the claim of a launch, or creates it together with a directory.
func (x *sealer) claim(path, job string, j *Job) (*claim, error) {
	c, err := x.store.readClaim(path)
	if c != nil || err != nil {
		return c, err
	}
	c = &claim{Job: job, Started: j.Started()}
	err = numbered(j.Name(), "-", func(try string) (bool, error) {
		taken, err := x.store.taken(try)
		if taken || err != nil {
			return false, err
		}
		c.Name = try
		if err := os.Mkdir(x.store.path(try, ""), 0o700); err != nil {
			if errors.Is(err, os.ErrExist) {
				err = nil
			}
			return false, err
		}
		if taken, err = x.store.taken(try, ""); taken || err != nil {
			return false, errors.Join(err, os.Remove(x.store.path(try, "")))
		}
		return true, durable.SyncDir(x.store.Dir)
	})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	err = durable.WriteNew(x.store.nodeFile(x.node, ".new"), path, data)
	if err == nil {
		return c, nil
	}
	os.Remove(x.store.path(c.Name, ""))
	if errors.Is(err, os.ErrExist) {
		if c, err = x.store.readClaim(path); c == nil && err == nil {
			err = fmt.Errorf("%s: comes and goes", path)
		}
		return c, err
	}
	return nil, err
}

// readClaim reads a claim; nil if there is none, or if its directory is gone.
func (s *Store) readClaim(path string) (*claim, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	c := &claim{}
	if err == nil {
		err = json.Unmarshal(data, c)
	}
	if err == nil && (c.Name == "" || c.Name != plainName(c.Name)) {
		err = errors.New("not a name of a run")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := os.Stat(s.path(c.Name, "")); errors.Is(err, os.ErrNotExist) {
		return nil, removeFile(path)
	}
	return c, nil
}

func (w World) same(x World) bool { return w.ID == x.ID && w.Size == x.Size }

// takes reports whether a job can be a part of the launch: no other part has one of its
// ranks.
func (s *Store) takes(c *claim, j *Job) bool {
	certain := strings.HasPrefix(c.Job, "slurm ") || strings.HasPrefix(c.Job, "efg ")
	if !certain && c.Started.Sub(j.Started()).Abs() > apart {
		return false
	}
	l, err := s.launch(c.Name)
	if err != nil || l.whole() {
		return false
	}
	for _, g := range j.Segments {
		h := &g.Header
		if g.Begun && h.Rank >= 0 && l.has(World{ID: h.World, Size: int(h.Size)}, int(h.Rank)) {
			return false
		}
	}
	return true
}

// launch is the content of a directory of parts.
type launch struct {
	name    string
	parts   []Summary // by name
	writing []string
	newest  time.Time // of the parts
}

// launch reads the summaries of parts.
func (s *Store) launch(name string) (*launch, error) {
	entries, err := os.ReadDir(s.path(name, ""))
	if err != nil {
		return nil, err
	}
	l := &launch{name: name}
	has := map[string]bool{}
	for _, e := range entries {
		has[e.Name()] = true
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partPrefix) {
			continue
		}
		if part, ok := strings.CutSuffix(e.Name(), sealingExt); ok && !has[part+summaryExt] {
			l.writing = append(l.writing, part)
		}
		part, ok := strings.CutSuffix(e.Name(), runExt)
		if !ok || !has[part+summaryExt] {
			continue
		}
		x, err := s.Summary(name + "/" + part)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", name, part, err)
		}
		x.Name = part
		l.parts = append(l.parts, x)
		if info, err := e.Info(); err == nil && info.ModTime().After(l.newest) {
			l.newest = info.ModTime()
		}
	}
	return l, nil
}

// has reports whether a part has a rank of a world.
func (l *launch) has(w World, rank int) bool {
	for i := range l.parts {
		for _, x := range l.parts[i].Worlds {
			if x.same(w) && slices.ContainsFunc(x.Ranks, func(r [2]int) bool { return r[0] <= rank && rank <= r[1] }) {
				return true
			}
		}
	}
	return false
}

// ranks counts the existing ranks and the expected ones.
func (l *launch) ranks() (have, want int) {
	type id struct {
		world uint64
		size  int
	}
	seen := map[id]bool{}
	for i := range l.parts {
		for _, w := range l.parts[i].Worlds {
			for _, r := range w.Ranks {
				have += r[1] - r[0] + 1
			}
			if x := (id{w.ID, w.Size}); !seen[x] {
				seen[x] = true
				want += w.Size
			}
		}
	}
	return have, want
}

// whole reports whether all ranks exist.
func (l *launch) whole() bool {
	have, want := l.ranks()
	return want > 0 && have >= want && len(l.writing) == 0
}

func (l *launch) names() (list []string) {
	for i := range l.parts {
		list = append(list, l.parts[i].Name)
	}
	return list
}

// Unmerged summarises a launch whose parts are not merged; ok is false if there is none.
func (s *Store) Unmerged(name string) (x Summary, ok bool) {
	if _, err := os.Lstat(s.path(name, summaryExt)); err == nil {
		return x, false
	}
	l, err := s.launch(name)
	if err != nil || len(l.parts) == 0 {
		return x, false
	}
	return l.summary(), true
}

// summary combines the summaries of the parts.
func (l *launch) summary() Summary {
	first := slices.MinFunc(l.parts, func(a, b Summary) int { return a.Started.Compare(b.Started) })
	x := Summary{
		Version: SummaryVersion, Name: l.name, Command: first.Command, MPI: first.MPI, Host: first.Host, Started: first.Started,
		Unmerged: true, Parts: l.names(), Writing: l.writing,
	}
	x.Ranks, x.Size = l.ranks()
	for i := range l.parts {
		p := &l.parts[i]
		x.Events, x.Dropped, x.Bytes = x.Events+p.Events, x.Dropped+p.Dropped, x.Bytes+p.Bytes
		x.Exit = x.Exit.join(p.Exit)
		x.Deadlock, x.LeftOut = x.Deadlock || p.Deadlock, append(x.LeftOut, p.LeftOut...)
		if p.Ended.After(x.Ended) {
			x.Ended = p.Ended
		}
	}
	return x
}

// removeParts removes the claim of a launch, and parts of it.
func (s *Store) removeParts(name string, parts []string) error {
	claims, _ := filepath.Glob(filepath.Join(s.Dir, jobsDir, "*"))
	for _, path := range claims {
		if c, err := s.readClaim(path); err == nil && c != nil && c.Name == name {
			if err := removeFile(path); err != nil {
				return err
			}
		}
	}
	for _, part := range parts {
		if part != filepath.Base(part) {
			return fmt.Errorf("%s: no name of a part", part)
		}
		for _, ext := range []string{runExt, summaryExt} {
			if err := removeFile(s.path(name+"/"+part, ext)); err != nil {
				return err
			}
		}
	}
	os.Remove(s.path(name, "")) // unless it contains something else
	return nil
}

// removeLaunch removes a launch with the parts that exist.
func (s *Store) removeLaunch(name string) error {
	l, err := s.launch(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.removeParts(name, l.names())
}

// tidyDirs removes empty directories without parts.
func (s *Store) tidyDirs(now time.Time) {
	_, jobs, err := s.contents()
	if err != nil {
		return
	}
	for name := range jobs {
		if fi, err := os.Stat(s.path(name, "")); err == nil && now.Sub(fi.ModTime()) > maintenance {
			os.Remove(s.path(name, "")) // fails if it is not empty
		}
	}
}

// worldsOf says which ranks of which worlds a run has.
func worldsOf(run *runfile.Run) []World {
	type id struct {
		world uint64
		size  int
	}
	at := map[id]int{}
	var list []World
	ranks := [][]int{}
	for i := range run.Procs {
		p := &run.Procs[i]
		x := id{p.World, p.Size}
		k, ok := at[x]
		if !ok {
			k = len(list)
			at[x] = k
			list, ranks = append(list, World{ID: p.World, Size: p.Size}), append(ranks, nil)
		}
		if r := p.InWorld(); r >= 0 {
			ranks[k] = append(ranks[k], r)
		}
	}
	for k := range list {
		list[k].Ranks = ranges(ranks[k])
	}
	slices.SortFunc(list, func(a, b World) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Size, b.Size)) })
	return list
}

// ranges combines numbers into ranges.
func ranges(list []int) [][2]int {
	slices.Sort(list)
	out := [][2]int{}
	for _, n := range list {
		if k := len(out) - 1; k >= 0 && n <= out[k][1]+1 {
			out[k][1] = n
		} else {
			out = append(out, [2]int{n, n})
		}
	}
	return out
}

// makeDir creates a directory, which may exist already.
func makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
