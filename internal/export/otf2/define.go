package otf2

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// define collects the definitions: processes, threads, procedures, callsites and communicators, in
// the order of the ranks.
func (a *archive) define() error {
	a.defs.worlds = analysis.FirstRanks(a.run.Procs)
	command := a.run.Meta.Command
	a.began, a.end = a.run.Meta.Started, a.run.Meta.Ended-a.run.Meta.Started
	for _, i := range a.job.Procs {
		a.addProcess(i)
	}
	for n, i := range a.job.Procs {
		replay, err := a.source.Process(i)
		if err != nil {
			return err
		}
		data := replay.Data()
		if n == 0 {
			if len(data.Command) > 0 {
				command = data.Command
			}
			if data.Mono != 0 {
				a.end -= data.Mono - data.Clock - a.began
				a.began = data.Mono - data.Clock
			}
			a.program = a.defs.region(region{name: programName(command), role: roleArtificial, paradigm: paradigmMeasuring})
		}
		facts, err := analysis.NewProcess(data, a.defs.worlds[i])
		if err != nil {
			return err
		}
		for j := range data.Streams {
			a.newThreadMetrics(data, j)
		}
		if err := a.addNodes(replay, facts); err != nil {
			return fmt.Errorf("rank %d: %w", a.run.Procs[i].Rank, err)
		}
		if err := a.job.Done(0); err != nil {
			return err
		}
	}
	a.system.machine = hostsOf(a.system.processes)
	return nil
}

// addProcess defines a process and the threads of it that are written.
func (a *archive) addProcess(i int) {
	info := &a.run.Procs[i]
	p := process{host: info.Host, master: undefined, ranked: info.Rank >= 0}
	if p.host == "" {
		p.host = "unknown host"
	}
	if p.name = fmt.Sprintf("MPI Rank %d", info.Rank); !p.ranked {
		p.name = fmt.Sprintf("process %d without rank", i)
	}
	for j := range info.Streams {
		if a.job.Thread >= 0 && uint32(a.job.Thread) != info.Streams[j].Thread {
			continue
		}
		number := len(a.system.locations)
		if p.master == undefined {
			p.master = uint32(number)
		}
		a.first[[2]int{i, j}] = number
		a.system.locations = append(a.system.locations, location{name: threadName(info.Rank, info.Streams[j].Thread), group: uint32(len(a.system.processes))})
	}
	if p.master == undefined { // it made no call
		return
	}
	if p.ranked {
		a.defs.ranks[info.Rank] = int32(len(a.defs.ranks))
	}
	a.system.processes = append(a.system.processes, p)
}

func threadName(rank int, thread uint32) string {
	if thread == 0 {
		return fmt.Sprintf("Master thread:%d", rank)
	}
	return fmt.Sprintf("Thread %d:%d", thread, rank)
}

// addNodes defines what the calls of a process refer to.
func (a *archive) addNodes(replay *reconstruct.Process, facts *analysis.Process) error {
	places := replay.Names()
	if a.details {
		a.defs.addHandles(facts.Data, places)
	}
	texts, world := textsOf(facts.Data), false
	for j := range facts.Data.Streams {
		s := &facts.Data.Streams[j]
		for k := range s.Nodes {
			n := &s.Nodes[k]
			a.defs.region(regionOf(n.Words))
			a.addPlace(n.Words, places)
			x := planOf(n)
			if err := a.addMade(facts, j, k, &x); err != nil {
				return err
			}
			if x.action == noAction || x.action == closes {
				continue
			}
			if x.action == opens {
				if err := a.addNamed(facts, texts, j, k); err != nil {
					return err
				}
				continue
			}
			if !world && facts.Data.Rank >= 0 {
				world = true
				a.addComm(facts, places, signature.CommWorld)
			}
			if define := a.definerOf(&x); define != nil {
				if err := define(&nodeOf{facts, places, texts, j, k, &x}); err != nil {
					return err
				}
				continue
			}
			if x.action == starts || x.action == readies || x.action == takes || x.action == takesLater {
				continue
			}
			if err := a.addComms(facts, places, j, k, n); err != nil {
				return err
			}
		}
		for _, c := range s.Pending.Calls() {
			a.defs.region(regionOf(c.Words))
			a.addPlace(c.Words, places)
		}
	}
	return nil
}

// nodeOf is a node of a process whose calls refer to something.
type nodeOf struct {
	facts        *analysis.Process
	names        *reconstruct.Names
	texts        map[uint64]string
	stream, node int
	plan         *plan
}

