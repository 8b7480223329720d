package main

import (
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/counters"
)

// hookEnv adds to an environment what the hook needs. The hook comes last in LD_PRELOAD, so
// that other tools see the program first. Launchers pass it to the processes that they start on
// this machine. (Open MPI could be told to send it to others with OMPI_MCA_mca_base_env_list,
// but then mpiexec refuses to run if -x is used too.)
func hookEnv(env []string, h *hook.Hook, dir string, opt runOptions) []string {
	preload := h.Front
	if old := lookup(env, "LD_PRELOAD"); old != "" {
		preload = old + ":" + preload
	}
	for _, v := range [][2]string{
		{"LD_PRELOAD", preload}, {"EFG_DIR", dir}, {"EFG_BACK", h.BackVar()}, {"EFG_BUILDING", flag(h.Incomplete())}, {"EFG_TIME", opt.hookTime},
		{"EFG_QUERIES", flag(opt.queries)}, {"EFG_BUFFERS", flag(opt.buffers)}, {"EFG_POLLS", opt.polls},
		{"EFG_REPLAY", opt.replay.path}, {"EFG_CALLPATH", strconv.Itoa(int(opt.callpath))},
		{"EFG_COUNTERS", counters.ForHook(opt.counted)}, {"EFG_COUNTER_VALUES", flag(opt.values)},
	} {
		env = setenv(env, v[0], v[1])
	}
	if lookup(env, nvtxVar) == "" {
		env = setenv(env, nvtxVar, h.Front)
	}
	return env
}

// nvtxVar names the library to which programs hand the ranges that they mark by NVTX; another tool may
// have set it.
const nvtxVar = "NVTX_INJECTION64_PATH"

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

func parent(file string) string { return filepath.Dir(file) }

// version is the version of this program, as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
