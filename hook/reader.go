package hook

import (
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

// KeepReader keeps a copy of a program that reads segments of a layout, for as long as builds
// are kept: when another version is installed, processes that run go on to write this one.
func KeepReader(layout uint64, program string) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	final := readerFolder(cache, layout)
	if _, err := os.Stat(filepath.Join(final, readerName)); err == nil && used(final) {
		return nil
	}
	tmp, err := os.MkdirTemp(cache, "."+readerKind+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := copyProgram(program, filepath.Join(tmp, readerName)); err != nil {
		return err
	}
	err = publish(tmp, final, false)
	prune(cache, readerKind)
	return err
}

// Reader finds a program that reads segments of a layout. Nobody else can have put it there.
func Reader(layout uint64) (program string, ok bool) {
	cache, err := cacheDir()
	if err != nil {
		return "", false
	}
	return readerIn(cache, layout)
}

// ReaderBeside is Reader for the cache that a value of EFG_BACK names.
func ReaderBeside(back string, layout uint64) (program string, ok bool) {
	first, _, _ := strings.Cut(back, ":")
	_, file, ok := strings.Cut(first, "=")
	if !ok {
		return "", false
	}
	return readerIn(filepath.Dir(filepath.Dir(file)), layout)
}

func readerIn(cache string, layout uint64) (program string, ok bool) {
	program = filepath.Join(readerFolder(cache, layout), readerName)
	fi, err := os.Lstat(program)
	return program, err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o022 == 0 && (ownedByUs(fi) || ownedByRoot(fi))
}

func readerFolder(cache string, layout uint64) string {
	return filepath.Join(cache, fmt.Sprintf("%s-%016x", readerKind, layout))
}

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
		err = out.Chmod(0o755) // whatever the mask: others may share the cache
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}
