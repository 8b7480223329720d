// Package paraver writes a run as a trace for Paraver and Dimemas: the records, the labels of what
// they have numbers for, and the names of its threads, in the conventions of Extrae. docs/exchange.md
// says what becomes of what.
//
// Records have to be in the order of their times. They are sorted in memory up to a size, and beyond that
// in files; memory also grows with the messages that are under way and the communicators.
package paraver

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Name is the name of the files without their extensions.
const Name = "trace"

// Parts of a trace, see export.Job: without any, all are written.
const (
	States   = "states"
	Calls    = "calls"
	Messages = "messages"
)

// ErrNoTimes: a trace is made of times.
var ErrNoTimes = match.ErrNoTimes

// writer writes a run.
type writer struct {
	job     *export.Job
	run     *runfile.Run
	sorter  *sorter
	hosts   []string
	threads []thread
	first   map[int]int // of each selected process: its first thread
	tasks   map[int]int // numbers of tasks, by rank
	comms   map[analysis.CommKey]int
	members [][]int // tasks of each communicator
	used    map[*signature.Proc]bool
	end     int64
	inner   uint64 // calls inside others
	line    []byte
}

// thread is a thread that is written; cpu, task and number count from 1.
type thread struct {
	process, stream         int
	node, cpu, task, number int
	rank                    int
	ordinal                 uint32
}

// Write writes the selected part of a run into a directory that exists and is empty. Without the
// times of each call the error is ErrNoTimes.
func Write(dir string, job *export.Job) (err error) {
	w := &writer{
		job: job, run: job.Run, sorter: newSorter(dir), first: map[int]int{}, tasks: map[int]int{}, comms: map[analysis.CommKey]int{},
		used: map[*signature.Proc]bool{},
	}
	if !job.RawClock && !w.run.Corrected() {
		if err := clocks.Order(w.context(), w.run, job.Matched(), nil, nil); err != nil {
			return err
		}
	}
	w.findThreads()
	if err := w.calls(); err != nil {
		return err
	}
	if w.wants(Messages) {
		if err := w.messages(); err != nil {
			return err
		}
	}
	if w.inner > 0 && job.Note != nil {
		job.Note(fmt.Sprintf("left out: %d calls inside calls", w.inner))
	}
	return errors.Join(w.file(dir, ".prv", w.records), w.file(dir, ".pcf", w.labels), w.file(dir, ".row", w.names))
}

// wants reports whether a part is written.
func (w *writer) wants(part string) bool {
	return len(w.job.What) == 0 || slices.Contains(w.job.What, part)
}

func (w *writer) context() context.Context {
	if w.job.Context == nil {
		return context.Background()
	}
	return w.job.Context
}

// file writes a file.
func (w *writer) file(dir, extension string, write func(*bufio.Writer) error) error {
	f, err := os.Create(filepath.Join(dir, Name+extension))
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	return errors.Join(write(b), b.Flush(), f.Close())
}

// findThreads numbers the threads in the order of ranks.
func (w *writer) findThreads() {
	procs := slices.Clone(w.job.Procs)
	slices.SortStableFunc(procs, func(i, j int) int { return cmp.Compare(uint(w.run.Procs[i].Rank), uint(w.run.Procs[j].Rank)) })
	task := 0
	for _, i := range procs {
		info := &w.run.Procs[i]
		number := 0
		for j := range info.Streams {
			if w.job.Thread >= 0 && uint32(w.job.Thread) != info.Streams[j].Thread {
				continue
			}
			if number == 0 {
				task++
				w.tasks[info.Rank], w.first[i] = task, len(w.threads)
			}
			number++
			w.threads = append(w.threads, thread{i, j, w.node(info.Host), len(w.threads) + 1, task, number, info.Rank, info.Streams[j].Thread})
		}
	}
}

// node is the number of a host.
func (w *writer) node(host string) int {
	at := slices.Index(w.hosts, host)
	if at < 0 {
		at = len(w.hosts)
		w.hosts = append(w.hosts, host)
	}
	return at + 1
}

