package otf2

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Archive is an archive that is read.
type Archive struct {
	Version                       string // of the library that wrote it
	Machine, Creator, Description string
	Properties                    map[string]string
	Definitions                   *Definitions

	dir, name                   string // of the anchor file, which has no extension
	eventChunk, definitionChunk int
}

// Sizes of chunks that OTF2's library accepts, and a little more.
const (
	minChunk = 1 << 10
	maxChunk = 64 << 20
)

// maxAnchor bounds the anchor file.
const maxAnchor = 16 << 20

// IsAnchor reports whether a file begins like the anchor file of an archive.
func IsAnchor(head []byte) bool {
	const magic = "OTF2\x00"
	return len(head) >= 2+len(magic) && head[0] == chunkHeader && string(head[2:2+len(magic)]) == magic
}

// Open reads the anchor file and the global definitions of an archive.
func Open(anchor string) (*Archive, error) {
	a := &Archive{dir: filepath.Dir(anchor), Properties: map[string]string{}}
	a.name = strings.TrimSuffix(filepath.Base(anchor), ".otf2")
	if err := a.readAnchor(anchor); err != nil {
		return nil, err
	}
	file := a.name + ".def"
	c, err := openChunks(filepath.Join(a.dir, file), file, a.definitionChunk)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if c.f == nil {
		return nil, &Error{file, -1, os.ErrNotExist}
	}
	a.Definitions = newDefinitions()
	return a, a.Definitions.read(c)
}

func (a *Archive) readAnchor(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxAnchor))
	if err != nil {
		return err
	}
	c := &cursor{b: b, file: filepath.Base(path)}
	if !IsAnchor(b) {
		c.fail(errors.New("not the anchor file of an OTF2 archive"))
		return c.err
	}
	if b[1] == bigEndian {
		c.fail(fmt.Errorf("%w: written by a big-endian machine", ErrUnsupported))
		return c.err
	}
	c.at = 7
	a.anchor(c)
	return c.err
}

// anchor reads what follows the magic number.
func (a *Archive) anchor(c *cursor) {
	major := c.byte()
	c.byte()
	version := c.cut(3)
	if c.err != nil {
		return
	}
	a.Version = fmt.Sprintf("%d.%d.%d", version[0], version[1], version[2])
	if major > 3 {
		c.fail(fmt.Errorf("%w: version %d of the trace format", ErrUnsupported, major))
	}
	a.eventChunk, a.definitionChunk = c.chunkSize(), c.chunkSize()
	substrate, compression := c.byte(), c.byte()
	const posix, sion, uncompressed = 1, 2, 1
	switch {
	case c.err != nil:
		return
	case substrate == sion:
		c.fail(fmt.Errorf("%w: the archive is in SION containers", ErrUnsupported))
	case substrate != posix:
		c.fail(fmt.Errorf("%w: the archive has no files (substrate %d)", ErrUnsupported, substrate))
	case compression != uncompressed:
		c.fail(fmt.Errorf("%w: the archive is compressed (%d)", ErrUnsupported, compression))
	}
	c.full() // locations
	c.full() // definitions
	a.Machine, a.Creator, a.Description = c.text(), c.text(), c.text()
	for range c.full32() {
		if c.err != nil {
			return
		}
		name := c.text()
		a.Properties[name] = c.text()
	}
}

func (c *cursor) chunkSize() int {
	n := c.full()
	if c.err == nil && (n < minChunk || n > maxChunk) {
		c.failf("chunks of %d bytes", n)
	}
	return int(n)
}

// local returns the path of a file of a location, and its name in errors.
func (a *Archive) local(location uint64, extension string) (path, shown string) {
	file := strconv.FormatUint(location, 10) + extension
	return filepath.Join(a.dir, a.name, file), filepath.Join(a.name, file)
}

// Anchor returns the anchor file of the archive in a directory, and other paths as they are.
func Anchor(path string) (string, error) {
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return path, nil
	}
	list, err := filepath.Glob(filepath.Join(escape(path), "*.otf2"))
	if err != nil || len(list) != 1 {
		return "", fmt.Errorf("%s: a directory with %d anchor files of OTF2, not 1", path, len(list))
	}
	return list[0], nil
}

// escape quotes what is special in patterns.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Size is the size of the events of an archive in bytes.
func Size(anchor string) (total uint64) {
	files, err := os.ReadDir(strings.TrimSuffix(anchor, ".otf2"))
	if err != nil {
		return 0
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), ".evt") {
			total += uint64(info.Size())
		}
	}
	return total
}
