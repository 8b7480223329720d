package daemon

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/segment"
)

// collecting writes a run file from those segments of a job that can be read and fit together.
type collecting struct {
	*sealer
	name, file string
	exit       *Exit
	gone       int64    // see sealing
	good       []string // files from which the run is made
	leftOut    []string // what is wrong with the others
}

// run writes the file from all segments, or else from copies of them, because segments in the
// spool may change between being checked and being read.
func (c *collecting) run(paths []string) error {
	defer os.RemoveAll(c.translations())
	paths, err := c.translate(paths)
	if err == nil {
		paths, err = c.selectSegments(paths)
	}
	if err != nil || len(paths) == 0 {
		return err
	}
	if err = c.merge(paths); err == nil {
		c.good = paths
		return nil
	}
	if isSystem(err) {
		return err
	}
	defer os.RemoveAll(c.copies())
	copies, err := c.copyAll(paths)
	if err != nil {
		return err
	}
	return c.add(copies)
}

// selectSegments examines the headers. Segments into which nothing was recorded are dropped.
// Files that are not segments are set aside, because their size says nothing about their
// content.
func (c *collecting) selectSegments(paths []string) (segments []string, err error) {
	for _, path := range paths {
		if filepath.Ext(path) != segmentExt {
			segments = append(segments, path) // run files that another version made from some
			continue
		}
		begun, err := segment.HasBegun(path)
		if err != nil {
			return nil, err
		}
		if !begun {
			continue
		}
		if _, err = segment.ReadHeader(path); err == nil {
			segments = append(segments, path)
			continue
		}
		if isSystem(err) {
			return nil, err
		}
		if err := c.leaveOut(path, fmt.Sprintf("%s: %v", path, errors.Unwrap(err))); err != nil {
			return nil, err
		}
	}
	return segments, nil
}

// leaveOut sets a file aside and records why.
func (c *collecting) leaveOut(path, why string) error {
	c.leftOut = append(c.leftOut, why)
	return c.putAside(path)
}

// add adds the files that can be added, and sets the others aside. One that does not fit is
// found by bisection, so most others are read only a few times.
func (c *collecting) add(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	all := append(append([]string(nil), c.good...), paths...)
	err := c.merge(all)
	switch {
	case err == nil:
		c.good = all
		return nil
	case isSystem(err):
		return err
	case len(paths) == 1:
		return c.leaveOut(paths[0], err.Error())
	}
	half := len(paths) / 2
	if err := c.add(paths[:half]); err != nil {
		return err
	}
	return c.add(paths[half:])
}

func (c *collecting) merge(paths []string) error {
	opt := merge.Options{Output: c.file, Workers: 1, Tool: c.tool, Discard: true, Ended: c.gone, Processors: merge.ProcessorsHere()}
	if c.exit != nil {
		opt.Launcher, opt.Status = c.exit.Launcher, c.exit.Status
	}
	_, err := merge.Run(paths, opt)
	return err
}

// maxAside is the maximum part of a file that is set aside.
const maxAside = 1 << 30

// putAside moves a file to a directory of the store, for inspection.
func (c *collecting) putAside(path string) error {
	dir := filepath.Join(c.store.Dir, brokenDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	to := filepath.Join(dir, strings.ReplaceAll(c.name, "/", ".")+"."+filepath.Base(path))
	if filepath.Dir(path) == c.copies() {
		return os.Rename(path, to)
	}
	return c.copyFile(path, to, math.MaxInt64, maxAside)
}

// isSystem reports whether an error is in reading or writing files, independent of their
// content: a retry may succeed.
func isSystem(err error) bool {
	return errors.As(err, new(syscall.Errno)) || errors.Is(err, durable.ErrStopped)
}

// copyAll copies files; of segments only the used part.
func (c *collecting) copyAll(paths []string) (copies []string, err error) {
	dir := c.copies()
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	for _, path := range paths {
		used := int64(math.MaxInt64)
		if h, err := segment.ReadHeader(path); err == nil {
			used = int64(min(h.Used, segment.MaxFile))
		}
		to := filepath.Join(dir, filepath.Base(path))
		if err := c.copyFile(path, to, used, math.MaxInt64); err != nil {
			return nil, err
		}
		copies = append(copies, to)
	}
	return copies, nil
}

// copyFile copies the first size bytes of a file, but not more than data bytes that are not in
// holes.
func (c *collecting) copyFile(from, to string, size, data int64) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	out, err := durable.Create(to)
	if err != nil {
		return err
	}
	defer out.Discard()
	return out.WriteFile(func(w *os.File) error { return durable.CopySparse(w, f, min(size, st.Size()), data, c.stop) })
}
