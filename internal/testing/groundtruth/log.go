package groundtruth

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Process is what the logger wrote about one process.
type Process struct {
	PID       int
	Rank      int // in MPI_COMM_WORLD, or according to the launcher; -1 if neither is known
	Size      int
	Spawned   bool
	Constants map[string]int64 // MPI_INT: value of the handle, MPI_ANY_TAG: number
	// predefined are the handles that efg must call by their names.
	predefined map[handle]string
	Threads    [][]Call
}

// Call is one line of a log.
type Call struct {
	Line       string
	Start, End int64 // ticks of the process's clock
	Lang, Op   string
	In, Out    []Field
	Err        int  // error class
	Done       bool // the call returned
	Abandoned  bool // it was left with longjmp
	Depth      int  // number of calls that it was made inside of
	Begun      int  // how many calls of the thread had begun before
}

// attributeDouble is the annotation whose value is logged as its bits.
const attributeDouble = "efg_attribute_double"

// name is the name of the procedure: annotations are logged by their full names.
func (c *Call) name() string {
	if strings.HasPrefix(c.Op, "efg_") {
		return c.Op
	}
	return "MPI_" + c.Op
}

// polls are the procedures that may find nothing.
var polls = map[string]bool{
	"Test": true, "Testall": true, "Testany": true, "Testsome": true, "Iprobe": true, "Improbe": true,
	"Request_get_status": true, "Request_get_status_all": true, "Request_get_status_any": true,
	"Request_get_status_some": true, "Parrived": true, "Win_test": true,
}

// foundNothing reports whether the call is a successful poll that found nothing.
func (c *Call) foundNothing() bool {
	return polls[c.Op] && c.Done && c.Err == 0 && (get(c.Out, "flag") == "0" || get(c.Out, "outcount") == "0")
}

// Field is one argument as the logger wrote it.
type Field struct{ Name, Raw string }

