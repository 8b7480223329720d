// Package hook builds the C libraries that record a program, from sources that
// are embedded in the binary, and finds them again.
//
// There is one front, which is preloaded and knows no MPI, and one back end for
// each MPI, compiled against its mpi.h. Both lie in a cache folder under names
// that change with the sources and the compiler, so that a build is done once
// and never replaced under a running program.
package hook

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

//go:generate go run ./internal/gen/slots shim/gen
//go:generate go run ./internal/gen/wrap shim/gen

//go:embed shim
var sources embed.FS

// Hook is a built hook.
type Hook struct {
	Front string // file of the front
	Backs []Back
}

// Back is a back end.
type Back struct {
	Compiler string // MPI compiler it was built with
	Soname   string // of the MPI library it is for
	File     string
}

// BackVar is the value of EFG_BACK: where the front finds its back end.
func (h *Hook) BackVar() string {
	var l []string
	for _, b := range h.Backs {
		l = append(l, b.Soname+"="+b.File)
	}
	return strings.Join(l, ":")
}

// Options are options of Ensure.
type Options struct {
	Log     io.Writer // gets a line for each build and each MPI that does not work
	Rebuild bool      // build also what is there
	// Stop ends builds that go on; nil: nothing does.
	Stop context.Context
}

// MissingError says that something must be installed.
type MissingError struct {
	What   string
	Advice string
}

func (e *MissingError) Error() string { return e.What + ": " + e.Advice }

// BuildError is a failed build.
type BuildError struct {
	Compiler string
	Output   string // of the compiler
	Err      error
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("building the hook with %s: %v\n%s", e.Compiler, e.Err, strings.TrimSpace(e.Output))
}

func (e *BuildError) Unwrap() error { return e.Err }

// UnsupportedError says that a compiler is that of an MPI without a back end.
type UnsupportedError struct {
	Compiler string
}

func (e *UnsupportedError) Error() string {
	return e.Compiler + ": this MPI is not supported; Open MPI and the MPICH family are"
}

// unsupported is what hook/shim/back.h says about an MPI without a back end.
const unsupported = "efg has no back end for this MPI"

// Ensure returns the hook, building what is not in the cache. An MPI whose back
// end cannot be built is logged and left out, unless it is the only one.
func Ensure(opt Options) (*Hook, error) {
	if opt.Log == nil {
		opt.Log = io.Discard
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	cc, err := cCompiler()
	if err != nil {
		return nil, err
	}
	mpis := mpiCompilers()
	if len(mpis) == 0 {
		return nil, &MissingError{"no MPI compiler",
			"looked for $MPICC, mpicc, mpicc.openmpi, mpicc.mpich; on Debian: apt install libopenmpi-dev or libmpich-dev"}
	}
	for i := range mpis {
		mpis[i].stop = opt.Stop
	}
	cc.stop = opt.Stop
	b := &builder{cache: cache, opt: opt}
	h := &Hook{}
	if h.Front, err = b.front(cc); err != nil {
		return nil, err
	}
	h.Backs, err = b.backs(mpis)
	return h, err
}

// backs builds the back ends, the first for each library.
func (b *builder) backs(mpis []compiler) ([]Back, error) {
	var backs []Back
	var failed []error
	have := map[string]bool{}
	for _, c := range mpis {
		back, err := b.back(c)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if !have[back.Soname] {
			have[back.Soname] = true
			backs = append(backs, back)
		}
	}
	if len(backs) == 0 {
		return nil, errors.Join(failed...)
	}
	if b.stopped() {
		return nil, b.opt.Stop.Err()
	}
	for _, err := range failed {
		fmt.Fprintln(b.opt.Log, "efg:", err)
	}
	return backs, nil
}

// cacheDir is $XDG_CACHE_HOME/efg, or a folder of the user's own in TMPDIR if
// there is no home.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("efg-cache-%d", os.Getuid()))
		if err := privateDir(dir); err != nil {
			return "", err
		}
	}
	dir = filepath.Join(dir, "efg")
	if strings.ContainsAny(dir, " :") {
		return "", fmt.Errorf("cache folder %q: its name must not contain blanks or colons, LD_PRELOAD cannot hold it; set XDG_CACHE_HOME", dir)
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// privateDir makes a folder that nobody else can have put files in.
func privateDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() || fi.Mode().Perm() != 0o700 || !ownedByUs(fi) {
		return fmt.Errorf("%s is not a private folder of ours; set XDG_CACHE_HOME", dir)
	}
	return nil
}
