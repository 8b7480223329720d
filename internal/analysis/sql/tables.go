package sql

import (
	"encoding/json"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// tables are all tables. The first column of each is the rank, except for that of machines.
var tables = []table{
	{"events", eventColumns, eventPushed, countEvents, openEvents},
	{"nodes", nodeColumns, 1, countNodes, byProcess(nodeRows)},
	{"edges", edgeColumns, 1, countNodes, byProcess(edgeRows)},
	{"counters", counterColumns, 1, countNodes, byProcess(counterRows)},
	{"energy", energyColumns, 0, countEnergy, openEnergy},
	{"ranks", rankColumns, 1, countRanks, openRanks},
	{"communicators", commColumns, 1, countRanks, byProcess(commRows)},
}

func countRanks(run *runfile.Run) float64 { return float64(len(run.Procs)) }

func countNodes(run *runfile.Run) (n float64) {
	for i := range run.Procs {
		for k := range run.Procs[i].Streams {
			n += float64(run.Procs[i].Streams[k].Nodes)
		}
	}
	return n
}

// listed are rows that are made for one process at a time.
type listed struct {
	procs []int
	more  func(i int) ([][]any, error)
	proc  int // of the rows
	at    int // of the row in the process
	rows  [][]any
}

func (l *listed) next() (bool, error) {
	if len(l.rows) > 0 {
		l.rows = l.rows[1:]
		l.at++
	}
	for len(l.rows) == 0 {
		if len(l.procs) == 0 {
			return false, nil
		}
		var err error
		if l.rows, err = l.more(l.procs[0]); err != nil {
			return false, err
		}
		l.proc, l.at, l.procs = l.procs[0], 0, l.procs[1:]
	}
	return true, nil
}

func (l *listed) column(i int) (any, error) { return l.rows[0][i], nil }
func (l *listed) id() int64                 { return int64(l.proc)<<32 | int64(l.at) }
func (l *listed) close()                    {}

// byProcess opens a table whose rows are those of each process.
func byProcess(f func(p *process, q *request) ([][]any, error)) func(*Database, *request) (rows, error) {
	return func(db *Database, q *request) (rows, error) {
		return &listed{procs: db.ranks(q), more: func(i int) ([][]any, error) {
			p, err := db.process(i)
			if err != nil {
				return nil, err
			}
			return f(p, q)
		}}, nil
	}
}

const nodeColumns = `rank INTEGER, thread INTEGER, node INTEGER, op TEXT, class TEXT, site TEXT, func TEXT, error TEXT, args TEXT,
	visits INTEGER, sent INTEGER, received INTEGER, read INTEGER, written INTEGER, messages INTEGER,
	time INTEGER, time_min INTEGER, time_max INTEGER, gap INTEGER, path TEXT, shared INTEGER`

func nodeRows(p *process, q *request) ([][]any, error) {
	const args = 8
	var list [][]any
	for i := range p.data.Streams {
		nodes, err := p.facts.Nodes(i)
		if err != nil {
			return nil, err
		}
		facts := p.factsOf(i)
		for k := range nodes {
			n := &nodes[k]
			row := []any{int64(p.data.Rank), int64(p.data.Streams[i].Thread), int64(k)}
			for _, c := range []int{eventOp, eventClass, eventSite, eventFunc, eventError} {
				v, _ := nodeColumn(&facts[k], c)
				row = append(row, v)
			}
			text := any(nil)
			if q.uses(1 << args) {
				text = argsText(p.events.Describe(i, k))
			}
			v := &n.Volume
			row = append(row, text, int64(n.Visits), int64(v.Sent), int64(v.Received), int64(v.Read), int64(v.Written), int64(v.Messages))
			path, _ := nodeColumn(&facts[k], eventPath)
			list = append(list, append(append(row, timesOf(n.Stats)...), path, sharedTimes(n.Stats)))
		}
	}
	return list, nil
}

func argsText(t reconstruct.NodeText) string {
	text := ""
	for i, a := range t.Args {
		if i > 0 {
			text += ", "
		}
		text += a
	}
	return text
}

func timesOf(s *efg.Stats) []any {
	if s == nil || s.Count == 0 {
		return []any{nil, nil, nil, nil}
	}
	return []any{int64(s.Dur.Sum), int64(s.Dur.Min), int64(s.Dur.Max), int64(s.Gap.Sum)}
}

// sharedTimes is 1 if minima and maxima are those of several nodes.
func sharedTimes(s *efg.Stats) any {
	switch {
	case s == nil || s.Count == 0:
		return nil
	case s.Shared:
		return int64(1)
	}
	return int64(0)
}

const edgeColumns = `rank INTEGER, thread INTEGER, source INTEGER, target INTEGER, number INTEGER, weight INTEGER`

func edgeRows(p *process, _ *request) ([][]any, error) {
	var list [][]any
	for i := range p.data.Streams {
		s := &p.data.Streams[i]
		for from := range s.Nodes {
			for k, e := range s.Nodes[from].Edges {
				list = append(list, []any{int64(p.data.Rank), int64(s.Thread), int64(from), int64(e.To), int64(k), int64(e.Weight)})
			}
		}
	}
	return list, nil
}

const rankColumns = `rank INTEGER, size INTEGER, world TEXT, host TEXT, pid INTEGER, command TEXT, mpi TEXT, started INTEGER,
	threads INTEGER, events INTEGER, nodes INTEGER, edges INTEGER, dropped INTEGER, complete INTEGER`

func openRanks(db *Database, q *request) (rows, error) {
	return &listed{procs: db.ranks(q), more: func(i int) ([][]any, error) {
		p := &db.run.Procs[i]
		var events, nodes, edges, dropped uint64
		complete := int64(1)
		for k := range p.Streams {
			s := &p.Streams[k]
			events, nodes, edges, dropped = events+s.Events, nodes+s.Nodes, edges+s.Edges, dropped+s.Dropped
			if !s.Complete() {
				complete = 0
			}
		}
		command, err := json.Marshal(p.Command)
		return [][]any{{
			int64(p.Rank), int64(p.Size), hex(p.World), p.Host, int64(p.PID), string(command), p.MPI, p.Start,
			int64(len(p.Streams)), int64(events), int64(nodes), int64(edges), int64(dropped), complete,
		}}, err
	}}, nil
}

const commColumns = `rank INTEGER, comm TEXT, parent TEXT, kind TEXT, size INTEGER, remote_size INTEGER, position INTEGER, members TEXT, remote_members TEXT`

// commRows are the communicators of a process: the predefined ones and the families of those
// that it created.
func commRows(p *process, q *request) ([][]any, error) {
	names := p.events.Names()
	name := func(w uint64) string { return names.Handle(signature.Comm, w) }
	var list [][]any
	for _, w := range []uint64{signature.CommWorld, signature.CommSelf} {
		list = append(list, p.comm(w, q, name(w), nil, nil))
	}
	for _, d := range p.data.Defs {
		if d.Kind != efg.DefComm || len(d.Words) < 2 {
			continue
		}
		list = append(list, p.comm(d.Word, q, name(d.Word), name(d.Words[0]), kindText(d.Words[1])))
	}
	return list, nil
}

// kindText is the name of the constant that says how a communicator was created.
func kindText(w uint64) any {
	if k, ok := signature.ConstNumber(w); ok && signature.ConstantByID(k) != nil {
		return signature.ConstantByID(k).Name
	}
	return nil
}

func (p *process) comm(word uint64, q *request, name string, parent, kind any) []any {
	const members, remote = 7, 8
	row := []any{int64(p.data.Rank), name, parent, kind, nil, nil, nil, nil, nil}
	own, other := p.facts.Members(word)
	if own == nil {
		return row
	}
	row[4], row[5] = int64(own.Size()), int64(0)
	if i := own.Index(p.data.Rank); i >= 0 {
		row[6] = int64(i)
	}
	if q.uses(1 << members) {
		row[7] = memberText(own)
	}
	if other != nil {
		row[5] = int64(other.Size())
		if q.uses(1 << remote) {
			row[8] = memberText(other)
		}
	}
	return row
}

// memberText lists the members as ranks in the run, as JSON.
func memberText(m *analysis.Members) string {
	list := make([]int, m.Size())
	for i := range list {
		list[i] = m.At(i)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "[]"
	}
	return string(text)
}

func hex(w uint64) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 16)
	for i := range b {
		b[15-i] = digits[w>>(4*i)&15]
	}
	return string(b)
}
