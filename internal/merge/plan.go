package merge

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// workPrefix begins the names of work directories.
const workPrefix = ".efg-merge-"

// chunk is a share of the inputs, all of one kind. It does not depend on the number of workers:
// a restarted merge reuses finished chunks.
type chunk struct {
	number int
	kind   kind
	inputs []input
}

// limits bound a chunk. The segments of a chunk are in memory at the same time.
type limits struct {
	bytes              int64
	segments, runFiles int
}

func (l limits) orDefault() limits {
	if l == (limits{}) {
		return limits{64 << 20, 256, 64}
	}
	return l
}

// plan divides the work.
type plan struct {
	inputs []input
	chunks []chunk
	// directories are where the work directory may be: beside the parts or, if that is not
	// allowed, beside the output.
	dirs   []string
	name   string // of the work directory
	family string // prefix of the names of all work directories of this output
}

// newPlan makes a plan. It depends on the files, their sizes and modification times, not on the
// order of arguments.
func newPlan(inputs []input, opt *Options) (*plan, error) {
	out, err := filepath.Abs(opt.Output)
	if err != nil {
		return nil, argumentError(opt.Output, err)
	}
	digest := xxhash.New()
	fmt.Fprintf(digest, "1\x00%s\x00", opt.Tool)
	for i := range inputs {
		in := &inputs[i]
		fmt.Fprintf(digest, "%s\x00%d %d %d\x00", in.abs, in.kind, in.size, in.changed)
	}
	p := &plan{inputs: inputs, chunks: divide(inputs, opt.limits)}
	p.family = fmt.Sprintf("%s%08x-", workPrefix, uint32(xxhash.Sum64String(out)))
	p.name = fmt.Sprintf("%s%016x", p.family, digest.Sum64())
	first := inputs[0].abs
	for i := range inputs {
		first = min(first, inputs[i].abs)
	}
	p.dirs = slices.Compact([]string{filepath.Dir(first), filepath.Dir(out)})
	return p, nil
}

// divide makes chunks from sorted inputs.
func divide(inputs []input, most limits) []chunk {
	var chunks []chunk
	size := int64(0)
	for _, in := range inputs {
		limit := most.segments
		if in.kind == runFile {
			limit = most.runFiles
		}
		n := len(chunks)
		if n == 0 || chunks[n-1].kind != in.kind || len(chunks[n-1].inputs) >= limit || size+in.size > most.bytes {
			chunks = append(chunks, chunk{number: n, kind: in.kind})
			n, size = n+1, 0
		}
		chunks[n-1].inputs = append(chunks[n-1].inputs, in)
		size += in.size
	}
	return chunks
}

// isPart reports whether the chunk already is a part.
func (c *chunk) isPart() bool { return c.kind == runFile && len(c.inputs) == 1 }

func (c *chunk) paths() []string {
	var paths []string
	for i := range c.inputs {
		paths = append(paths, c.inputs[i].path)
	}
	return paths
}
