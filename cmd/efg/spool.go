package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/symbolize"
	"github.com/efg-tools/efg/signature"
)

// roomForSegments is what must be free in /dev/shm to put segments there.
const roomForSegments = 32 << 20

// makeSpool makes the private folder of this run's segments: in memory if there
// is room, else in TMPDIR.
func makeSpool() (string, error) {
	base := os.TempDir()
	var st syscall.Statfs_t
	if syscall.Statfs("/dev/shm", &st) == nil && st.Bavail*uint64(st.Bsize) >= roomForSegments {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "efg-")
	if err != nil && base != os.TempDir() {
		dir, err = os.MkdirTemp("", "efg-")
	}
	return dir, err
}

// hookEnv adds to an environment what the hook needs. The hook comes last in
// LD_PRELOAD, so that other tools see the program first. Launchers hand it to
// the processes that they start on this machine. (Open MPI could be told to send
// it to others with OMPI_MCA_mca_base_env_list, but then mpiexec refuses to run
// if -x is used too.)
func hookEnv(env []string, h *hook.Hook, dir string, opt runOptions) []string {
	preload := h.Front
	if old := lookup(env, "LD_PRELOAD"); old != "" {
		preload = old + ":" + preload
	}
	for _, v := range [][2]string{
		{"LD_PRELOAD", preload}, {"EFG_DIR", dir}, {"EFG_BACK", h.BackVar()}, {"EFG_TIME", opt.hookTime},
		{"EFG_QUERIES", flag(opt.queries)}, {"EFG_BUFFERS", flag(opt.buffers)}, {"EFG_POLLS", opt.polls},
	} {
		env = setenv(env, v[0], v[1])
	}
	return env
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func lookup(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

func setenv(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, name+"=") })
	return append(env, name+"="+value)
}

// collect reads the segments in dir and writes the run file. It returns the
// number of processes; without any it writes nothing.
func collect(dir, output string, meta efg.Meta, errOut io.Writer) (int, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		return 0, err
	}
	var procs []*efg.Process
	var failed []error
	deadline := time.Now().Add(dyingTime)
	for _, f := range files {
		p, err := readEnded(f, deadline)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		procs = append(procs, p)
	}
	if len(procs) == 0 {
		return 0, errors.Join(failed...)
	}
	separateWorlds(procs)
	meta.Sites = symbolize.Sites(procs)
	if err := efg.WriteRun(output, procs, meta); err != nil {
		return 0, err
	}
	for _, err := range failed {
		fmt.Fprintln(errOut, "efg: a process is missing from the file:", err)
	}
	if n := dropped(procs); n > 0 {
		fmt.Fprintf(errOut, "efg: %d events were not recorded for lack of space\n", n)
	}
	return len(procs), nil
}

// dyingTime is how long collect waits for processes that outlive the launcher.
// After an abort a launcher may return before all ranks have ended.
const dyingTime = 2 * time.Second

// readEnded reads the segment of a process that has ended, or, from the deadline
// on, of any.
func readEnded(file string, deadline time.Time) (*efg.Process, error) {
	for {
		p, err := segment.Read(file)
		if err != nil || !running(p) || time.Now().After(deadline) {
			return p, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// running reports whether a process was cut off in its recording and is still
// there. What has ended and is not reaped has no program any more.
func running(p *efg.Process) bool {
	for i := range p.Streams {
		if p.Streams[i].End == efg.EndOpen {
			_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
			return err == nil
		}
	}
	return false
}

// dropped is how many events processes have not recorded.
func dropped(procs []*efg.Process) (n uint64) {
	for _, p := range procs {
		for i := range p.Streams {
			n += p.Streams[i].Dropped
		}
	}
	return n
}

// separateWorlds tells apart worlds that have one name, because their launcher
// gives none and a script started several, one after the other: the n-th process
// of a rank, by the time it started, is in the n-th world.
func separateWorlds(procs []*efg.Process) {
	type place struct {
		world      uint64
		rank, size int
	}
	byStart := slices.Clone(procs)
	slices.SortStableFunc(byStart, func(a, b *efg.Process) int { return cmp.Compare(a.Start, b.Start) })
	seen := map[place]uint64{}
	for _, p := range byStart {
		at := place{p.World, p.Rank, p.Size}
		if n := seen[at]; n > 0 && p.Rank >= 0 {
			p.World = signature.Hash(p.World, n)
		}
		seen[at]++
	}
}

func parent(file string) string { return filepath.Dir(file) }

// version is the version of this program, as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
