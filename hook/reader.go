package hook

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	readerKind = "reader"
	readerName = "efg"
)

// KeepReader keeps a copy of a program that reads segments of a layout, as long as builds are
// kept: after an update, running processes continue to write this layout.
func KeepReader(layout uint64, program string) error {
	c, err := openCache()
	if err != nil {
		return err
	}
	build := readerBuild(layout)
	there := func() bool {
		_, err := os.Stat(filepath.Join(c.path(build), readerName))
		return err == nil
	}
	if there() {
		c.used(build)
		return nil
	}
	err = c.create(context.Background(), build, false, there, func(dir string) error {
		return copyProgram(program, filepath.Join(dir, readerName))
	})
	c.prune(readerKind)
	return err
}

// Reader finds a program that reads segments of a layout, in a cache that only the user or root
// can write to.
func Reader(layout uint64) (program string, ok bool) {
	c, err := openCache()
	if err != nil {
		return "", false
	}
	return c.reader(layout)
}

// ReaderBeside is like Reader, for the cache that a value of EFG_BACK names.
func ReaderBeside(back string, layout uint64) (program string, ok bool) {
	first, _, _ := strings.Cut(back, ":")
	_, file, ok := strings.Cut(first, "=")
	if !ok {
		return "", false
	}
	return cache(filepath.Dir(filepath.Dir(file))).reader(layout)
}

func (c cache) reader(layout uint64) (program string, ok bool) {
	program, ok, err := c.file(readerBuild(layout), readerName)
	return program, ok && err == nil
}

func readerBuild(layout uint64) string { return fmt.Sprintf("%s-%016x", readerKind, layout) }

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(0o755) // whatever the mask, because others may share the cache
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}
