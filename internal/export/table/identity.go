package table

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/efg-tools/efg/efg/runfile"
)

// RunID returns a name for a run that is equal for all run files of one launch, however they were
// merged, and different for others: a letter and hexadecimal digits.
func RunID(run *runfile.Run) (string, error) {
	hash := sha256.New()
	out := json.NewEncoder(hash)
	for i := range run.Procs {
		p := &run.Procs[i]
		if err := out.Encode([]any{p.World, p.Rank, p.Size, p.PID, p.Start, p.Host, p.Command}); err != nil {
			return "", err
		}
		for k := range p.Streams {
			s := &p.Streams[k]
			if err := out.Encode([]uint64{uint64(s.Thread), s.Events, s.Nodes, s.Edges, s.Dropped}); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("r%x", hash.Sum(nil)[:8]), nil
}
