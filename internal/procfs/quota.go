package procfs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// CPUQuota is how many processors' time this process may take by the limits of its control groups (of version 2,
// cpu.max; of version 1, cpu.cfs_quota_us), as containers and batch systems set them. It is false if there is no limit, or none is known. root is "/" but in tests.
func CPUQuota(root string) (processors float64, limited bool) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(fields) < 3 {
			continue
		}
		controllers := strings.Split(fields[1], ",")
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			if quota, ok := quotaOf(root, controllers, group); ok && (!limited || quota < processors) {
				processors, limited = quota, true
			}
			if group == "/" {
				break
			}
		}
	}
	return processors, limited
}

// quotaOf is the limit of one control group. A container sees its own group at the root of the mount.
func quotaOf(root string, controllers []string, group string) (processors float64, ok bool) {
	var quota, period int64
	mount := filepath.Join(root, "sys/fs/cgroup")
	switch {
	case slices.Equal(controllers, []string{""}):
		for _, at := range []string{mount, filepath.Join(mount, "unified")} {
			text, _ := os.ReadFile(filepath.Join(at, group, "cpu.max"))
			if n, _ := fmt.Sscan(string(text), &quota, &period); n == 2 { // otherwise it is max
				break
			}
		}
	case slices.Contains(controllers, "cpu"):
		for _, name := range []string{"cpu", strings.Join(controllers, ",")} {
			for file, v := range map[string]*int64{"cpu.cfs_quota_us": &quota, "cpu.cfs_period_us": &period} {
				if text, err := os.ReadFile(filepath.Join(mount, name, group, file)); err == nil {
					fmt.Sscan(string(text), v)
				}
			}
		}
	}
	if quota <= 0 || period <= 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}
