package hook

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

const (
	frontName = "libefg.so"
	backName  = "libefg-back.so"
	// failedName holds the compiler's output where a back end could not be
	// built, so that it is not tried again at every run.
	failedName = "failed"
)

var (
	commonFlags = []string{"-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-pthread"}
	linkFlags   = []string{"-shared", "-pthread", "-Wl,-z,now", "-Wl,-z,nodelete"}
	// The declarations of what MPI-3 removed, which Open MPI keeps back.
	mpiFlags = []string{"-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"}
)

var frontArch = map[string]string{"amd64": "x86_64"}

// backOrder is the order of a back end's files in its library: what most programs
// use lies together, in few of the windows of 64 KiB that Linux maps at a time.
var backOrder = []string{
	"core*.c", "back*.c", "gen/wrappers_c_env.c", "gen/wrappers_c_p2p.c", "gen/wrappers_c_coll.c", "gen/*.c",
}

type builder struct {
	cache string
	opt   Options
}

// front builds the front.
func (b *builder) front(cc compiler) (string, error) {
	arch, ok := frontArch[runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("the hook does not support %s", runtime.GOARCH)
	}
	files, err := matching("front*.c", "front_"+arch+".S")
	if err != nil {
		return "", err
	}
	dir, err := b.cached("front", cc, frontName, func(dir string) error {
		link := append(slices.Clone(linkFlags), "-Wl,-soname,"+frontName, "-Wl,--hash-style=gnu")
		return compile(cc, dir, files, commonFlags, append(link, "-ldl"), frontName)
	})
	return filepath.Join(dir, frontName), err
}

// back builds a back end.
func (b *builder) back(c compiler) (Back, error) {
	files, err := matching(backOrder...)
	if err != nil {
		return Back{}, err
	}
	dir, err := b.cached("back", c, backName, func(dir string) error {
		lacks, err := lackingFlags(c, dir)
		if err != nil {
			return err
		}
		return compile(c, dir, files, slices.Concat(commonFlags, mpiFlags, lacks), append(linkFlags, "-ldl"), backName)
	})
	var failed *BuildError
	if errors.As(err, &failed) && strings.Contains(failed.Output, unsupported) {
		return Back{}, &UnsupportedError{c.path}
	}
	if err != nil {
		return Back{}, err
	}
	file := filepath.Join(dir, backName)
	soname, err := mpiSoname(file)
	if err != nil {
		return Back{}, fmt.Errorf("%s: %w", c.path, err)
	}
	return Back{c.path, soname, file}, nil
}

// cached returns the folder of a build: the one in the cache, or a new one, made
// under another name and renamed when it is whole.
func (b *builder) cached(kind string, c compiler, product string, build func(dir string) error) (string, error) {
	key, err := cacheKey(c)
	if err != nil {
		return "", err
	}
	final := filepath.Join(b.cache, kind+"-"+key)
	if !b.opt.Rebuild && used(final) {
		if _, err := os.Stat(filepath.Join(final, product)); err == nil {
			return final, nil
		}
		if out, err := os.ReadFile(filepath.Join(final, failedName)); err == nil {
			return "", &BuildError{c.path, string(out), errors.New("failed before; efg hook build tries again")}
		}
	}
	fmt.Fprintf(b.opt.Log, "efg: building the hook's %s with %s\n", kind, c.path)
	tmp, err := os.MkdirTemp(b.cache, "."+kind+"-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	err = build(tmp)
	var failed *BuildError
	if errors.As(err, &failed) && kind == "back" && !b.stopped() && !interrupted(failed) {
		if w := os.WriteFile(filepath.Join(tmp, failedName), []byte(failed.Output), 0o644); w != nil {
			return "", errors.Join(err, w)
		}
	} else if err != nil {
		return "", err
	}
	err = errors.Join(err, publish(tmp, final, b.opt.Rebuild))
	prune(b.cache, kind)
	return final, err
}

// interrupted tells whether a compiler, or what it started, was ended by a signal: it may
// work another time.
func interrupted(err *BuildError) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() < 0 || strings.Contains(err.Output, " signal terminated program ")
}

// stopped tells that builds are to end: the signal for it may have ended compilers, too.
func (b *builder) stopped() bool { return b.opt.Stop != nil && b.opt.Stop.Err() != nil }

// publish renames a build to its final name. If somebody else was faster theirs
// stays: it is the same. A rebuilt one is put in its place file by file, so that
// the name is never without a whole file.
func publish(tmp, final string, replace bool) error {
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	err := os.Rename(tmp, final)
	if err == nil {
		return nil
	}
	if _, serr := os.Stat(final); serr != nil {
		return err
	}
	if !replace {
		return nil
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(final, failedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(tmp, e.Name()), filepath.Join(final, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// cacheKey tells builds apart: by sources, compiler and flags.
func cacheKey(c compiler) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(sources, "shim", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n", path, len(text))
		h.Write(text)
		return err
	})
	io.WriteString(h, strings.Join(slices.Concat(commonFlags, linkFlags, mpiFlags, []string{c.path, c.identity}), "\n"))
	return hex.EncodeToString(h.Sum(nil)[:8]), err
}

// matching are the source files that match one of the patterns, those of the first
// one first.
func matching(patterns ...string) ([]string, error) {
	var l []string
	for _, p := range patterns {
		m, err := fs.Glob(sources, "shim/"+p)
		if err != nil {
			return nil, err
		}
		if len(m) == 0 {
			return nil, fmt.Errorf("no source file matches %s", p)
		}
		for _, name := range m {
			if name = strings.TrimPrefix(name, "shim/"); !slices.Contains(l, name) {
				l = append(l, name)
			}
		}
	}
	return l, nil
}

var mpiLibrary = regexp.MustCompile(`^libmpi(ch)?(_\w+)?\.so`)

// mpiSoname is the MPI library that a back end needs.
func mpiSoname(file string) (string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	for _, l := range libs {
		if mpiLibrary.MatchString(l) {
			return l, nil
		}
	}
	return "", fmt.Errorf("links no shared MPI library (but %s)", strings.Join(libs, ", "))
}
