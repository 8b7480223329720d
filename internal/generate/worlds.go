package generate

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// world is an MPI_COMM_WORLD of the run.
type world struct {
	procs   []*process // in the order of their ranks
	program int        // the number of the program that makes its calls
	began   int64      // when its first process began, since 1970, ns
	// possible are the calls that may have started it, if that is not certain.
	possible []*start
}

// readWorlds reads the worlds of a run in the order in which they began, for a program on ranks ranks if that is more.
// All but the first were started by calls of earlier ones.
func readWorlds(run *runfile.Run, ranks int) ([]*world, error) {
	if len(run.Procs) == 0 {
		return nil, errors.New("the run has no processes")
	}
	if run.Meta.Queries {
		return nil, errors.New("the run has local queries (efg run --queries): record it without them")
	}
	named := sync.OnceValues(func() (*reconstruct.Run, error) { return reconstruct.NewRun(run) })
	events := func(i int) (*reconstruct.Process, error) {
		r, err := named()
		if err != nil {
			return nil, err
		}
		return r.Process(i)
	}
	var worlds []*world
	for i := range run.Procs {
		in := &run.Procs[i]
		if in.InWorld() == 0 {
			worlds = append(worlds, &world{began: in.Start})
		}
		if len(worlds) == 0 || in.InWorld() != len(worlds[len(worlds)-1].procs) {
			return nil, incomplete(run, i)
		}
		w := worlds[len(worlds)-1]
		p, err := readProcess(run, i, ranks, events)
		if err != nil {
			return nil, err
		}
		w.procs, w.began = append(w.procs, p), min(w.began, in.Start)
		if last := i+1 == len(run.Procs) || run.Procs[i+1].InWorld() == 0; last && in.Size != len(w.procs) {
			return nil, incomplete(run, i)
		}
	}
	if len(worlds) > 1 && ranks > 0 {
		return nil, fmt.Errorf("the run has %d worlds: a program on another number of ranks is not generated", len(worlds))
	}
	for _, w := range worlds {
		if err := w.handOver(ranks); err != nil {
			return nil, err
		}
	}
	return worlds, nil
}

func incomplete(run *runfile.Run, i int) error {
	return fmt.Errorf("process %d of %d: not all processes of its world were recorded", i, len(run.Procs))
}

// programs returns the texts of the programs of worlds, that of the first world first. Worlds that make the same calls
// have one.
func programs(worlds []*world, starts []start, attached int64, opt *Options) ([][]byte, error) {
	if len(worlds) == 1 {
		worlds[0].namePrograms(worlds, nil)
		text, err := program(&worldProgram{world: worlds[0], attached: attached}, opt)
		return [][]byte{text}, err
	}
	files, err := numberFiles(worlds)
	if err != nil {
		return nil, err
	}
	texts := [][]byte{nil}
	for k := len(worlds) - 1; k >= 0; k-- { // those that a world starts come before it
		w := worlds[k]
		w.namePrograms(worlds, starts)
		text, err := program(&worldProgram{world: w, files: files, started: k > 0, others: len(texts) - 1, attached: attached}, opt)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			texts[0] = text
			break
		}
		w.program = 1
		for w.program < len(texts) && !bytes.Equal(texts[w.program], text) {
			w.program++
		}
		if w.program == len(texts) {
			texts = append(texts, text)
		}
	}
	if err := ambiguous(worlds); err != nil {
		return nil, err
	}
	for i, text := range texts {
		texts[i] = bytes.ReplaceAll(text, []byte(worldName(unnumbered)), []byte(worldName(i)))
	}
	return texts, nil
}

// worldProgram is a world whose program is written.
type worldProgram struct {
	*world
	files   *scratchFiles // of all worlds
	started bool          // by a call of another world
	others  int           // programs of worlds that were started
	// attached is how much memory is attached to dynamic windows
	attached int64
}

// unnumbered is the number of a program while it is written.
const unnumbered = -1

// worldName is the name of the function that makes the calls of a world that is started.
func worldName(program int) string {
	if program == unnumbered {
		return "world_\x00"
	}
	return "world_" + strconv.Itoa(program)
}

// worldPrefix begins the names by which a generated program starts itself for other worlds.
const worldPrefix = "efg-world-"

// IsWorld reports whether a command is that by which a generated program starts itself, which stands for a program
// that the recorded one started.
func IsWorld(command string) bool { return isNumbered(command, worldPrefix) }

// dispatches reports whether the program is also that of other worlds.
func (e *emitter) dispatches() bool { return e.world.others > 0 && !e.world.started }

// entry writes the head of the function that makes the calls of the world, and goes to those of other worlds.
func (e *emitter) entry(out *bytes.Buffer) {
	switch {
	case e.world.started:
		fmt.Fprintf(out, "int %[1]s(void);\n\nint %[1]s(void)\n{\n", worldName(unnumbered))
	case !e.dispatches():
		out.WriteString("int main(void)\n{\n")
	default:
		out.WriteString("int main(int argc, char **argv)\n{\n")
		e.line("int world = started_as(argc > 0 ? argv[0] : \"\");")
		e.line("if (world > 0)")
		e.line("    return worlds[world - 1]();")
	}
}

// startedWorlds writes the functions for other worlds.
func (e *emitter) startedWorlds(out *bytes.Buffer) {
	if !e.dispatches() {
		return
	}
	names := make([]string, e.world.others)
	for i := range names {
		names[i] = worldName(i + 1)
		fmt.Fprintf(out, "int %s(void);\n", names[i])
	}
	fmt.Fprintf(out, "static int (*const worlds[])(void) = {%s};\n\n", wrap(strings.Join(names, ", ")))
	out.WriteString(e.support("started.c", "PREFIX", worldPrefix))
}

// command is the expression of the name of a program that a call starts, or of several names.
func (e *emitter) command(q *signature.Param, word int) string {
	list := e.values(word)
	if w, ok := list[0].constant(); ok && special(w) {
		return "NULL"
	}
	e.needs["starts"] = true
	e.needs["scratch_path"] = true
	numbers := make([]*value, len(list))
	most := 1
	for i, v := range list {
		most = max(most, longest(list[i:i+1]))
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) {
			switch {
			case special(w):
				return 0, nil // another rank says what is started
			case v.vecs != nil && len(v.vecs[w]) > 0:
				return v.vecs[w][0], nil
			}
			return w, nil
		})
		numbers[i] = &value{series: s}
	}
	text := e.scalar("world", "int", numbers, func(w uint64) string { return fmt.Sprint(w) })
	if q.Len == nil {
		return "world_command(" + text + ")"
	}
	e.commands = max(e.commands, most)
	return "world_commands(" + text + ")"
}
