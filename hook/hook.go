// Package hook builds the C libraries that record a program, from sources that
// are embedded in the binary, and finds them again.
//
// There is one front, which is preloaded and independent of MPI, and one back end per MPI,
// compiled against its mpi.h. Both are in a cache directory under names that depend on the
// sources and the compiler, so that a build is done once and never replaced under a running
// program.
package hook

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:generate go run ./internal/gen/slots shim/gen
//go:generate go run ./internal/gen/wrap shim/gen

//go:embed shim
var sources embed.FS

// Hook describes which parts of a hook are built. It is not safe for concurrent use.
type Hook struct {
	Front string // file of the front; "" if it is not built
	Backs []Back // in the order of the compilers, the first for each library

	builder    *builder
	cc         compiler
	mpis       []*mpi
	identities map[string]bool // of mpis
	unasked    []string        // compilers that are not among mpis yet

	command   []string        // of the last call of librariesOf
	libraries map[string]bool // which that found
}

// mpi is an MPI compiler and the state of its back end.
type mpi struct {
	compiler
	back   *Back  // nil if not built
	failed error  // why it cannot be built
	soname string // of the MPI library, "" if unknown so far
}

// Back is a back end.
type Back struct {
	Compiler string // MPI compiler it was built with
	Soname   string // of the MPI library it is for
	File     string
}

// BackVar returns the value of EFG_BACK, by which the front finds its back end.
func (h *Hook) BackVar() string {
	var l []string
	for _, b := range h.Backs {
		l = append(l, b.Soname+"="+b.File)
	}
	return strings.Join(l, ":")
}

// Options are the options of Find and Ensure.
type Options struct {
	Log     io.Writer // gets a line for each build and each MPI that does not work
	Rebuild bool      // rebuild what exists
	// Progress, if any, is called as files of a build are compiled, never concurrently.
	Progress func(done, total int)
	// Built, if any, is called for each back end that was built.
	Built func(back Back)
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

// Brief returns the error in one line, with the first line of the compiler's output that is an
// error.
func (e *BuildError) Brief() string {
	why := e.Err.Error()
	lines := strings.Split(strings.TrimSpace(e.Output), "\n")
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "error") }); i > 0 {
		lines = lines[i:]
	}
	if lines[0] != "" {
		why = lines[0]
	}
	return fmt.Sprintf("the hook cannot be built with %s: %s (efg hook build shows the full output)", e.Compiler, why)
}

// UnsupportedError says that there is no back end for a compiler's MPI.
type UnsupportedError struct {
	Compiler string
}

func (e *UnsupportedError) Error() string {
	return e.Compiler + ": this MPI is not supported; Open MPI and the MPICH family are"
}

// unsupported is what hook/shim/back.h says about an MPI without a back end.
const unsupported = "efg has no back end for this MPI"

