package merge

import (
	"os"
	"runtime"

	"github.com/efg-tools/efg/efg/runfile"
)

// ProcessorsHere is Meta.Processors of what is recorded on this machine by this process and those that it starts:
// the processors that it may use. It is nil if the machine has no name.
func ProcessorsHere() []string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return nil
	}
	here := runfile.Processors{Host: host, Count: runtime.NumCPU()}
	return []string{here.Text()}
}
