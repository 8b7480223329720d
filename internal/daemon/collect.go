package daemon

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/segment"
)

// collecting makes a run file of those of a job's segments that can be read, and fit
// together.
type collecting struct {
	*sealer
	name, file string
	exit       *Exit
	good       []string // files that the run is made of
	leftOut    []string // what is wrong with the others
}

// run makes the file of all segments, or else of copies of them: somebody might change what
// is in the spool, so that what was good is not any more when the others have been looked at.
func (c *collecting) run(paths []string) error {
	defer os.RemoveAll(c.translations())
	paths, err := c.translate(paths)
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
	copies, err := copyBegun(paths, c.copies())
	if err != nil {
		return err
	}
	return c.add(copies)
}

// add adds what can be added of the files, and puts aside what cannot. One that does not fit
// is found by halves: most others are then read only a few times.
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
		c.leftOut = append(c.leftOut, err.Error())
		return c.putAside(paths[0])
	}
	half := len(paths) / 2
	if err := c.add(paths[:half]); err != nil {
		return err
	}
	return c.add(paths[half:])
}

func (c *collecting) merge(paths []string) error {
	opt := merge.Options{Output: c.file, Workers: 1, Tool: c.tool, Discard: true}
	if c.exit != nil {
		opt.Launcher, opt.Status = c.exit.Launcher, c.exit.Status
	}
	_, err := merge.Run(paths, opt)
	return err
}

// putAside keeps a file in a folder of the store: what is in it may be of use to somebody.
func (c *collecting) putAside(path string) error {
	dir := filepath.Join(c.store.Dir, brokenDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return copyFile(path, filepath.Join(dir, strings.ReplaceAll(c.name, "/", ".")+"."+filepath.Base(path)))
}

// isSystem tells that files could not be read or written, for which the files' content is
// no reason: it may work later.
func isSystem(err error) bool { return errors.As(err, new(syscall.Errno)) }

// copyBegun copies the segments into which something was recorded.
func copyBegun(paths []string, dir string) (copies []string, err error) {
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	for _, path := range paths {
		to := filepath.Join(dir, filepath.Base(path))
		if err := copyFile(path, to); err != nil {
			return nil, err
		}
		begun, err := segment.HasBegun(to)
		if err != nil {
			return nil, err
		}
		if begun {
			copies = append(copies, to)
		}
	}
	return copies, nil
}

func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return durable.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
