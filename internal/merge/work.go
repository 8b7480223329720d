package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/durable"
)

// For chunk 7, the work directory contains 7.part, a run file of what is in the chunk, and then
// 7.done, the report about it. For worker 2 it contains alive-2, which is touched while the
// worker works, and failed-2 if it has given up.

// outcome is the content of a .done file.
type outcome struct {
	HasPart bool     `json:"part"`
	LeftOut []string `json:"leftOut,omitempty"`
	Running []string `json:"running,omitempty"`
}

// timing holds the intervals and timeouts of workers.
type timing struct {
	poll  time.Duration // between checks of the others
	touch time.Duration // between heartbeats
	stale time.Duration // without a heartbeat before a worker counts as dead
	first time.Duration // until worker 0 starts
}

func (t timing) orDefault() timing {
	if t == (timing{}) {
		return timing{100 * time.Millisecond, 5 * time.Second, 30 * time.Second, time.Minute}
	}
	return t
}

func (m *merger) partFile(c *chunk) string {
	return filepath.Join(m.work, fmt.Sprintf("%d.part", c.number))
}

func (m *merger) doneFile(c *chunk) string {
	return filepath.Join(m.work, fmt.Sprintf("%d.done", c.number))
}

func (m *merger) workerFile(what string, worker int) string {
	return filepath.Join(m.work, fmt.Sprintf("%s-%d", what, worker))
}

// needsDir reports whether there is anything to put in a work directory.
func (m *merger) needsDir() bool {
	for i := range m.plan.chunks {
		if c := &m.plan.chunks[i]; !c.isPart() && (c.kind == segmentFile || m.opt.Workers > 1) {
			return true
		}
	}
	return false
}

// makeWorkDir creates the work directory, or finds an earlier one.
func (m *merger) makeWorkDir() error {
	if m.findWorkDir() || !m.needsDir() {
		return nil
	}
	var err error
	for _, dir := range m.plan.dirs {
		m.work = filepath.Join(dir, m.plan.name)
		if err = os.Mkdir(m.work, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
			return nil
		}
	}
	return fmt.Errorf("cannot create a work directory: %w", err)
}

func (m *merger) findWorkDir() bool {
	for _, dir := range m.plan.dirs {
		m.work = filepath.Join(dir, m.plan.name)
		if st, err := os.Stat(m.work); err == nil && st.IsDir() {
			return true
		}
	}
	return false
}

// cleanUp removes the work directory, and those left behind by abandoned merges to the same
// output.
func (m *merger) cleanUp() {
	for _, dir := range m.plan.dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), m.plan.family) {
				removeDir(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// removeDir removes a directory in which a worker that was considered dead may still create
// files.
func removeDir(path string) {
	for range 3 {
		if os.RemoveAll(path) == nil {
			return
		}
	}
}

// dropUseless removes the work directory after a failure if it contains nothing that can be
// reused, and no other worker will use it.
func (m *merger) dropUseless() {
	shared := slices.ContainsFunc(m.plan.chunks, func(c chunk) bool { return !m.own(&c) && !m.isDirect(&c) })
	done, err := filepath.Glob(filepath.Join(m.work, "*.done"))
	if err == nil && len(done) == 0 && !shared {
		removeDir(m.work)
	}
}

// finished returns the outcome of a chunk that has been made. A chunk with broken files counts
// as made if they may be omitted.
func (m *merger) finished(c *chunk) (o outcome, ok bool) {
	data, err := readFile(m.doneFile(c))
	if err != nil || json.Unmarshal(data, &o) != nil || len(o.LeftOut) > 0 && !m.opt.SkipBroken {
		return o, false
	}
	if o.HasPart {
		run, err := runfile.OpenRun(m.partFile(c))
		if err != nil {
			return o, false
		}
		run.Close()
	}
	return o, true
}

// readFile reads a small file. (Opening a file makes network file systems check whether it
// exists.)
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 64<<20))
}

// isDirect reports whether a chunk's files are merged as they are. A single worker gains
// nothing from making a part first.
func (m *merger) isDirect(c *chunk) bool {
	if c.isPart() {
		return true
	}
	if c.kind == segmentFile || m.opt.Workers > 1 {
		return false
	}
	_, ok := m.finished(c)
	return !ok
}

// ensure makes a chunk that does not exist yet.
func (m *merger) ensure(c *chunk) error {
	if m.isDirect(c) {
		return nil
	}
	if _, ok := m.finished(c); ok {
		return nil
	}
	o, err := m.make(c)
	if err != nil {
		return err
	}
	return durable.Write(m.doneFile(c), func(w io.Writer) error { return json.NewEncoder(w).Encode(o) })
}

// make makes the part of a chunk.
func (m *merger) make(c *chunk) (*outcome, error) {
	out, err := durable.Create(m.partFile(c))
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	if c.kind == segmentFile {
		return m.makeOfSegments(c, out, (*runfile.Writer).EncodePart)
	}
	left, err := m.write(out, c.paths(), (*runfile.Writer).EncodeMergedPart)
	if err != nil {
		return nil, explain(err, nil)
	}
	return &outcome{HasPart: len(left) < len(c.inputs), LeftOut: left}, nil
}
