package merge

import (
	"os"
	"runtime"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/procfs"
)

// ProcessorsHere is Meta.Processors of what is recorded on this machine by this process and those that it starts:
// the processors that it may use, or as many as its control group allows in whole, at least one. It is nil if the machine has no name.
func ProcessorsHere() []string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return nil
	}
	here := runfile.Processors{Host: host, Count: runtime.NumCPU()}
	if quota, limited := procfs.CPUQuota("/"); limited {
		here.Count = max(1, min(here.Count, int(quota)))
	}
	return []string{here.Text()}
}
