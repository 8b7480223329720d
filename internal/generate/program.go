package generate

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

//go:embed support
var supportFiles embed.FS

// Ways to spend the time between calls.
const (
	Spin  = "spin"
	Sleep = "sleep"
)

// Options say how a program is generated.
type Options struct {
	// Compute is how long the program computes between calls: a factor of the recorded times. 0:
	// not at all.
	Compute     float64
	ComputeWith string // Spin or Sleep
	Source      string // name of the run file, for the comment at the head
	// Ranks is on how many ranks the program runs, or the dimensions of their grid; nil: as many as the run.
	Ranks []int
	// Header is efg.h, which programs include that name regions or attributes.
	Header []byte
}

// Size is the number of ranks, 0 if it is that of the run.
func (opt *Options) Size() int {
	if len(opt.Ranks) == 0 {
		return 0
	}
	return (&grid{dims: opt.Ranks}).size()
}

// Write writes a program that makes the calls of a run, and its Makefile, into an existing
// directory. It returns in what the program may differ from the run.
func Write(dir string, run *runfile.Run, opt *Options) (*Differences, error) {
	worlds, err := readWorlds(run, opt.Size())
	if err != nil {
		return nil, err
	}
	var procs []*process
	for _, w := range worlds {
		procs = append(procs, w.procs...)
	}
	attached, err := attach(procs)
	if err != nil {
		return nil, err
	}
	differences := &Differences{openOutcomes(procs), callsInside(procs)}
	starts, err := connect(run, worlds)
	if err != nil {
		return nil, err
	}
	texts, err := programs(worlds, starts, attached, opt)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(texts))
	for i, text := range texts {
		if names[i] = "main.c"; i > 0 {
			names[i] = worldName(i) + ".c"
		}
		if err := os.WriteFile(filepath.Join(dir, names[i]), text, 0o644); err != nil {
			return nil, err
		}
	}
	if annotated(procs) {
		if err := os.WriteFile(filepath.Join(dir, "efg.h"), opt.Header, 0o644); err != nil {
			return nil, err
		}
	}
	return differences, os.WriteFile(filepath.Join(dir, "Makefile"), makefileOf(procs, names), 0o644)
}

// Differences are those that a program may have from the run.
type Differences struct {
	Open   []string // procedures whose outcomes MPI leaves open, so that the program may have other events
	Inside uint64   // calls of the run inside other calls, which are left out: callbacks of the program make none
}

// callsInside is the number of calls that callbacks made.
func callsInside(procs []*process) (n uint64) {
	for _, p := range procs {
		for i := range p.data.Streams {
			s := &p.data.Streams[i]
			visits := s.Visits()
			for k := range s.Nodes {
				if signature.Header(s.Nodes[k].Words[0]).Depth() > 0 {
					n += visits[k]
				}
			}
		}
	}
	return n
}