// calls writes the states and events of all threads, process by process.
func (w *writer) calls() error {
	source, err := reconstruct.NewRun(w.run)
	if err != nil {
		return err
	}
	worlds := analysis.FirstRanks(w.run.Procs)
	var replay *reconstruct.Process
	var facts *analysis.Process
	for i := range w.threads {
		t := &w.threads[i]
		if t.number == 1 {
			if replay, err = source.Process(t.process); err != nil {
				return err
			}
			if facts, err = analysis.NewProcess(replay.Data(), worlds[t.process]); err != nil {
				return err
			}
		}
		if err := w.thread(t, replay, facts); err != nil {
			return fmt.Errorf("rank %d: %w", t.rank, err)
		}
	}
	return nil
}

// thread writes the states and events of a thread.
func (w *writer) thread(t *thread, replay *reconstruct.Process, facts *analysis.Process) error {
	const often = 1 << 12
	last, began, n := int64(0), false, uint64(0)
	for e, err := range replay.Events(t.stream, reconstruct.Options{}) {
		if err != nil {
			return err
		}
		start, end, ok := e.Times()
		switch {
		case !ok || !w.selected(e.Seq, start, end) || e.Proc() == nil || e.Proc().Annotates():
			continue
		case e.Depth() > 0:
			w.inner++
			continue
		}
		if n++; n%often == 0 {
			if err := w.job.Done(often); err != nil {
				return err
			}
		}
		start, end = max(start, 0), max(end, 0)
		if began {
			if err := w.computes(t, last, start); err != nil {
				return err
			}
		}
		var about []byte
		if typeOf(e.Proc()) == collective && !e.Failed() {
			about = w.group(nil, t, facts, e)
		}
		if err := w.call(t, e.Proc(), start, end, about); err != nil {
			return err
		}
		last, began = end, true
	}
	return errors.Join(w.unfinished(t, replay, last, began), w.job.Done(n%often))
}

// unfinished writes the call that a thread was in when its recording ended. last is when the call before it ended, if
// it began any.
func (w *writer) unfinished(t *thread, replay *reconstruct.Process, last int64, began bool) error {
	start, end, ok := w.job.InProgress(replay, t.stream, last)
	if !ok {
		return nil
	}
	p := replay.Pending(t.stream).Proc()
	if p == nil || p.Annotates() {
		return nil
	}
	if began {
		if err := w.computes(t, last, start); err != nil {
			return err
		}
	}
	return w.call(t, p, start, end, nil)
}

// computes writes that a thread was in no call.
func (w *writer) computes(t *thread, from, to int64) error {
	if from >= to {
		return nil
	}
	return w.state(t, from, to, running)
}

// selected reports whether a call is in the part of the time that is written.
func (w *writer) selected(seq uint64, start, end int64) bool {
	sel := &w.job.Selection
	if sel.Time != nil {
		return sel.Time.Has(start, end)
	}
	return seq >= sel.From && (sel.To == 0 || seq < sel.To)
}

// state adds a state.
func (w *writer) state(t *thread, from, to int64, state int) error {
	if !w.wants(States) {
		return nil
	}
	w.line = fmt.Appendf(w.line[:0], "1:%d:1:%d:%d:%d:%d:%d\n", t.cpu, t.task, t.number, from, to, state)
	return w.sorter.add(from, w.line)
}

// call adds the state and the events of a call, with what else its first event says about it.
func (w *writer) call(t *thread, p *signature.Proc, start, end int64, about []byte) error {
	w.end = max(w.end, end)
	if err := w.state(t, start, end, stateOf(p)); err != nil || !w.wants(Calls) {
		return err
	}
	w.used[p] = true
	w.line = fmt.Appendf(w.line[:0], "2:%d:1:%d:%d:%d:%d:%d", t.cpu, t.task, t.number, start, typeOf(p), valueOf(p))
	w.line = append(w.line, about...)
	if err := w.sorter.add(start, append(w.line, '\n')); err != nil {
		return err
	}
	w.line = fmt.Appendf(w.line[:0], "2:%d:1:%d:%d:%d:%d:0\n", t.cpu, t.task, t.number, end, typeOf(p))
	return w.sorter.add(end, w.line)
}

