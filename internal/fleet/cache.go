package fleet

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/efg-tools/efg/internal/trusted"
)

// Cache keeps what was read of run files, so that each is read once. A nil Cache keeps nothing. What cannot
// be kept is read again.
type Cache struct{ dir, reader string }

// keptFor is how long what is not used is kept.
const keptFor = 90 * 24 * time.Hour

// OpenCache opens the user's cache of what a version of this program read, nil if there is none.
func OpenCache(version string) *Cache {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	dir, err := trusted.Dir(filepath.Join(base, "efg"), 0o755)
	if err != nil {
		return nil
	}
	dir = filepath.Join(dir, "fleet")
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return nil
	}
	return &Cache{dir, version + built()}
}

// built tells builds of one version apart.
func built() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(" ", info.Size(), info.ModTime().UnixNano())
}

// path is the name of what was read of a file, "" if the file cannot be told apart from others.
func (c *Cache) path(file fs.FileInfo) string {
	st, ok := file.Sys().(*syscall.Stat_t)
	if c == nil || !ok {
		return ""
	}
	key := sha256.Sum256(fmt.Append(nil, c.reader, st.Dev, st.Ino, file.Size(), file.ModTime().UnixNano()))
	return filepath.Join(c.dir, fmt.Sprintf("%x.json", key[:16]))
}

// Get returns what was read of a file, without the file's name and user; nil if that is not kept.
func (c *Cache) Get(file fs.FileInfo) *Run {
	path := c.path(file)
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	r := &Run{}
	if json.Unmarshal(text, r) != nil || r.ID == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > keptFor/2 {
		now := time.Now()
		os.Chtimes(path, now, now) // if that fails, it is read again some day
	}
	return r
}

// Put keeps what was read of a file.
func (c *Cache) Put(file fs.FileInfo, r *Run) {
	path := c.path(file)
	if path == "" {
		return
	}
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(c.dir, ".*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// Prune removes what has not been used for long, and what killed processes left.
func (c *Cache) Prune() {
	if c == nil {
		return
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		age := time.Since(info.ModTime())
		if age > keptFor || strings.HasPrefix(e.Name(), ".") && age > time.Hour {
			os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
}