// addMade notes which communicators the calls of a node make. Of a part of a run it is not known whether all
// their members do so in it.
func (a *archive) addMade(facts *analysis.Process, stream, node int, x *plan) error {
	if x.makes == 0 || a.compat || a.partial() {
		return nil
	}
	return facts.ValueGroups(stream, node, 1<<x.makes, func(g *analysis.ValueGroup) error {
		if key, _, _, ok := keyOf(facts, g.Word(x.makes)); ok {
			a.defs.made[key] = true
		}
		return nil
	})
}

// each calls f with each value that a word of the node's calls has.
func (n *nodeOf) each(word int, f func(uint64)) error {
	if word == 0 {
		return nil
	}
	return n.facts.ValueGroups(n.stream, n.node, 1<<word, func(g *analysis.ValueGroup) error {
		f(g.Word(word))
		return nil
	})
}

// definerOf returns what defines the windows or files of calls; nil if they are about communicators, or nothing.
func (a *archive) definerOf(x *plan) func(*nodeOf) error {
	switch x.action {
	case joinsOnWindow, accesses, synchronises:
		return a.addWindows
	case opensFile, closesFile, movesFile, endsHalf, seeks:
		return a.addFiles
	case deletesFile:
		return func(n *nodeOf) error {
			return n.each(wordNamed(n.plan.proc, "filename"), func(w uint64) { a.defs.addFile(n.texts[w]) })
		}
	}
	return nil
}

// object is the word of the window or file of the calls of a node.
func (n *nodeOf) object() int {
	if made := n.plan.roles.Made; made != 0 {
		return made
	}
	return signature.ObjectWord
}

// addWindows defines the windows of the calls of a node, and the groups of their epochs.
func (a *archive) addWindows(n *nodeOf) error {
	err := n.each(n.object(), func(w uint64) {
		comm, _, _ := n.facts.MadeWith(w)
		a.defs.addWindow(n.facts, w, n.names.Handle(signature.Win, w), n.names.Handle(signature.Comm, comm))
	})
	if err != nil || n.plan.action != synchronises {
		return err
	}
	return n.each(n.plan.roles.Group, func(w uint64) {
		if m := n.facts.GroupMembers(w); m != nil {
			list, _ := a.defs.written(m, nil)
			a.defs.group(list)
		}
	})
}

// addFiles defines the files of the calls of a node.
func (a *archive) addFiles(n *nodeOf) error {
	a.defs.opened = a.partial()
	return n.each(n.object(), func(w uint64) {
		comm, _, _ := n.facts.MadeWith(w)
		a.defs.addHandle(n.facts, n.texts, w, n.names.Handle(signature.File, w), n.names.Handle(signature.Comm, comm))
	})
}

// languages are the names of the interfaces of MPI but C's.
var languages = map[signature.Language]string{signature.Fortran: "mpif.h", signature.F08: "mpi_f08"}

// addPlace defines where a call is, and what else is said of it.
func (a *archive) addPlace(words []uint64, places *reconstruct.Names) {
	if a.callsites {
		a.defs.place(places.Place(words[1]))
		a.defs.text(places.Func(words[1]))
		a.defs.addPath(places, words[1])
	}
	if a.details {
		a.defs.text(languages[signature.Header(words[0]).Lang()])
		a.defs.text(unusedBuffers(words))
	}
}

// addComms defines the communicators of a node's calls.
func (a *archive) addComms(facts *analysis.Process, names *reconstruct.Names, stream, node int, n *efg.Node) error {
	if n.Mask>>signature.ObjectWord&1 == 0 {
		a.addComm(facts, names, n.Words[signature.ObjectWord])
		return nil
	}
	return facts.ValueGroups(stream, node, 1<<signature.ObjectWord, func(g *analysis.ValueGroup) error {
		a.addComm(facts, names, g.Word(signature.ObjectWord))
		return nil
	})
}

func (a *archive) addComm(facts *analysis.Process, names *reconstruct.Names, word uint64) {
	if key, _, _, ok := keyOf(facts, word); ok {
		if _, known := a.defs.byComm[key]; !known {
			a.defs.addComm(facts, word, names.Handle(signature.Comm, word))
		}
	}
}

// title describes the run: its command.
func (a *archive) title() string {
	return strings.Map(func(r rune) rune {
		if r == 0 {
			return -1
		}
		return r
	}, strings.Join(a.run.Meta.Command, " "))
}
