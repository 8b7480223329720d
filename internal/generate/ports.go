package generate

import (
	"fmt"
	"strconv"

	"github.com/efg-tools/efg/signature"
)

// portKey distinguishes the names of ports from those of files.
const portKey = "\x00port "

// numberPorts numbers the port that a process opens: the number of a file through which the processes of the program tell
// each other its name. What names ports got is not recorded: a port is the one that its process accepts connections
// at, or closes.
func (f *scratchFiles) numberPorts(p *process, owner int) error {
	opened, names := uint64(0), map[string]bool{}
	for _, n := range p.list() {
		if n.proc.Name == "MPI_Open_port" && n.header.ErrorClass() == 0 {
			opened += n.visits
		}
		for i := range n.values {
			if q := n.param(i); q != nil && q.PortName() && (n.proc.Name == "MPI_Comm_accept" || n.proc.Name == "MPI_Close_port") {
				n.values[i].each(func(w uint64) {
					if !special(w) {
						names[p.strings[w]] = true
					}
				})
			}
		}
	}
	switch {
	case opened == 0:
		return nil
	case opened > 1 || len(names) > 1:
		return fmt.Errorf("rank %d: MPI_Open_port: the process opens several ports: which names they got is not recorded", p.rank)
	}
	for name := range names {
		if _, ok := f.number[portKey+name]; ok {
			return fmt.Errorf("rank %d: another process has opened the port that it uses", p.rank)
		}
		f.number[portKey+name] = uint64(len(f.list))
	}
	f.port[p.data] = uint64(len(f.list))
	f.list = append(f.list, scratchFile{first: p, owner: owner})
	return nil
}

// checkPorts returns an error if calls of a process use a port that none of the run has opened.
func (f *scratchFiles) checkPorts(p *process) error {
	for _, n := range p.list() {
		for i := range n.values {
			if q := n.param(i); q == nil || !q.PortName() || n.header.ErrorClass() != 0 {
				continue
			}
			unknown := false
			n.values[i].each(func(w uint64) {
				_, ok := f.number[portKey+p.strings[w]]
				unknown = unknown || !special(w) && !ok
			})
			if unknown {
				return fmt.Errorf("rank %d: %s: no process of the run accepts connections at the port, or closes it", p.rank, n.proc.Name)
			}
		}
	}
	return nil
}

// port is the expression of the name of a port that the program passes.
func (e *emitter) port(q *signature.Param, word int) (string, bool) {
	list := e.values(word)
	known := true
	for i, v := range list {
		p := e.call.procs[i]
		v.each(func(w uint64) {
			_, ok := e.world.files.number[portKey+p.strings[w]]
			known = known && ok && !special(w)
		})
	}
	if !known {
		return "", false // not significant, or of no port
	}
	return "port_name(" + e.portNumber(q, word) + ")", true
}

// portNumber is the number of a port's file.
func (e *emitter) portNumber(q *signature.Param, word int) string {
	e.needs["ports"], e.needs["scratch_path"] = true, true
	list := e.values(word)
	numbers := make([]*value, len(list))
	for i, v := range list {
		p := e.call.procs[i]
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) { return e.world.files.number[portKey+p.strings[w]], nil })
		numbers[i] = &value{series: s}
	}
	return e.scalar(q.Name, "int", numbers, func(w uint64) string { return strconv.FormatUint(w, 10) })
}

// openedPort is where a call that opens a port writes its name. Others learn it after the call.
func (e *emitter) openedPort(q *signature.Param) (string, bool) {
	n := e.node
	if n.proc.Name != "MPI_Open_port" || n.header.ErrorClass() != 0 {
		return "", false
	}
	e.needs["opened"], e.needs["scratch_path"] = true, true
	numbers := make([]*value, len(e.call.procs))
	for i, p := range e.call.procs {
		numbers[i] = &value{series: series{{Value: e.world.files.port[p.data], Count: 1}}}
	}
	number := e.scalar(q.Name, "int", numbers, func(w uint64) string { return strconv.FormatUint(w, 10) })
	e.post = append(e.post, "opened_port("+number+");")
	return "opened", true
}
