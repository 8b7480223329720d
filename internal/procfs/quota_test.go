package procfs

import (
	"os"
	"path/filepath"
	"testing"
)

// The least limit of a group and those around it counts, in control groups of both versions.
func TestCPUQuota(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"no control groups": {},
		"no limit":          {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 0},
		"version 2":         {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"}, 1.5},
		"group around": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "800000 100000\n",
			"sys/fs/cgroup/a/cpu.max": "200000 50000\n"}, 4},
		"container": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3},
		"version 1": {map[string]string{"proc/self/cgroup": "9:pids:/x\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/\n0::/\n",
			"sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us": "250000\n", "sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us": "100000\n"}, 2.5},
		"version 1, no limit": {map[string]string{"proc/self/cgroup": "4:cpu:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 0},
		"nonsense": {map[string]string{"proc/self/cgroup": "x\n0::/\n", "sys/fs/cgroup/cpu.max": "many\n"}, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			file = filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, limited := CPUQuota(root); got != c.want || limited != (c.want > 0) {
			t.Errorf("%s: %v, %v, want %v", name, got, limited, c.want)
		}
	}
}
