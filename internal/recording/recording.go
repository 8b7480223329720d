// Package recording keeps the directories into which efg run records, from the first segment to
// the run file. A file in each says what is recorded and where the run file goes; it is locked
// while its efg run is running. An unlocked one belongs to an efg run that was killed, or that
// could not write the run file: the recording can be finished later.
package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/segment"
)

const (
	prefix   = "efg-"
	infoFile = "recording.json"
	// roomForSegments is the amount of memory that must be free to put segments there.
	roomForSegments = 32 << 20
)

// memory is where directories are created if there is room; tests change it.
var memory = "/dev/shm"

// Info describes a recording.
type Info struct {
	Output  string   `json:"output"` // the run file, an absolute path
	Tool    string   `json:"tool"`
	Command []string `json:"command"`
	Started int64    `json:"started"` // Unix time, ns
	// What was recorded, see efg.Meta.
	Time     string   `json:"time"`
	Polls    string   `json:"polls,omitempty"`
	Queries  bool     `json:"queries,omitempty"`
	Buffers  bool     `json:"buffers,omitempty"`
	CallPath int      `json:"callpath,omitempty"`
	Counters []string `json:"counters,omitempty"`
	// Processors are those that the command may use, see efg.Meta.
	Processors []string `json:"processors,omitempty"`
}

// meta is the metadata of the run before it has ended.
func (x *Info) meta() runfile.Meta {
	return runfile.Meta{
		Tool: x.Tool, Command: x.Command, Started: x.Started, StatusUnknown: true,
		Time: x.Time, Polls: x.Polls, Queries: x.Queries, Buffers: x.Buffers, CallPath: x.CallPath,
		Counters: x.Counters, Processors: x.Processors,
	}
}

// Directory is a directory of segments that only this process may seal.
type Directory struct {
	Path string
	Info Info
	lock *os.File          // the info file
	gone map[string]uint64 // see Follow
	// forget are file descriptors that are closed last, see follower.rest.
	forget []int
}

// Create creates a private directory: in memory if there is space, otherwise in TMPDIR.
func Create(info Info) (*Directory, error) {
	base := os.TempDir()
	var st syscall.Statfs_t
	if syscall.Statfs(memory, &st) == nil && st.Bavail*uint64(st.Bsize) >= roomForSegments {
		base = memory
	}
	path, err := os.MkdirTemp(base, prefix)
	if err != nil && base != os.TempDir() {
		path, err = os.MkdirTemp("", prefix)
	}
	if err != nil {
		return nil, err
	}
	d := &Directory{Path: path, Info: info}
	if err := d.describe(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return d, nil
}

// describe writes the info file, which is locked before any process can read it.
func (d *Directory) describe() error {
	var err error
	if d.Info.Output, err = filepath.Abs(d.Info.Output); err != nil {
		return err
	}
	data, err := json.Marshal(&d.Info)
	if err != nil {
		return err
	}
	if d.lock, err = os.OpenFile(filepath.Join(d.Path, infoFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	if err = lock(d.lock); err == nil {
		_, err = d.lock.Write(data)
	}
	if err != nil {
		d.lock.Close()
	}
	return err
}

// lock locks a file; on file systems without locks it does nothing.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return nil
	}
	return err
}

var (
	// ErrInUse: the efg run that records there is running, or another process is finishing it.
	ErrInUse = errors.New("its efg run is still running")
	// ErrNone: the directory holds no unfinished recording of an efg run.
	ErrNone = errors.New("holds no unfinished recording of efg run")
)

// Open opens a directory that an efg run left behind.
func Open(path string) (*Directory, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() || segment.CheckOwner(fi) != nil || fi.Mode().Perm()&0o077 != 0 {
		return nil, ErrNone
	}
	f, err := os.OpenFile(filepath.Join(path, infoFile), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	d := &Directory{Path: path, lock: f}
	if err := d.read(); err != nil {
		f.Close()
		return nil, err
	}
	return d, nil
}

func (d *Directory) read() error {
	err := lock(d.lock)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	if err == nil {
		err = json.NewDecoder(d.lock).Decode(&d.Info)
	}
	if err != nil || d.Info.Output == "" {
		return fmt.Errorf("%w (%s: %v)", ErrNone, infoFile, err)
	}
	return nil
}

// Abandoned opens the directories that efg runs of this user left behind, the oldest first.
func Abandoned() []*Directory {
	var list []*Directory
	for _, base := range Bases() {
		entries, err := os.ReadDir(base)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), prefix) || !e.IsDir() {
				continue
			}
			if d, err := Open(filepath.Join(base, e.Name())); err == nil {
				list = append(list, d)
			}
		}
	}
	slices.SortFunc(list, func(a, b *Directory) int { return cmp.Compare(a.Info.Started, b.Info.Started) })
	return list
}

// Bases are the directories in which efg run creates its own.
func Bases() []string {
	return slices.Compact([]string{memory, filepath.Clean(os.TempDir())})
}

// Segments lists the segments in a directory.
func (d *Directory) Segments() ([]string, error) {
	return filepath.Glob(filepath.Join(d.Path, "*.seg"))
}

// BeingWritten reports whether processes still record into the directory.
func (d *Directory) BeingWritten() bool {
	files, err := d.Segments()
	return err == nil && slices.ContainsFunc(files, segment.BeingWritten)
}

// Started is when the command began.
func (d *Directory) Started() time.Time { return time.Unix(0, d.Info.Started) }

// Close lets others open the directory; its contents stay.
func (d *Directory) Close() error {
	for _, fd := range d.forget {
		unix.Close(fd)
	}
	return d.lock.Close()
}

// Keep leaves the segments to the user: the directory is no longer an unfinished recording.
func (d *Directory) Keep() error {
	return errors.Join(os.Remove(filepath.Join(d.Path, infoFile)), d.Close())
}

// Remove removes the directory and its contents.
func (d *Directory) Remove() error { return errors.Join(os.RemoveAll(d.Path), d.Close()) }