// group appends what a collective call sends and receives, and on which communicator.
func (w *writer) group(b []byte, t *thread, facts *analysis.Process, e *reconstruct.Event) []byte {
	volume, _ := facts.VolumeOf(t.stream, e.Node(), e.Words(), func(i int) []uint64 {
		elems, _ := e.Vec(i)
		return elems
	})
	b = fmt.Appendf(b, ":%d:%d:%d:%d", sendSize, volume.Sent, recvSize, volume.Received)
	word := e.Word(signature.ObjectWord)
	if id := w.communicator(facts, word); id > 0 {
		b = fmt.Appendf(b, ":%d:%d", onCommunicator, id)
	}
	own, other := facts.Members(word)
	if root := e.Proc().Roles.Root; root != 0 && own != nil && other == nil && e.Word(root) < uint64(own.Size()) && own.At(int(e.Word(root))) == t.rank {
		b = fmt.Appendf(b, ":%d:1", isRoot)
	}
	return b
}

// communicator is the number of a communicator, from 1; 0 if its members are not known.
func (w *writer) communicator(facts *analysis.Process, word uint64) int {
	key := facts.CommKey(word)
	if id, ok := w.comms[key]; ok {
		return id
	}
	own, other := facts.Members(word)
	var tasks []int
	for _, m := range []*analysis.Members{own, other} {
		for i := 0; m != nil && i < m.Size(); i++ {
			if task, ok := w.tasks[m.At(i)]; ok {
				tasks = append(tasks, task)
			}
		}
	}
	if len(tasks) == 0 {
		return 0
	}
	w.members = append(w.members, tasks)
	w.comms[key] = len(w.members)
	return len(w.members)
}

// messages adds the messages.
func (w *writer) messages() error {
	trace, err := match.OpenPart(w.run, w.job.Matched())
	if err != nil {
		return err
	}
	v := &messageVisitor{writer: w}
	ctx, stop := context.WithCancelCause(w.context())
	defer stop(nil)
	v.stop = stop
	if _, err := trace.Walk(ctx, v, nil); err != nil {
		return errors.Join(v.err, err)
	}
	return v.err
}

// messageVisitor adds messages when they have been received.
type messageVisitor struct {
	*writer
	err  error
	stop context.CancelCauseFunc
}

// Enter implements match.Visitor.
func (v *messageVisitor) Enter(*match.Call) {}

// Exit implements match.Visitor.
func (v *messageVisitor) Exit(c *match.Call) {
	for _, o := range c.Done {
		if o.Kind != match.ReceiveMessage || o.Partner == nil || v.err != nil {
			continue
		}
		from, to := v.threadOf(o.Partner.Thread), v.threadOf(c.Thread)
		if from == nil || to == nil || !v.selected(c.Event, c.Enter, c.Exit) || !v.selected(o.Partner.Event, o.Partner.Enter, o.Partner.Enter) {
			continue
		}
		sent, posted, received := max(o.Partner.Enter, 0), max(o.Enter, 0), max(c.Exit, 0)
		v.line = fmt.Appendf(v.line[:0], "3:%d:1:%d:%d:%d:%d:%d:1:%d:%d:%d:%d:%d:%d\n", from.cpu, from.task, from.number, sent, sent,
			to.cpu, to.task, to.number, posted, received, o.Partner.Bytes, o.Tag)
		if v.err = v.sorter.add(sent, v.line); v.err != nil {
			v.stop(v.err)
		}
	}
}

