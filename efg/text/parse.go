package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// File is the content of a text.
type File struct {
	Meta  runfile.Meta
	Procs []*efg.Process
}

// Parse reads a text. name is its name in errors, which are of type Error unless reading fails.
// The result can be written with runfile.WriteRun. It needs memory in proportion to the text.
func Parse(name string, r io.Reader) (*File, error) {
	p := &parser{scanner: scanner{file: name, in: bufio.NewReaderSize(r, 1<<16)}, file: &File{}}
	err := p.text()
	if err != nil {
		return nil, err
	}
	return p.file, nil
}

type parser struct {
	scanner
	file  *File
	words *words
	left  int // elements that the process's arrays may still have

	proc   *efg.Process
	stream *efg.Stream
	node   *efg.Node
	marks  *efg.Checkpoints
	seq    *openSeq

	procLine int
	places   map[any]int // lines of nodes, by [2]int of stream and node, and of sequences
}

// records are the kinds of lines, by their first fields.
var records map[string]func(*parser) error

func init() {
	records = map[string]func(*parser) error{
		"meta": (*parser).metaLine, "site": (*parser).siteLine, "process": (*parser).processLine,
		"host": (*parser).hostLine, "mpi": (*parser).mpiLine, "command": (*parser).commandLine,
		"def": (*parser).defLine, "thread": (*parser).threadLine, "node": (*parser).nodeLine,
		"edge": (*parser).edgeLine, "runs": (*parser).runsLine, "counts": (*parser).countsLine,
		"attr": (*parser).attrLine, "elems": (*parser).elemsLine, "times": (*parser).timesLine,
		"trace": (*parser).traceLine, "gap/dur": (*parser).intervalsLine, "anchor": (*parser).anchorLine,
		"entered": (*parser).enteredLine, "inside": (*parser).insideLine, "counter": (*parser).counterLine, "counted": (*parser).countedLine, "values": (*parser).valuesLine,
		"marks": (*parser).checkpointsLine, "mark": (*parser).checkpointLine,
		"part": (*parser).partLine, ":": (*parser).symbolsLine,
	}
}

