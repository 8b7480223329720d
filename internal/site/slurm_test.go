package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compileC compiles C without warnings.
func compileC(t *testing.T, args ...string) string {
	t.Helper()
	product := filepath.Join(t.TempDir(), "product")
	args = append([]string{"-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-o", product}, args...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, out)
	}
	return product
}

// The plugin is a library that exports what Slurm requires.
func TestPluginCompiles(t *testing.T) {
	library := compileC(t, "-fPIC", "-shared", filepath.Join(written(t), "slurm", "spank_efg.c"))
	out, err := exec.Command("nm", "-D", "--defined-only", library).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plugin_type", "slurm_spank_init", "slurm_spank_init_post_opt", "slurm_spank_task_init"} {
		if !strings.Contains(string(out), " "+name+"\n") {
			t.Errorf("no %s in\n%s", name, out)
		}
	}
}

// The effect of the option and of the site's default on a task's environment.
func TestPlugin(t *testing.T) {
	program := compileC(t, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "testdata/spank.c")
	dir := t.TempDir()
	front, spool := filepath.Join(dir, "libefg.so"), filepath.Join(dir, "spool")
	for _, path := range []string{front, filepath.Join(spool, "hook")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const lost = "error efg: HOST: not recorded: "
	long := "/" + strings.Repeat("x", 40000)
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"", "", 0},
		{"-e LD_PRELOAD=a:b", "LD_PRELOAD=a:b\n", 0},
		{"-o -", "LD_PRELOAD=FRONT\n", 0},
		{"-o (null)", "LD_PRELOAD=FRONT\n", 0},
		{"-o on -e EFG_TIME=off", "LD_PRELOAD=FRONT\nEFG_TIME=off\n", 0},
		{"-o stats", "LD_PRELOAD=FRONT\nEFG_TIME=stats\n", 0},
		{"-o trace -e LD_PRELOAD=/a.so", "LD_PRELOAD=/a.so:FRONT\nEFG_TIME=trace=500\n", 0},
		{"-o - -e LD_PRELOAD=FRONT:/a.so", "LD_PRELOAD=/a.so:FRONT\n", 0},
		{"-o - -e LD_PRELOAD=:FRONT2::/a.so:", "LD_PRELOAD=FRONT2:/a.so:FRONT\n", 0},
		{"-o off -e LD_PRELOAD=FRONT", "", 0},
		{"-o off -e LD_PRELOAD=/a.so:FRONT:/b.so", "LD_PRELOAD=/a.so:/b.so\n", 0},
		{"-o off -e LD_PRELOAD=::", "LD_PRELOAD=::\n", 0},
		{"-p default=trace", "LD_PRELOAD=FRONT\nEFG_TIME=trace=500\n", 0},
		{"-p default=trace -o stats", "LD_PRELOAD=FRONT\nEFG_TIME=stats\n", 0},
		{"-p default=on -o off", "", 0},
		{"-o fast", "error --efg=fast: want off, on, stats or trace\n", 1},
		{"-p default=fast", "error efg: plugstack.conf: default=fast: want front=/FILE or default=off, on, stats or trace\n", 1},
		{"-p front=libefg.so", "error efg: plugstack.conf: front=libefg.so: want front=/FILE or default=off, on, stats or trace\n", 1},
		{"-p front=/a:b", "error efg: plugstack.conf: front=/a:b: want front=/FILE or default=off, on, stats or trace\n", 1},
		{"-p what", "error efg: plugstack.conf: what: want front=/FILE or default=off, on, stats or trace\n", 1},
		{"-p front=/nowhere/x.so -o - -e LD_PRELOAD=/a.so", lost + "no file /nowhere/x.so\nLD_PRELOAD=/a.so\n", 0},
		{"-o - -e EFG_SPOOL=/nowhere", lost + "no daemon; say --efg to sbatch or salloc, too\nLD_PRELOAD=FRONT\n", 0},
		{"-o - -e EFG_SPOOL=/nowhere -e TASK=1", "LD_PRELOAD=FRONT\n", 0},
		{"-o trace -e LD_PRELOAD=" + long, "error efg: not recorded: LD_PRELOAD: no space\nLD_PRELOAD=" + long + "\n", 0},
		{"-l -o trace", "control EFG=trace\n", 0},
		{"-l -p default=on", "control EFG=on\n", 0},
		{"-l -p default=on -o off", "", 0},
		{"-l", "", 0},
	} {
		names := strings.NewReplacer("FRONT", front, "HOST", host)
		args := append([]string{"-p", "front=" + front, "-e", "EFG_SPOOL=" + spool}, strings.Fields(names.Replace(c.args))...)
		cmd := exec.Command(program, args...)
		cmd.Env = []string{"ASAN_OPTIONS=verify_asan_link_order=0"}
		out, err := cmd.Output()
		if status := cmd.ProcessState.ExitCode(); status != c.status || string(out) != names.Replace(c.want) {
			t.Errorf("%.80s: status %d, %.300s, want %.300s; %v", c.args, status, out, names.Replace(c.want), err)
		}
	}
}

// The shells accept the scripts.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(written(t), "slurm", "*.sh"))
	if err != nil || len(scripts) != 3 {
		t.Fatalf("scripts %v, %v", scripts, err)
	}
	for _, path := range append(scripts, "../../scripts/slurm.sh", "../../scripts/slurm-site.sh") {
		for _, shell := range []string{"sh", "bash"} {
			if out, err := exec.Command(shell, "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%s %s: %v\n%s", shell, path, err, out)
			}
		}
	}
}