// threadOf is what is written of a thread, nil if it is not.
func (w *writer) threadOf(t *match.Thread) *thread {
	at, ok := w.first[t.Process.Number]
	for ; ok && at < len(w.threads) && w.threads[at].process == t.Process.Number; at++ {
		if w.threads[at].ordinal == t.Stream.Thread {
			return &w.threads[at]
		}
	}
	return nil
}

// records writes the header and the records.
func (w *writer) records(b *bufio.Writer) error {
	cpus := make([]int, max(len(w.hosts), 1))
	var tasks []string
	for i := range w.threads {
		t := &w.threads[i]
		cpus[t.node-1]++
		if i+1 == len(w.threads) || w.threads[i+1].number == 1 {
			tasks = append(tasks, fmt.Sprintf("%d:%d", t.number, t.node))
		}
	}
	fmt.Fprintf(b, "#Paraver (%s):%d_ns:%d(%s):1:%d(%s),%d\n", time.Unix(0, w.run.Meta.Started).UTC().Format("02/01/2006 at 15:04"),
		w.end, len(cpus), strings.Trim(strings.ReplaceAll(fmt.Sprint(cpus), " ", ","), "[]"), len(tasks), strings.Join(tasks, ","), len(w.members))
	for i, list := range w.members {
		fmt.Fprintf(b, "c:1:%d:%d", i+1, len(list))
		for _, task := range list {
			fmt.Fprintf(b, ":%d", task)
		}
		b.WriteByte('\n')
	}
	return w.sorter.write(b)
}

// labels writes what states, types of events and their values are.
func (w *writer) labels(b *bufio.Writer) error {
	b.WriteString("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\nDEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n")
	for _, s := range stateLabels {
		fmt.Fprintf(b, "%d    %s\n", s.number, s.label)
	}
	b.WriteString("\n\nSTATES_COLOR\n")
	for _, s := range stateLabels {
		fmt.Fprintf(b, "%d    {%d,%d,%d}\n", s.number, s.colour[0], s.colour[1], s.colour[2])
	}
	procs := signature.Procs()
	for _, t := range typeLabels {
		fmt.Fprintf(b, "\n\nEVENT_TYPE\n9   %d    %s\nVALUES\n", t.number, t.label)
		for i := range procs {
			if p := &procs[i]; w.used[p] && typeOf(p) == t.number {
				fmt.Fprintf(b, "%d   %s\n", valueOf(p), p.Name)
			}
		}
		b.WriteString("0   End\n")
	}
	fmt.Fprintf(b, "\n\nEVENT_TYPE\n1    %d    Send Size in MPI Global OP\n1    %d    Recv Size in MPI Global OP\n1    %d    Root in MPI Global OP\n1    %d    Communicator in MPI Global OP\n", sendSize, recvSize, isRoot, onCommunicator)
	return nil
}

// names writes the names of what records have numbers for.
func (w *writer) names(b *bufio.Writer) error {
	fmt.Fprintf(b, "LEVEL CPU SIZE %d\n", len(w.threads))
	for i := range w.threads {
		fmt.Fprintf(b, "%d.%s\n", i+1, name(w.hosts[w.threads[i].node-1]))
	}
	fmt.Fprintf(b, "\nLEVEL NODE SIZE %d\n", len(w.hosts))
	for _, host := range w.hosts {
		fmt.Fprintln(b, name(host))
	}
	fmt.Fprintf(b, "\nLEVEL THREAD SIZE %d\n", len(w.threads))
	for i := range w.threads {
		fmt.Fprintf(b, "THREAD 1.%d.%d\n", w.threads[i].task, w.threads[i].number)
	}
	return nil
}

// name is a name as a line.
func name(s string) string {
	if s == "" {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// Owns reports whether a directory was written by Write, and may be replaced.
func Owns(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		switch e.Name() {
		case Name + ".prv", Name + ".pcf", Name + ".row":
		default:
			return false
		}
	}
	_, err = os.Stat(filepath.Join(dir, Name+".prv"))
	return err == nil
}
