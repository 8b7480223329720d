package generate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// scratchPrefix begins the names of the files of a generated program.
const scratchPrefix = "efg-scratch-"

// IsScratch reports whether a path is that of a file of a generated program, which stands for a
// file of the recorded one.
func IsScratch(path string) bool {
	return isNumbered(path, scratchPrefix)
}

// isNumbered reports whether the last part of a path is a prefix with a number.
func isNumbered(path, prefix string) bool {
	number, ok := strings.CutPrefix(path[strings.LastIndex(path, "/")+1:], prefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// scratchFile is a file of the program, in place of one that the recorded program named.
type scratchFile struct {
	first   *process // the first one that names it
	owner   int      // the rank of the first world that removes the file of an earlier run
	existed bool     // before the run
}

// scratchFiles are the files of a program.
type scratchFiles struct {
	list   []scratchFile
	number map[string]uint64       // by recorded name
	port   map[*efg.Process]uint64 // by the process that opens a port
}

// numberFiles numbers the names of files, those of all processes together.
func numberFiles(worlds []*world) (*scratchFiles, error) {
	f := &scratchFiles{number: map[string]uint64{}, port: map[*efg.Process]uint64{}}
	for k, w := range worlds {
		for _, p := range w.procs {
			owner := p.rank
			if k > 0 {
				owner = 0
			}
			f.numberOf(p, owner)
			if err := f.numberPorts(p, owner); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range worlds {
		for _, p := range w.procs {
			if err := f.checkPorts(p); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// numberOf numbers the names of files that a process uses.
func (f *scratchFiles) numberOf(p *process, owner int) {
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
				k, ok := f.number[name]
				if !ok {
					k = uint64(len(f.list))
					f.number[name] = k
					f.list = append(f.list, scratchFile{first: p, owner: owner})
				}
				if s := &f.list[k]; s.first == p && n.header.ErrorClass() == 0 && !decided[name] {
					decided[name] = true
					s.existed = !n.creates()
				}
			})
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
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) { return e.world.files.number[p.strings[w]], nil })
		numbers[i] = &value{series: s}
	}
	e.needs["scratch_path"] = true
	return "scratch_path(\"" + scratchPrefix + "\", " + e.scalar(q.Name, "int", numbers, func(w uint64) string { return fmt.Sprint(w) }) + ")"
}

// prepares reports whether the program prepares files, those of all worlds.
func (e *emitter) prepares() bool {
	if e.world.started || len(e.world.files.list) == 0 {
		return false
	}
	e.needs["launched"] = true
	e.needs["scratch_path"] = true
	return true
}

// scratchFiles writes what names and prepares files, and programs of other worlds.
func (e *emitter) scratchFiles(out *bytes.Buffer) {
	if e.needs["scratch_path"] {
		out.WriteString(e.support("scratch.c"))
	}
	if e.needs["ports"] {
		out.WriteString(e.support("ports.c", "PREFIX", scratchPrefix, "FILES", strconv.Itoa(len(e.world.files.list))))
	}
	if e.needs["opened"] {
		out.WriteString(e.support("opened.c", "PREFIX", scratchPrefix))
	}
	if e.needs["starts"] {
		out.WriteString(e.support("command.c", "PREFIX", worldPrefix))
	}
	if e.commands > 0 {
		out.WriteString(e.support("commands.c", "COMMANDS", strconv.Itoa(e.commands)))
	}
	if !e.prepares() {
		return
	}
	elems := make([]string, len(e.world.files.list))
	for i, f := range e.world.files.list {
		elems[i] = fmt.Sprintf("{%d, %t}", f.owner, f.existed)
	}
	out.WriteString(e.support("files.c", "FILES", wrap(strings.Join(elems, ", ")), "PREFIX", scratchPrefix))
}