// ReadLogs reads what the logger wrote into dir, processes by rank.
func ReadLogs(dir string) ([]*Process, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.process"))
	if err != nil {
		return nil, err
	}
	var all []*Process
	for _, f := range files {
		p, err := readProcess(f)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	placeSpawned(all)
	sort.Slice(all, func(i, j int) bool { return all[i].Rank < all[j].Rank })
	return all, nil
}

// placeSpawned numbers the processes of a second world after those of the first.
func placeSpawned(all []*Process) {
	first := 0
	for _, p := range all {
		if !p.Spawned {
			first = max(first, p.Size)
		}
	}
	for _, p := range all {
		if p.Spawned {
			p.Rank += first
		}
	}
}

func readProcess(file string) (*Process, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &Process{Rank: -1, Constants: map[string]int64{}}
	base := strings.TrimSuffix(file, ".process")
	if p.PID, err = strconv.Atoi(filepath.Base(base)); err != nil {
		return nil, fmt.Errorf("%s: not the logger's", file)
	}
	for _, line := range strings.Split(string(data), "\n") {
		p.processLine(strings.Fields(line))
	}
	p.indexConstants()
	for t := 0; ; t++ {
		calls, err := readCalls(fmt.Sprintf("%s.%d.log", base, t))
		if os.IsNotExist(err) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		p.Threads = append(p.Threads, calls)
	}
}

// sure are predefined handles whose class is certain. Values alone do not determine it: MPICH's
// are integers.
var sure = map[string][]string{
	"comm":    {"MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL"},
	"request": {"MPI_REQUEST_NULL"},
	"message": {"MPI_MESSAGE_NULL", "MPI_MESSAGE_NO_PROC"},
	"win":     {"MPI_WIN_NULL"},
	"file":    {"MPI_FILE_NULL"},
	"info":    {"MPI_INFO_NULL", "MPI_INFO_ENV"},
	"group":   {"MPI_GROUP_NULL", "MPI_GROUP_EMPTY"},
	"type":    {"MPI_DATATYPE_NULL", "MPI_INT", "MPI_DOUBLE", "MPI_BYTE", "MPI_CHAR", "MPI_PACKED"},
	"op":      {"MPI_OP_NULL", "MPI_SUM", "MPI_MAX", "MPI_MIN", "MPI_REPLACE"},
}

func (p *Process) indexConstants() {
	p.predefined = map[handle]string{}
	for class, names := range sure {
		for _, n := range names {
			if v, ok := p.Constants[n]; ok {
				p.predefined[handle{class: class, value: v}] = n
			}
		}
	}
}

func (p *Process) processLine(f []string) {
	if len(f) < 2 {
		return
	}
	n, _ := strconv.ParseInt(f[len(f)-1], 10, 64)
	switch {
	case f[0] == "constant" && len(f) == 3:
		p.Constants[f[1]] = n
	case f[0] == "launched" && p.Rank < 0:
		p.Rank = int(n)
	case f[0] == "rank" && len(f) == 4:
		p.Rank, _ = strconv.Atoi(f[1])
		p.Size, _ = strconv.Atoi(f[2])
		p.Spawned = n != 0
	}
}

func readCalls(file string) ([]Call, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimRight(data, "\x00")
	var calls []Call
	var open []begun // calls that others are inside of
	number := 0      // of calls that have begun
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, len(data)+1)
	for n := 1; sc.Scan(); n++ {
		at := begun{sc.Text(), number}
		if rest, ok := strings.CutPrefix(at.line, "<"); ok {
			if len(open) == 0 {
				return nil, fmt.Errorf("%s:%d: it continues nothing", file, n)
			}
			at, open = open[len(open)-1], open[:len(open)-1]
			at.line += rest
		} else {
			number++
		}
		c, err := parseCall(at.line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if c.Begun = at.number; !c.Done && !c.Abandoned {
			open = append(open, at)
			continue
		}
		if c.Depth != len(open) {
			return nil, fmt.Errorf("%s:%d: at depth %d, inside %d calls", file, n, c.Depth, len(open))
		}
		calls = append(calls, c)
	}
	if len(open) > 0 { // of several, the recorder keeps the outermost
		c, err := parseCall(open[0].line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		c.Begun = open[0].number
		calls = append(calls, c)
	}
	return calls, sc.Err()
}

// begun is the line of a call, and how many of the thread had begun before.
type begun struct {
	line   string
	number int
}

// parseCall reads a line: start language procedure input... | output... = error end. A line
// without its end is a call that did not return.
func parseCall(line string) (Call, error) {
	c := Call{Line: line}
	words := strings.Fields(strings.TrimLeft(line, ">"))
	bar := slices.Index(words, "|")
	if len(words) < 3 || bar < 0 {
		// the process died while the line was being written: too little is known
		return Call{Line: line}, nil
	}
	var err error
	if c.Start, err = strconv.ParseInt(words[0], 10, 64); err != nil {
		return c, err
	}
	c.Lang, c.Op = words[1], words[2]
	c.Depth = len(line) - len(strings.TrimLeft(line, ">"))
	c.In = parseFields(words[3:bar])
	rest := words[bar+1:]
	switch n := len(rest); {
	case n >= 3 && rest[n-3] == "=":
		c.Done = true
		c.Out = parseFields(rest[:n-3])
		c.Err, _ = strconv.Atoi(rest[n-2])
		c.End, err = strconv.ParseInt(rest[n-1], 10, 64)
	case n > 0 && rest[n-1] == "!":
		c.Abandoned = true
	}
	return c, err
}

func parseFields(words []string) []Field {
	var fields []Field
	for _, w := range words {
		if name, raw, ok := strings.Cut(w, "="); ok {
			fields = append(fields, Field{name, raw})
		}
	}
	return fields
}

// get returns the raw value of a field, "" if it does not exist.
func get(fields []Field, name string) string {
	for _, f := range fields {
		if f.Name == name {
			return f.Raw
		}
	}
	return ""
}

// elements splits "[a,b]".
func elements(raw string) []string {
	raw = strings.TrimSuffix(strings.TrimPrefix(raw, "["), "]")
	if raw == "" {
		return nil
	}
	return strings.Split(raw, ",")
}

// handle is a handle as the logger writes it: class:value or class:value:address.
type handle struct {
	class   string
	value   int64
	address string
}

func parseHandle(raw string) (h handle, ok bool) {
	parts := strings.Split(raw, ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[0][0] < 'a' {
		return h, false
	}
	v, err := strconv.ParseInt(parts[1], 10, 64)
	h = handle{class: parts[0], value: v}
	if len(parts) == 3 {
		h.address = parts[2]
	}
	return h, err == nil
}
