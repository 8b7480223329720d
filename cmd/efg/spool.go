package main

import (
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
	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/segment"
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
		{"LD_PRELOAD", preload}, {"EFG_DIR", dir}, {"EFG_BACK", h.BackVar()}, {"EFG_BUILDING", flag(h.Incomplete())}, {"EFG_TIME", opt.hookTime},
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

// collect writes the run file of the segments in dir, once their processes have ended.
// Without any it returns nil.
func collect(dir, output string, meta efg.Meta, errOut io.Writer) (*merge.Result, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	awaitEnd(files, time.Now().Add(dyingTime))
	r, err := merge.Run(files, merge.Options{Output: output, Workers: 1, SkipBroken: true, Recorded: &meta})
	if err != nil {
		return nil, err
	}
	for _, what := range r.LeftOut {
		fmt.Fprintln(errOut, "efg: a process is missing from the file:", what)
	}
	if r.Dropped > 0 {
		fmt.Fprintf(errOut, "efg: %d events were not recorded for lack of space\n", r.Dropped)
	}
	return r, nil
}

// dyingTime is how long collect waits for processes that outlive the launcher.
// After an abort a launcher may return before all ranks have ended.
const dyingTime = 2 * time.Second

// awaitEnd waits until no process records into the segments, or for the deadline.
func awaitEnd(segments []string, deadline time.Time) {
	for slices.ContainsFunc(segments, segment.BeingWritten) && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
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
