package hook

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const (
	frontKind = "front"
	frontName = "libefg.so"
	backKind  = "back"
	backName  = "libefg-back.so"
	// failedName holds the compiler's output if a back end could not be built; it is not tried
	// again at every run.
	failedName = "failed"
)

var (
	commonFlags = []string{"-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-pthread"}
	linkFlags   = []string{"-shared", "-pthread", "-Wl,-z,now", "-Wl,-z,nodelete"}
	// Declarations of what MPI-3 removed, which Open MPI hides by default.
	mpiFlags = []string{"-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"}
)

var frontArch = map[string]string{"amd64": "x86_64"}

// backOrder is the order of a back end's files in its library: what most programs use is
// adjacent, within few of the windows of 64 KiB that Linux maps at a time.
var backOrder = []string{
	"core*.c", "back*.c", "gen/wrappers_c_env.c", "gen/wrappers_c_p2p.c", "gen/wrappers_c_coll.c", "gen/*.c",
}

// builder creates builds in a cache, and finds them there.
type builder struct {
	cache cache
	opt   Options
}

// product is a library compiled from some of the sources.
type product struct {
	kind, name  string
	files       []string
	flags, link []string
	// ask, if not nil, asks the compiler for more flags; dir is for temporary files.
	ask func(ctx context.Context, c compiler, dir string) ([]string, error)
	// digest returns hashSources of the product, which is computed once.
	digest func() (hash.Cloner, error)
}

var frontProduct = sync.OnceValues(func() (*product, error) {
	arch, ok := frontArch[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("the hook does not support %s", runtime.GOARCH)
	}
	files, err := matching("front*.c", "front_"+arch+".S")
	link := append(slices.Clone(linkFlags), "-Wl,-soname,"+frontName, "-Wl,--hash-style=gnu", "-ldl")
	return newProduct(product{kind: frontKind, name: frontName, files: files, flags: commonFlags, link: link}), err
})

var backProduct = sync.OnceValues(func() (*product, error) {
	files, err := matching(backOrder...)
	return newProduct(product{
		kind: backKind, name: backName, files: files, flags: slices.Concat(commonFlags, mpiFlags), link: append(slices.Clone(linkFlags), "-ldl"),
		ask: lackingFlags,
	}), err
})

func newProduct(p product) *product {
	p.digest = sync.OnceValues(p.hashSources)
	return &p
}

// front builds the front.
func (b *builder) front(ctx context.Context, cc compiler) (string, error) {
	p, err := frontProduct()
	if err != nil {
		return "", err
	}
	return b.built(ctx, p, cc)
}

// back builds a back end.
func (b *builder) back(ctx context.Context, c compiler) (Back, error) {
	p, err := backProduct()
	if err != nil {
		return Back{}, err
	}
	file, err := b.built(ctx, p, c)
	return newBack(c, file, err)
}

// newBack returns the back end in a file, or the reason why there is none.
func newBack(c compiler, file string, err error) (Back, error) {
	var failed *BuildError
	if errors.As(err, &failed) && strings.Contains(failed.Output, unsupported) {
		return Back{}, &UnsupportedError{c.path}
	}
	if err != nil {
		return Back{}, err
	}
	soname, err := mpiSoname(file)
	if err != nil {
		return Back{}, fmt.Errorf("%s: %w", c.path, err)
	}
	return Back{c.path, soname, file}, nil
}

// found looks a product up in the cache. Any error but a *BuildError concerns the cache.
func (b *builder) found(p *product, c compiler) (file string, ok bool, err error) {
	build, err := p.build(c)
	if err != nil {
		return "", false, err
	}
	file, ok, err = b.cache.file(build, p.name)
	if ok || err != nil {
		b.cache.used(build)
		return file, ok, err
	}
	note, failed, err := b.cache.file(build, failedName)
	if !failed || err != nil {
		return "", false, err
	}
	out, err := os.ReadFile(note)
	if err != nil {
		return "", false, err
	}
	b.cache.used(build)
	return "", false, &BuildError{c.path, string(out), errors.New("failed before; efg hook build tries again")}
}

// built returns the file of a product, from the cache or newly built.
func (b *builder) built(ctx context.Context, p *product, c compiler) (string, error) {
	if !b.opt.Rebuild {
		if file, ok, err := b.found(p, c); ok || err != nil {
			return file, err
		}
	}
	build, err := p.build(c)
	if err != nil {
		return "", err
	}
	there := func() bool {
		_, ok, err := b.found(p, c)
		return !b.opt.Rebuild && (ok || errors.As(err, new(*BuildError)))
	}
	fmt.Fprintf(b.opt.Log, "efg: building the hook's %s with %s\n", p.kind, c.path)
	var failed *BuildError
	err = b.cache.create(ctx, build, b.opt.Rebuild, there, func(dir string) error {
		err := b.compile(ctx, p, c, dir)
		if !errors.As(err, &failed) || p.kind != backKind || ctx.Err() != nil || interrupted(failed) {
			return err
		}
		return os.WriteFile(filepath.Join(dir, failedName), []byte(failed.Output), 0o644)
	})
	b.cache.prune(p.kind)
	if failed != nil {
		return "", errors.Join(failed, err)
	}
	if err != nil {
		return "", err
	}
	file, ok, err := b.found(p, c)
	if !ok && err == nil {
		err = fmt.Errorf("%s: is gone", b.cache.path(build))
	}
	return file, err
}

// interrupted reports whether a compiler, or a process that it started, was ended by a signal:
// a retry may succeed.
func interrupted(err *BuildError) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() < 0 || strings.Contains(err.Output, " signal terminated program ")
}

// build returns the name of a build of the product, which depends on the sources, the compiler
// and the flags.
func (p *product) build(c compiler) (string, error) {
	digest, err := p.digest()
	if err != nil {
		return "", err
	}
	h, err := digest.Clone()
	if err != nil {
		return "", err
	}
	io.WriteString(h, strings.Join(slices.Concat(p.flags, p.link, []string{c.path, c.identity}), "\n"))
	return p.kind + "-" + hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// hashSources returns the digest of the product's sources: its files, and all headers.
func (p *product) hashSources() (hash.Cloner, error) {
	h := sha256.New()
	piece := make([]byte, 32<<10) // reading the files as a whole would copy all of them to new memory
	err := fs.WalkDir(sources, "shim", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, "shim/")
		if err != nil || d.IsDir() || filepath.Ext(name) != ".h" && !slices.Contains(p.files, name) {
			return err
		}
		f, err := sources.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", path, info.Size())
		_, err = io.CopyBuffer(h, f, piece)
		return err
	})
	return h.(hash.Cloner), err
}

// matching returns the source files that match one of the patterns, in the order of the
// patterns.
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

// mpiSoname returns the MPI library that a library needs.
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
