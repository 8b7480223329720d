package hook

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// FindFor is like Find, for a command. It asks only the first MPI compiler if there is a back end of
// it for each MPI library that the command's programs link: asking takes a compiler longer than all
// the rest. BuildBacks asks the others.
func FindFor(ctx context.Context, opt Options, command []string) (*Hook, error) {
	h, err := find(opt)
	if err != nil {
		return nil, err
	}
	if libraries := h.librariesOf(command); len(libraries) > 0 && !opt.Rebuild {
		if err := h.ask(ctx, 1); err != nil || h.has(libraries) {
			return h, err
		}
	}
	return h, h.ask(ctx, len(h.unasked))
}

// has reports whether there is a back end for each of these MPI libraries.
func (h *Hook) has(libraries map[string]bool) bool {
	for soname := range libraries {
		if !slices.ContainsFunc(h.Backs, func(b Back) bool { return b.Soname == soname }) {
			return false
		}
	}
	return true
}

// BuildFor builds the back ends that a command is known to need: for the MPI libraries that its
// programs link, or else for the MPI of its launcher. For a script, for example, nothing is
// known, and nothing is built. It is an error if none of the needed back ends can be built.
func (h *Hook) BuildFor(ctx context.Context, command []string) error {
	if libraries := h.librariesOf(command); len(libraries) > 0 {
		return h.build(ctx, func(m *mpi) bool { return libraries[m.libraryName(ctx, h.builder)] })
	}
	mark := launcherMark(command[0])
	return h.build(ctx, func(m *mpi) bool { return mark != "" && strings.Contains(m.identity, mark) })
}

// librariesOf finds the MPI libraries that the programs of a command link. It remembers those of the
// last command.
func (h *Hook) librariesOf(command []string) map[string]bool {
	if h.libraries != nil && slices.Equal(command, h.command) {
		return h.libraries
	}
	h.command, h.libraries = slices.Clone(command), map[string]bool{}
	for _, word := range command {
		if path, err := exec.LookPath(word); err == nil {
			newLinked(h.libraries).add(path)
		}
	}
	return h.libraries
}

// libraryName returns the soname of the compiler's MPI library, "" if it links none.
func (m *mpi) libraryName(ctx context.Context, b *builder) string {
	if m.back != nil {
		return m.back.Soname
	}
	if m.soname == "" {
		m.soname, _ = b.probe(ctx, m.compiler)
	}
	return m.soname
}

// probe links an empty library to see which MPI library it needs.
func (b *builder) probe(ctx context.Context, c compiler) (string, error) {
	dir, done, err := b.cache.scratch(ctx, fmt.Sprintf("probe-%d", os.Getpid()))
	if err != nil {
		return "", err
	}
	defer done()
	file := filepath.Join(dir, "probe.so")
	if err := c.run(ctx, dir, "-shared", "-Wl,--no-as-needed", "-o", file, "-x", "c", "/dev/null"); err != nil {
		return "", err
	}
	return mpiSoname(file)
}

// launchers are words in the name of a launcher's file, or of a link to it, with what the mpi.h
// of that MPI defines.
var launchers = []struct{ word, mark string }{
	{"openmpi", "#define OPEN_MPI"}, {"orterun", "#define OPEN_MPI"}, {"prterun", "#define OPEN_MPI"},
	{"mpich", "#define MPICH_VERSION"}, {"hydra", "#define MPICH_VERSION"},
}

// launcherMark returns a text in the mpi.h of a launcher's MPI, "" if that is unknown.
func launcherMark(name string) string {
	path, err := exec.LookPath(name)
	for links := 0; err == nil && links < 40; links++ {
		for _, l := range launchers {
			if strings.Contains(filepath.Base(path), l.word) {
				return l.mark
			}
		}
		var to string
		if to, err = os.Readlink(path); !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return ""
}

// linked finds the MPI libraries that programs link, directly or through other libraries,
// approximately where the dynamic linker would find them: building too much does no harm, and a
// missing one is built when a process requests it.
type linked struct {
	libraries map[string]bool // found, by soname
	seen      map[string]bool
}

func newLinked(libraries map[string]bool) *linked { return &linked{libraries, map[string]bool{}} }

// usual are the default directories of the dynamic linker.
var usual = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib",
}

func (l *linked) add(path string, inherited ...string) {
	f, err := elf.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return
	}
	rpath, runpath := searchPath(f, elf.DT_RPATH, path), searchPath(f, elf.DT_RUNPATH, path)
	inherited = slices.Concat(rpath, inherited)
	dirs := slices.Concat(inherited, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")), runpath, usual)
	for _, name := range needed {
		switch {
		case mpiLibrary.MatchString(name):
			l.libraries[name] = true
		case !l.seen[name]:
			l.seen[name] = true
			if file := firstFile(dirs, name); file != "" {
				l.add(file, inherited...)
			}
		}
	}
}

// searchPath returns the directories of a search path in a file.
func searchPath(f *elf.File, tag elf.DynTag, path string) []string {
	list, err := f.DynString(tag)
	if err != nil || len(list) == 0 {
		return nil
	}
	origin := filepath.Dir(path)
	return filepath.SplitList(strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(list[0]))
}

func firstFile(dirs []string, name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, dir := range dirs {
		file := filepath.Join(dir, name)
		if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() {
			return file
		}
	}
	return ""
}