// Ensure returns the hook, and builds what is not in the cache. An MPI whose back end cannot be
// built is logged and left out, unless it is the only one.
func Ensure(ctx context.Context, opt Options) (*Hook, error) {
	h, err := Find(ctx, opt)
	if err != nil {
		return nil, err
	}
	if err := h.BuildFront(ctx); err != nil {
		return nil, err
	}
	if err := h.BuildBacks(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// Find returns the hook as far as it is in the cache, and builds nothing.
func Find(ctx context.Context, opt Options) (*Hook, error) {
	h, err := find(opt)
	if err != nil {
		return nil, err
	}
	return h, h.ask(ctx, len(h.unasked))
}

// find returns the hook without the back ends of any compiler.
func find(opt Options) (*Hook, error) {
	if opt.Log == nil {
		opt.Log = io.Discard
	}
	cache, err := openCache()
	if err != nil {
		return nil, err
	}
	cache.sweep()
	h := &Hook{builder: &builder{cache: cache, opt: opt}, identities: map[string]bool{}}
	if h.cc, err = cCompiler(); err != nil {
		return nil, err
	}
	if h.unasked = mpiCompilers(); len(h.unasked) == 0 {
		return nil, &MissingError{"no MPI compiler",
			"looked for $MPICC, mpicc, mpicc.openmpi, mpicc.mpich; on Debian: apt install libopenmpi-dev or libmpich-dev"}
	}
	if opt.Rebuild {
		return h, nil
	}
	front, err := frontProduct()
	if err == nil {
		h.Front, _, err = h.builder.found(front, h.cc)
	}
	return h, err
}

// ask asks the next n compilers, all at once, what they are, and loads what is in the cache for
// them. Those that are the same as an earlier one are left out.
func (h *Hook) ask(ctx context.Context, n int) error {
	paths := h.unasked[:n]
	h.unasked = h.unasked[n:]
	p, err := backProduct()
	if err != nil {
		return err
	}
	for _, c := range identify(ctx, paths, p) {
		if h.identities[c.identity] {
			continue
		}
		h.identities[c.identity] = true
		m := &mpi{compiler: c}
		h.mpis = append(h.mpis, m)
		if h.builder.opt.Rebuild {
			continue
		}
		file, ok, err := h.builder.found(p, c)
		if ok || err != nil {
			m.failed = m.take(newBack(c, file, err))
		}
	}
	h.list()
	return nil
}

// BuildFront builds the front if it does not exist.
func (h *Hook) BuildFront(ctx context.Context) (err error) {
	if h.Front == "" {
		h.Front, err = h.builder.front(ctx, h.cc)
	}
	return err
}

// Missing reports whether a back end of an MPI compiler is not built, and has not failed to
// build, or whether there are compilers that FindFor has not asked.
func (h *Hook) Missing() bool {
	return len(h.unasked) > 0 || slices.ContainsFunc(h.mpis, func(m *mpi) bool { return m.back == nil && m.failed == nil })
}

// Incomplete reports whether a back end of an MPI compiler is not built, for whatever reason, or not known.
func (h *Hook) Incomplete() bool {
	return len(h.unasked) > 0 || slices.ContainsFunc(h.mpis, func(m *mpi) bool { return m.back == nil })
}

// BuildBacks builds the missing back ends: those for MPI libraries of these sonames, or all.
// Failures are logged; it is an error if none of the wanted back ends exists.
func (h *Hook) BuildBacks(ctx context.Context, sonames ...string) error {
	if err := h.ask(ctx, len(h.unasked)); err != nil {
		return err
	}
	return h.build(ctx, func(m *mpi) bool {
		return len(sonames) == 0 || slices.Contains(sonames, m.libraryName(ctx, h.builder))
	})
}

// build builds the back ends of the MPIs for which wanted is true.
func (h *Hook) build(ctx context.Context, wanted func(m *mpi) bool) error {
	var failed []error
	some := false
	for _, m := range h.mpis {
		if !wanted(m) {
			continue
		}
		if m.back == nil && m.failed == nil {
			m.failed = m.take(h.builder.back(ctx, m.compiler))
			h.built(m)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if some = some || m.back != nil; m.failed != nil {
			failed = append(failed, m.failed)
		}
	}
	if !some {
		return errors.Join(failed...)
	}
	for _, err := range failed {
		fmt.Fprintln(h.builder.opt.Log, "efg:", h.builder.explain(err))
	}
	return nil
}

// explain returns an error as it is logged: in one line, except if the build was requested.
func (b *builder) explain(err error) string {
	var failed *BuildError
	if b.opt.Rebuild || !errors.As(err, &failed) {
		return err.Error()
	}
	return failed.Brief()
}

// built records that a back end was built, or failed.
func (h *Hook) built(m *mpi) {
	h.list()
	if m.back != nil && h.builder.opt.Built != nil {
		h.builder.opt.Built(*m.back)
	}
}

func (m *mpi) take(back Back, err error) error {
	if err == nil {
		m.back = &back
	}
	return err
}

// list lists the back ends, the first for each library.
func (h *Hook) list() {
	h.Backs = nil
	have := map[string]bool{}
	for _, m := range h.mpis {
		if m.back != nil && !have[m.back.Soname] {
			have[m.back.Soname] = true
			h.Backs = append(h.Backs, *m.back)
		}
	}
}
