package groundtruth

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// pathPrograms are the programs whose call paths are compared: loops, recursion, threads, C callbacks,
// longjmp, exceptions, Fortran and Python.
var pathPrograms = []app{
	{source: "c/paths.c"},
	{source: "c/jacobi.c", args: []string{"40"}},
	{source: "c/halo3d.c"},
	{source: "c/mesh.c"},
	{source: "c/blocklu.c"},
	{source: "c/farm.c"},
	{source: "c/nest.c"},
	{source: "c/threads.c"},
	{source: "c/amr.c"},
	{source: "c/callbacks.c"},
	{source: "c/longjmp.c"},
	{source: "c/userops.c"},
	{source: "cxx/throws.cc"},
	{source: "fortran/halo_mpifh.f"},
	{source: "fortran/all_f08.f90", args: []string{"DIR"}},
	{source: "python/ring.py", only: "openmpi"},
	{source: "/usr/bin/pw.x", args: []string{"-in", "si.in"}, only: "openmpi", ranks: 2, inputs: []string{"si.in", SiliconPotential}},
}

// TestCallPaths compares the call path of each event with libunwind's.
func TestCallPaths(t *testing.T) {
	for _, b := range benches {
		for _, a := range slices.Concat(pathPrograms, realPrograms) {
			if a.only == "" || a.only == b.Name {
				t.Run(b.Name+"/"+a.name(), func(t *testing.T) { checkPaths(t, b, a) })
			}
		}
	}
}

func checkPaths(t *testing.T, b *Bench, a app) {
	program := a.source
	if !filepath.IsAbs(program) {
		var err error
		if program, err = b.Build(t.Context(), a.source); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := b.CopyInputs(dir, a.inputs); err != nil {
		t.Fatal(err)
	}
	logs := filepath.Join(dir, "logs")
	if err := os.Mkdir(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "run.efg")
	r, err := b.BothPaths(t.Context(), file, logs, cmp.Or(a.ranks, 4), a.command(program, dir)...)
	if err != nil || r.Status != 0 {
		t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
	}
	defer keep(t, dir, b.Name+"-paths-"+a.name())
	if err := b.Proven(t.Context(), file); err != nil {
		t.Error(err)
	}
	events, paths := comparePaths(t, file, logs)
	if events == 0 {
		t.Error("no events")
	}
	t.Logf("%d events with %d different paths are equal", events, paths)
}

// comparePaths reports the first event of each thread whose path differs from the logger's.
func comparePaths(t *testing.T, file, logs string) (events, different int) {
	t.Helper()
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	seen := map[string]bool{}
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		want := loggedPaths(t, logs, p.PID)
		if len(want) != len(p.Streams) {
			t.Errorf("rank %d has %d threads, the logger has seen %d", p.Rank, len(p.Streams), len(want))
		}
		for s := range p.Streams {
			got := recordedPaths(t, p, s)
			for _, call := range got {
				seen[call] = true
			}
			events += len(got)
			if k := slices.IndexFunc(want, func(w []string) bool { return slices.Equal(w, got) }); k >= 0 {
				want = slices.Delete(want, k, k+1)
				continue
			}
			reportPaths(t, p.Rank, s, got, want)
		}
	}
	return events, len(seen)
}

// reportPaths shows how a thread differs from the one that is most like it.
func reportPaths(t *testing.T, rank, thread int, got []string, want [][]string) {
	t.Helper()
	best, at := []string(nil), -1
	for _, w := range want {
		k := 0
		for k < len(w) && k < len(got) && w[k] == got[k] {
			k++
		}
		if k > at {
			best, at = w, k
		}
	}
	t.Errorf("rank %d, thread %d: %d events, logged %d; event %d:\n got  %s\n want %s", rank, thread, len(got), len(best), at,
		strings.Join(got[min(max(at, 0), len(got)):][:min(1, len(got)-max(at, 0))], ""),
		strings.Join(best[min(max(at, 0), len(best)):][:min(1, len(best)-max(at, 0))], ""))
}

// recordedPaths are the calls of a thread, each as its procedure and its path, the innermost call first.
func recordedPaths(t *testing.T, p *efg.Process, thread int) []string {
	t.Helper()
	defs := map[uint64]*efg.Def{}
	for i := range p.Defs {
		defs[p.Defs[i].Word] = &p.Defs[i]
	}
	texts := map[uint64]string{}
	var list []string
	for e, err := range reconstruct.NewProcess(p, reconstruct.NewNames(p.Defs, nil)).Events(thread, reconstruct.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		site := e.Words()[1]
		if texts[site] == "" {
			texts[site] = pathOf(defs, site)
		}
		list = append(list, strings.TrimPrefix(e.Proc().Name, "MPI_")+texts[site])
	}
	return list
}

func pathOf(defs map[uint64]*efg.Def, word uint64) string {
	var b strings.Builder
	for word != signature.Absent {
		d := defs[word]
		if d == nil || d.Kind != efg.DefSite {
			fmt.Fprintf(&b, " %#x", word)
			break
		}
		file, _, _ := bytes.Cut(defs[d.Words[0]].Data, []byte{0})
		if frame := fmt.Sprintf("%s+%#x", path.Base(string(file)), d.Words[1]); !ofWrapper(frame) {
			b.WriteString(" " + frame)
		}
		if len(d.Words) < 3 {
			b.WriteString(" ...")
			break
		}
		word = d.Words[2]
	}
	return b.String()
}

// loggedPaths are the calls that the logger saw return, of each thread.
func loggedPaths(t *testing.T, logs string, pid int) (threads [][]string) {
	t.Helper()
	for n := 0; ; n++ {
		base := filepath.Join(logs, fmt.Sprintf("%d.%d", pid, n))
		data, err := os.ReadFile(base + ".paths")
		if os.IsNotExist(err) {
			return threads
		}
		if err != nil {
			t.Fatal(err)
		}
		calls, err := readCalls(base + ".log")
		lines := strings.Split(strings.TrimRight(string(data), "\x00\n"), "\n")
		if err != nil || len(lines) < len(calls) {
			t.Fatalf("%s: %d calls and %d paths: %v", base, len(calls), len(lines), err)
		}
		var list []string
		for i := range calls {
			words := strings.Fields(lines[calls[i].Begun])
			p := signature.ProcByName("MPI_" + words[0])
			if p == nil || p.Class == signature.Query || p.Class == signature.Pass || !calls[i].Done && !calls[i].Abandoned {
				continue
			}
			list = append(list, strings.Join(append(words[:1], callersOf(words[1:])...), " "))
		}
		threads = append(threads, list)
	}
}

// in reports whether a frame is of a file whose name begins like this.
func in(frame string, files ...string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(frame, f) })
}

// ofWrapper reports whether a frame is of the logger or the hook, whose functions are around those that MPI
// calls.
func ofWrapper(frame string) bool { return in(frame, "liblogger.so", "libefg") }

// callersOf removes the functions of the logger and the hook, and those of the system that call main or a
// thread's function.
func callersOf(frames []string) []string {
	for len(frames) > 0 && in(frames[0], "liblogger.so", "libunwind") {
		frames = frames[1:]
	}
	if len(frames) > 0 {
		frames = frames[:len(frames)-1]
	}
	for len(frames) > 0 && in(frames[len(frames)-1], "libc.so", "ld-linux", "libpthread") {
		frames = frames[:len(frames)-1]
	}
	return slices.DeleteFunc(frames, ofWrapper)
}
