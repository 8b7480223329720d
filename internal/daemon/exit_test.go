package daemon

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/procfs"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// checkExit checks what a run reports about its launcher, and about ranks that were killed.
func checkExit(t *testing.T, opt *Options, x *Summary, m groundtruth.MPI, status int, args []string) {
	t.Helper()
	if x.Exit == nil || !strings.HasPrefix(filepath.Base(x.Exit.Launcher[0]), "mpiexec") || !strings.Contains(strings.Join(x.Exit.Launcher, " "), strings.Join(args, " ")) {
		t.Fatalf("%s %v: %+v", m.Name, args, x.Exit)
	}
	run, err := runfile.OpenRun((&Store{opt.Store}).RunFile(x.Name))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if !slices.Equal(run.Meta.Launcher, x.Exit.Launcher) {
		t.Errorf("%s %v: the file has the launcher %v", m.Name, args, run.Meta.Launcher)
	}
	if run.Meta.StatusUnknown != (x.Exit.Status == nil) {
		t.Errorf("%s %v: status unknown in the file: %v; %+v", m.Name, args, run.Meta.StatusUnknown, x.Exit)
	}
	if !procfs.TellsExits() {
		return
	}
	if x.Exit.Status == nil || *x.Exit.Status != status || run.Meta.Status != status {
		t.Errorf("%s %v: %+v, status %d in the file, want %d", m.Name, args, x.Exit, run.Meta.Status, status)
	}
	killed := slices.Contains(x.Exit.Ranks, RankExit{1, 128 + int(syscall.SIGKILL)})
	if want := args[len(args)-1] == "kill"; killed != want && want || status == 0 && len(x.Exit.Ranks) > 0 {
		t.Errorf("%s %v: ranks %v", m.Name, args, x.Exit.Ranks)
	}
}
