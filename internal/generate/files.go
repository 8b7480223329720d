package generate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// scratchPrefix begins the names of the files of a generated program.
const scratchPrefix = "efg-scratch-"

// IsScratch reports whether a path is that of a file of a generated program, which stands for a
// file of the recorded one.
func IsScratch(path string) bool {
	number, ok := strings.CutPrefix(path[strings.LastIndex(path, "/")+1:], scratchPrefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// scratchFile is a file of the program, in place of one that the recorded program named.
type scratchFile struct {
	owner   int  // the first rank that names it: it removes the file of an earlier run
	existed bool // before the run
}

// numberFiles numbers the names of files, those of all processes together.
func (e *emitter) numberFiles() {
	e.fileOf = map[string]uint64{}
	for _, p := range e.procs {
		decided := map[string]bool{} // a call of this process has succeeded
		for _, n := range p.list() {
			for i := range n.values {
				if q := n.param(i); q == nil || !q.FileName() {
					continue
				}
				n.values[i].each(func(w uint64) {
					if special(w) {
						return
					}
					name := p.strings[w]
					k, ok := e.fileOf[name]
					if !ok {
						k = uint64(len(e.files))
						e.fileOf[name] = k
						e.files = append(e.files, scratchFile{owner: p.rank})
					}
					if f := &e.files[k]; f.owner == p.rank && n.header.ErrorClass() == 0 && !decided[name] {
						decided[name] = true
						f.existed = !n.creates()
					}
				})
			}
		}
	}
}

// creates reports whether calls create the file that they name.
func (n *node) creates() bool {
	creates := false
	for i := range n.values {
		if q := n.param(i); q != nil && q.Set == "amode" && !n.proc.Words[i].Out {
			n.values[i].each(func(w uint64) {
				names, _ := signature.FlagNames(q.Set, w)
				creates = creates || slices.Contains(names, "MPI_MODE_CREATE")
			})
		}
	}
	return creates
}

// fileName is the expression of the name of a file.
func (e *emitter) fileName(q *signature.Param, word int) string {
	list := e.values(word)
	numbers := make([]*value, len(list))
	for i, v := range list {
		p := e.call.procs[i]
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) { return e.fileOf[p.strings[w]], nil })
		numbers[i] = &value{series: s}
	}
	return "scratch_file(" + e.scalar(q.Name, "int", numbers, func(w uint64) string { return fmt.Sprint(w) }) + ")"
}

// scratchFiles writes what names and prepares the files.
func (e *emitter) scratchFiles(out *bytes.Buffer) {
	if len(e.files) == 0 {
		return
	}
	elems := make([]string, len(e.files))
	for i, f := range e.files {
		elems[i] = fmt.Sprintf("{%d, %t}", f.owner, f.existed)
	}
	out.WriteString(support("files.c", "FILES", wrap(strings.Join(elems, ", ")), "PREFIX", scratchPrefix))
}
