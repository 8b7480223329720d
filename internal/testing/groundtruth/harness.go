package groundtruth

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Bench is one MPI library with everything built for it.
type Bench struct {
	MPI
	Root   string
	Dir    string // built programs, logs and run files
	Efg    string // the efg binary
	Logger string
	Yield  string // preloaded first, see testdata/yield; "" if not needed
}

// compilerFlags are for programs in C. gcc warns about MPICH's status sentinels.
var compilerFlags = []string{"-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow",
	"-Wno-stringop-overread", "-Wno-deprecated-declarations", withRemoved, "-O1", "-g", "-std=gnu11"}

// Benches builds efg and returns a bench, without a logger, for each installed MPI; all their
// files are in dir.
func Benches(ctx context.Context, dir string) ([]*Bench, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	efg := filepath.Join(dir, "efg")
	build := exec.CommandContext(ctx, "go", "build", "-o", efg, "./cmd/efg")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	var list []*Bench
	for _, m := range Installed() {
		b, err := newRecorder(ctx, m, root, dir, efg)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// NewBench builds the logger for an MPI library. efg is the binary to test.
func NewBench(ctx context.Context, m MPI, root, dir, efg string) (*Bench, error) {
	b, err := newRecorder(ctx, m, root, dir, efg)
	if err == nil {
		b.Logger, err = BuildLogger(ctx, m, root, b.Dir)
	}
	return b, err
}

// newRecorder is NewBench without the logger.
func newRecorder(ctx context.Context, m MPI, root, dir, efg string) (*Bench, error) {
	b := &Bench{MPI: m, Root: root, Dir: filepath.Join(dir, m.Name), Efg: efg}
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		return nil, err
	}
	if m.Name != "mpich" {
		return b, nil
	}
	b.Yield = filepath.Join(b.Dir, "yield.so")
	_, err := command(ctx, b.Dir, "gcc", "-shared", "-fPIC", "-O1", "-o", b.Yield,
		filepath.Join(root, "testdata", "yield", "yield.c"), "-ldl")
	return b, err
}

// Build compiles a program of testdata, in C or Fortran by its extension; Python
// stays as it is.
func (b *Bench) Build(ctx context.Context, source string) (string, error) {
	name := filepath.Base(source)
	ext := filepath.Ext(name)
	if ext == ".py" {
		return filepath.Join(b.Root, "testdata", source), nil
	}
	program := filepath.Join(b.Dir, strings.TrimSuffix(name, ext))
	compiler, args := b.CC, append([]string{}, compilerFlags...)
	if name == "paths.c" {
		args = append(args, "-O2", "-fomit-frame-pointer")
	}
	switch ext {
	case ".c":
	case ".cc":
		program += ext[1:]
		compiler, args = strings.Replace(b.CC, "mpicc", "mpicxx", 1), []string{"-O1", "-g", "-w"}
	default:
		program += ext[1:]
		compiler, args = b.FC, []string{"-O1", "-g", "-fallow-argument-mismatch", "-w", "-J", b.Dir}
	}
	if strings.HasPrefix(name, "omp_") {
		args = append(args, "-fopenmp")
	}
	path := filepath.Join(b.Root, "testdata", source)
	args = append(args, "-I", filepath.Join(b.Root, "hook", "include"))
	_, err := command(ctx, b.Dir, compiler, append(args, path, "-o", program, "-lm", "-lpthread")...)
	return program, err
}

// Plain runs a program alone.
func (b *Bench) Plain(ctx context.Context, n int, prog ...string) (Result, error) {
	return Run(ctx, b.MPI, nil, b.preload(), n, prog...)
}

// Recorded runs a program under efg alone.
func (b *Bench) Recorded(ctx context.Context, file string, n int, prog ...string) (Result, error) {
	return b.RecordedWith(ctx, nil, file, n, prog...)
}

// RecordedWith is Recorded, with flags of efg run.
func (b *Bench) RecordedWith(ctx context.Context, flags []string, file string, n int, prog ...string) (Result, error) {
	before := append([]string{b.Efg, "run", "-o", file}, flags...)
	return Run(ctx, b.MPI, append(before, "--"), b.preload(), n, prog...)
}

// RecordedSkewed is RecordedWith, as if the second half of the ranks were on another machine, whose
// clock is offset ns ahead of CLOCK_MONOTONIC when that begins, and ppm parts per million faster.
func (b *Bench) RecordedSkewed(ctx context.Context, offset, ppm int64, flags []string, file string, n int, prog ...string) (Result, error) {
	lib := filepath.Join(b.Dir, "skew.so")
	if _, err := command(ctx, b.Dir, "gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", lib, filepath.Join(b.Root, "testdata", "skew", "skew.c"), "-ldl"); err != nil {
		return Result{}, err
	}
	before := append([]string{b.Efg, "run", "-o", file}, flags...)
	env := append(b.preload(lib), fmt.Sprint("SKEW_OFFSET=", offset), fmt.Sprint("SKEW_PPM=", ppm))
	return Run(ctx, b.MPI, append(before, "--"), env, n, prog...)
}

// Logged runs a program with the logger alone.
func (b *Bench) Logged(ctx context.Context, logs string, n int, prog ...string) (Result, error) {
	env := append(b.preload(b.Logger), "LOGGER_DIR="+logs)
	return Run(ctx, b.MPI, nil, env, n, prog...)
}

// launchAndWait runs a launcher and returns when the processes that the logger saw have ended,
// too: after an abort, mpiexec can return earlier.
const launchAndWait = `"$@"
status=$?
for f in "$LOGGER_DIR"/*.process; do
	pid=${f##*/} pid=${pid%.process} n=0
	while readlink /proc/$pid/exe >/dev/null && [ $n -lt 100 ]; do
		sleep 0.05
		n=$((n + 1))
	done
done
exit $status`

// Both runs a program under efg with the logger preloaded before the hook.
func (b *Bench) Both(ctx context.Context, file, logs string, n int, prog ...string) (Result, error) {
	return b.both(ctx, []string{"--queries"}, file, logs, n, prog...)
}

// BothBrief is Both without local queries.
func (b *Bench) BothBrief(ctx context.Context, file, logs string, n int, prog ...string) (Result, error) {
	return b.both(ctx, nil, file, logs, n, prog...)
}

// BothTotals is Both, but of polls that complete nothing only the number is recorded.
func (b *Bench) BothTotals(ctx context.Context, file, logs string, n int, prog ...string) (Result, error) {
	return b.both(ctx, []string{"--queries", "--polls", "totals"}, file, logs, n, prog...)
}

// BothPaths is BothBrief with call paths: those of the logger are libunwind's.
func (b *Bench) BothPaths(ctx context.Context, file, logs string, n int, prog ...string) (Result, error) {
	env := append(b.preload(b.Logger), "LOGGER_DIR="+logs, "LOGGER_PATHS=1")
	before := []string{b.Efg, "run", "-o", file, "--callpath=500", "--", "sh", "-c", launchAndWait, "sh"}
	return Run(ctx, b.MPI, before, env, n, prog...)
}

func (b *Bench) both(ctx context.Context, flags []string, file, logs string, n int, prog ...string) (Result, error) {
	env := append(b.preload(b.Logger), "LOGGER_DIR="+logs)
	before := append([]string{b.Efg, "run", "-o", file}, flags...)
	before = append(before, "--", "sh", "-c", launchAndWait, "sh")
	return Run(ctx, b.MPI, before, env, n, prog...)
}

func (b *Bench) preload(libs ...string) []string {
	if b.Yield != "" {
		libs = append(libs, b.Yield)
	}
	if len(libs) == 0 {
		return nil
	}
	return []string{"LD_PRELOAD=" + strings.Join(libs, ":")}
}

// Proven verifies a run file, and converts it to its text form and to the exchange formats and
// back.
func (b *Bench) Proven(ctx context.Context, file string) error {
	if _, err := command(ctx, b.Dir, b.Efg, "reconstruct", file, "--verify"); err != nil {
		return err
	}
	for _, way := range []string{
		`"$0" dump "$1" | "$0" assemble - -o "$1.again"`,
		`"$0" export "$1" --format mtf | "$0" import - -o "$1.again"`,
		`"$0" export "$1" --format gxl | "$0" import - -o "$1.again"`,
	} {
		if _, err := command(ctx, b.Dir, "sh", "-c", way+` && cmp "$1" "$1.again"; s=$?; rm -f "$1.again"; exit $s`, b.Efg, file); err != nil {
			return err
		}
	}
	return nil
}

// Check proves a run file and compares its reconstruction with the logs.
func (b *Bench) Check(ctx context.Context, file, logs string, queries bool) (*Comparison, error) {
	c, err := NewComparison(b.Root, queries)
	if err != nil {
		return nil, err
	}
	return c, b.check(ctx, c, file, logs)
}

// CheckTotals is Check for a run of BothTotals.
func (b *Bench) CheckTotals(ctx context.Context, file, logs string) (*Comparison, error) {
	c, err := NewComparison(b.Root, true)
	if err != nil {
		return nil, err
	}
	c.totals = true
	return c, b.check(ctx, c, file, logs)
}

func (b *Bench) check(ctx context.Context, c *Comparison, file, logs string) error {
	if err := b.Proven(ctx, file); err != nil {
		return err
	}
	all, err := ReadLogs(logs)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.Efg, "reconstruct", file, "--format", "jsonl")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = c.Compare(all, out)
	out.Close()
	if werr := cmd.Wait(); err == nil && werr != nil {
		err = fmt.Errorf("efg reconstruct: %w\n%s", werr, errs.String())
	}
	return err
}