func (p *parser) text() error {
	if err := p.scan(); err != nil && err != io.EOF {
		return err
	}
	var got []string
	for _, f := range p.fields {
		got = append(got, f.text)
	}
	if strings.Join(got, " ") != firstLine {
		p.line = max(p.line, 1)
		return p.at(1, fmt.Errorf("not a dump of a run file: the first line is not %q", firstLine))
	}
	for {
		err := p.scan()
		if err == io.EOF {
			return p.endProcess()
		}
		if err == nil {
			err = p.record()
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) record() error {
	key, err := p.word("a line")
	if err != nil {
		return err
	}
	read := records[key]
	if read == nil {
		return p.errorf("%q is no kind of line", key)
	}
	if key != ":" && key != "part" {
		if err := p.endSeq(); err != nil {
			return err
		}
	}
	if err := read(p); err != nil {
		return err
	}
	return p.close()
}

// in fails unless the element exists that the line belongs to.
func (p *parser) in(there bool, what string) error {
	if !there {
		return p.errorf("no %s before this line", what)
	}
	return nil
}

func (p *parser) metaLine() error {
	name, err := p.word("a name")
	if err != nil {
		return err
	}
	v := reflect.ValueOf(&p.file.Meta).Elem()
	for i := range v.NumField() {
		if n := metaName(v.Type().Field(i)); n != "" && n == name {
			return p.metaValue(v.Field(i))
		}
	}
	return p.errorf("%q is no metadata", name)
}

func (p *parser) metaValue(f reflect.Value) error {
	switch f.Kind() {
	case reflect.String:
		s, err := p.quotedString("a string")
		f.SetString(s)
		return err
	case reflect.Slice:
		list, err := p.strings("a string")
		f.Set(reflect.ValueOf(list))
		return err
	case reflect.Bool:
		s, err := p.word("true or false")
		if err == nil && s != "true" && s != "false" {
			err = p.errorf("%q is neither true nor false", s)
		}
		f.SetBool(s == "true")
		return err
	case reflect.Float64:
		s, err := p.word("a number")
		if err != nil {
			return err
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return p.errorf("%q is no number", s)
		}
		f.SetFloat(v)
		return nil
	}
	v, err := p.signed("value", f.Type().Bits())
	f.SetInt(v)
	return err
}

func (p *parser) siteLine() error {
	f, err := p.take("a module or a word")
	if err != nil {
		return err
	}
	var s runfile.Site
	if f.quoted {
		offset, err := p.wordValue("offset")
		if err != nil {
			return err
		}
		s = runfile.MakeSite(f.text, offset)
	} else if s.Word, err = parseNumber(f.text); err != nil {
		return p.errorf("%w", err)
	}
	if s.Place, err = p.quotedString("a place"); err != nil {
		return err
	}
	s.Func, err = p.quotedString("a function")
	p.file.Meta.Sites = append(p.file.Meta.Sites, s)
	return err
}

// wordValue reads a number in the form of words.
func (p *parser) wordValue(what string) (uint64, error) {
	text, err := p.word(what)
	if err != nil {
		return 0, err
	}
	v, err := parseNumber(text)
	if err != nil {
		return 0, p.errorf("%w", err)
	}
	return v, nil
}

// maxElements is the maximum number of elements of a process's arrays: readers reject more.
const maxElements = 1 << 24

func (p *parser) processLine() error {
	if err := p.endProcess(); err != nil {
		return err
	}
	p.proc = &efg.Process{}
	p.file.Procs = append(p.file.Procs, p.proc)
	p.words, p.left = newWords(), maxElements
	p.procLine, p.places = p.line, map[any]int{}
	rank, err := p.signed("rank", 32)
	if err != nil {
		return err
	}
	if rank < -1 {
		return p.errorf("rank %d", rank)
	}
	p.proc.Rank = int(rank)
	size, err := p.named("of", 31)
	if err != nil {
		return err
	}
	p.proc.Size = int(size)
	if p.proc.World, err = p.named("world", 64); err != nil {
		return err
	}
	return p.processRest()
}

func (p *parser) processRest() error {
	if err := p.keyword("pid"); err != nil {
		return err
	}
	pid, err := p.signed("pid", 64)
	if err != nil {
		return err
	}
	p.proc.PID = int(pid)
	if err := p.keyword("start"); err != nil {
		return err
	}
	if p.proc.Start, err = p.signed("start", 64); err != nil {
		return err
	}
	if p.option("began") {
		if p.proc.Began, err = p.signed("began", 64); err != nil {
			return err
		}
	}
	if p.option("mono") {
		if p.proc.Mono, err = p.signed("mono", 64); err != nil {
			return err
		}
	}
	if p.option("gone") {
		if p.proc.Gone, err = p.number("gone", 61); err != nil {
			return err
		}
	}
	if p.option("sum") {
		sum, err := p.number("sum", 64)
		p.proc.Sum = &sum
		return err
	}
	return nil
}

func (p *parser) hostLine() (err error) {
	if err := p.in(p.proc != nil, "process"); err != nil {
		return err
	}
	p.proc.Host, err = p.quotedString("a host")
	return err
}

func (p *parser) mpiLine() (err error) {
	if err := p.in(p.proc != nil, "process"); err != nil {
		return err
	}
	p.proc.MPI, err = p.quotedString("a library")
	return err
}

func (p *parser) commandLine() (err error) {
	if err := p.in(p.proc != nil, "process"); err != nil {
		return err
	}
	p.proc.Command, err = p.strings("an argument")
	return err
}

func (p *parser) defLine() error {
	if err := p.in(p.proc != nil, "process"); err != nil {
		return err
	}
	if err := p.in(p.stream == nil, "process that has no thread yet"); err != nil {
		return err
	}
	n, err := p.number("number", 32)
	if err == nil && n != uint64(len(p.proc.Defs)) {
		err = p.errorf("definition %d: the next one is %d", n, len(p.proc.Defs))
	}
	if err != nil {
		return err
	}
	name, err := p.word("a kind")
	if err != nil {
		return err
	}
	kind := slices.Index(kindNames, name)
	if kind < 0 {
		return p.errorf("%q is no kind of a definition", name)
	}
	return p.definition(efg.Def{Kind: efg.DefKind(kind)})
}

// definition reads a definition's content.
func (p *parser) definition(d efg.Def) error {
	explicit := false
	for p.more() {
		f, err := p.take("a word")
		if err != nil {
			return err
		}
		switch {
		case len(d.Data) > 0:
			err = errors.New("a string is the last of a definition")
		case f.quoted:
			d.Data = []byte(f.text)
		case f.text[0] == '=' && !explicit && d.Words == nil:
			explicit = true
			d.Word, err = parseNumber(f.text[1:])
		default:
			var w uint64
			w, err = p.words.parse(f.text)
			d.Words = append(d.Words, w)
		}
		if err != nil {
			return p.errorf("%w", err)
		}
	}
	if !explicit {
		d.Word = d.Identity()
	}
	if d.Kind == efg.DefVec {
		if p.left -= len(d.Words); p.left < 0 {
			return p.errorf("vectors of more than %d elements", maxElements)
		}
	}
	p.proc.Defs = append(p.proc.Defs, d)
	p.words.add(d)
	return nil
}

// endProcess checks the process that the preceding lines described.
func (p *parser) endProcess() error {
	if err := p.endSeq(); err != nil {
		return err
	}
	q := p.proc
	if q == nil {
		return nil
	}
	fail := func(line int, cause error) error {
		return &Error{File: p.scanner.file, Line: line, Column: 1, Cause: cause}
	}
	if n, err := efg.CheckDefs(q.Defs); err != nil {
		return fail(p.procLine, fmt.Errorf("definition %d: %w", n, err))
	}
	runfile.Bind(q)
	for i := range q.Streams {
		s := &q.Streams[i]
		for j := range s.Nodes {
			if line, err := p.checkSeqs(&s.Nodes[j]); err != nil {
				return fail(line, err)
			}
		}
		if n, err := efg.CheckStream(s); err != nil {
			return fail(p.places[[2]int{i, n}], fmt.Errorf("node %d: %w", n, err))
		}
		if n, err := efg.CheckTimes(s); err != nil {
			return fail(p.places[[2]int{i, n}], fmt.Errorf("node %d: %w", n, err))
		}
	}
	p.proc, p.stream, p.node, p.marks = nil, nil, nil, nil
	return nil
}