// openOutcomes are the procedures with calls whose outcomes MPI leaves open: receives and probes
// from any source, and completions of any or some requests. They are sorted.
func openOutcomes(procs []*process) []string {
	found := map[string]bool{}
	for _, p := range procs {
		for _, n := range p.list() {
			open := n.proc.Completes == signature.CompletesAny || n.proc.Completes == signature.CompletesSome
			if source := n.proc.Roles.Source; source != 0 {
				n.values[source].each(func(w uint64) { open = open || w == signature.AnySource })
			}
			if open {
				found[n.proc.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

const makefile = `CC = mpicc
CFLAGS = -O2 -Wall -Wextra -Wpedantic

app: %[1]s
	$(CC) -std=c11 $(CFLAGS)%[2]s -o $@ %[1]s

clean:
	rm -f app
`

func makefileOf(procs []*process, sources []string) []byte {
	flags := ""
	if hasThreads(procs) {
		flags = " -pthread"
	}
	return fmt.Appendf(nil, makefile, strings.Join(sources, " "), flags)
}

// main writes the function main.
func (e *emitter) main(out *bytes.Buffer) {
	e.body, e.depth = out, 1
	e.entry(out)
	if len(e.initial()) > 0 {
		e.line("prepare();")
	}
	if e.world.attached > 0 {
		e.line("reserve_attached();")
	}
	if e.prepares() {
		e.line(`prepare_files(launched("OMPI_COMM_WORLD_RANK", "PMI_RANK"));`)
	}
	if n := e.first; n != nil {
		e.lines(e.written[n.number].statements)
		e.line("MPI_Comm_rank(MPI_COMM_WORLD, &rank);")
		e.line("MPI_Comm_size(MPI_COMM_WORLD, &size);")
		e.line(fmt.Sprintf("if (size != %d)", e.ranks))
		e.line("    wrong_size();")
	} else {
		e.needs["launched"] = true
		e.line(`rank = launched("OMPI_COMM_WORLD_RANK", "PMI_RANK");`)
		if e.needs["size"] {
			e.line(`size = launched("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");`)
		}
	}
	for i, c := range e.classes {
		switch {
		case len(e.classes) == 1:
			e.line(c.name + "();")
			continue
		case i == 0:
			e.line("if (" + c.condition() + ")")
		case i == len(e.classes)-1:
			e.line("else")
		default:
			e.line("else if (" + c.condition() + ")")
		}
		e.line("    " + c.name + "();")
	}
	out.WriteString("    return 0;\n}\n")
}

func (e *emitter) head(out *bytes.Buffer) {
	fmt.Fprintf(out, "/* The MPI calls of %s, on %d ranks%s. Written by efg generate. */\n", strings.ReplaceAll(literal(e.opt.Source), "*/", ""), e.ranks, e.recorded)
	if e.world.attached > 0 {
		out.WriteString("#define _DEFAULT_SOURCE\n")
	} else if e.opt.ComputeWith == Sleep && e.needs["compute"] || e.needsAny("starts", "ports", "opened") || e.dispatches() || e.threads > 1 {
		out.WriteString("#define _POSIX_C_SOURCE 200809L\n")
	}
	if e.removed() {
		out.WriteString("#define OMPI_OMIT_MPI1_COMPAT_DECLS 0\n")
	}
	out.WriteString("#include <mpi.h>\n#include <stddef.h>\n")
	if annotated(e.procs) {
		out.WriteString("#include \"efg.h\"\n")
	}
	if e.threads > 1 {
		out.WriteString("#include <pthread.h>\n#include <stdint.h>\n")
	}
	if e.needs["left"] {
		out.WriteString("#include <setjmp.h>\n")
	}
	if e.prepares() || e.needsAny("scratch_path", "starts") {
		out.WriteString("#include <errno.h>\n#include <stdbool.h>\n#include <sys/stat.h>\n")
	}
	if e.needsAny("keep ", "launched", "scratch_path", "starts") || e.first != nil || e.dispatches() || e.world.attached > 0 || e.threads > 1 {
		out.WriteString("#include <stdio.h>\n#include <stdlib.h>\n")
	}
	if e.dispatches() {
		out.WriteString("#include <string.h>\n")
	}
	if e.needsAny("starts", "opened") || slices.ContainsFunc(e.classes, func(c *class) bool { return c.staying() > 0 }) {
		out.WriteString("#include <unistd.h>\n")
	}
	if e.world.attached > 0 {
		out.WriteString("#include <sys/mman.h>\n")
	}
	if e.opt.ComputeWith == Sleep && e.needs["compute"] || e.needs["ports"] || e.threads > 1 {
		out.WriteString("#include <time.h>\n")
	}
	if e.removed() || e.deprecated() {
		out.WriteString("#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n")
	}
	out.WriteString("\n")
}

// needsAny reports whether the program needs something with one of these names or prefixes.
func (e *emitter) needsAny(names ...string) bool {
	for need := range e.needs {
		for _, n := range names {
			if strings.HasPrefix(need, n) {
				return true
			}
		}
	}
	return false
}

// calls reports whether a procedure that f accepts is called.
func (e *emitter) calls(f func(*signature.Proc) bool) bool {
	for _, p := range e.procs {
		for _, n := range p.list() {
			if f(n.proc) {
				return true
			}
		}
	}
	return false
}

// removed reports whether procedures are called that MPI 3 has removed.
func (e *emitter) removed() bool {
	return e.calls(func(p *signature.Proc) bool { return p.Fortran == signature.FortranOld })
}

// deprecated reports whether procedures are called that headers may warn about.
func (e *emitter) deprecated() bool {
	return e.calls(func(p *signature.Proc) bool { return strings.HasPrefix(p.Name, "MPIX_") || p.Name == "MPI_Info_get" })
}

// sortedNeeds are the needs with a prefix, without it.
func (e *emitter) sortedNeeds(prefix string) []string {
	var list []string
	for _, need := range slices.Sorted(maps.Keys(e.needs)) {
		if name, ok := strings.CutPrefix(need, prefix); ok {
			list = append(list, name)
		}
	}
	return list
}
