package gxl

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/export"
)

// Read reads a document that Write wrote, and hands its processes to sink. name is its name in
// errors, which are of type text.Error unless sink fails. It needs memory for the graphs of one
// process. progress, if not nil, is called from time to time with the number of bytes read.
func Read(name string, in io.Reader, sink export.Sink, progress func(bytes int64)) error {
	r := &reader{scanner: newScanner(name, in), sink: sink, progress: progress}
	return r.document()
}

// reader makes processes from objects, in the order of the document.
type reader struct {
	*scanner
	sink     export.Sink
	about    runfile.Meta
	procs    int
	progress func(int64)
	nodes    int

	proc    *efg.Process
	defs    *efg.Definitions // after the last definition
	streams []*export.Stream
	values  []export.Value
}

func (r *reader) document() error {
	found := false
	for {
		t, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local != "gxl" {
			return r.errorf("not GXL: the document is a %.40q", e.Name.Local)
		}
		found = true
		if err := r.graphs(); err != nil {
			return err
		}
	}
	if !found {
		return r.errorf("not GXL: the document is empty")
	}
	if err := r.endProcess(); err != nil {
		return err
	}
	if r.procs == 0 {
		return r.errorf("no processes: the trace was not written by efg export")
	}
	return nil
}

// graphs reads the graphs of the document.
func (r *reader) graphs() error {
	for {
		e, more, err := r.element()
		if err != nil || !more {
			return err
		}
		if e.Name.Local == "graph" {
			err = r.graph()
		} else {
			err = r.skip()
		}
		if err != nil {
			return err
		}
	}
}

// graph reads a graph. Those that are not traces are skipped.
func (r *reader) graph() error {
	var o object
	trace := false
	for {
		e, more, err := r.element()
		if err != nil || !more {
			return err
		}
		switch e.Name.Local {
		case "type":
			o.class = typeOf(&e)
			trace = o.class == "MPITrace"
			err = r.skip()
		case "attr":
			err = r.attribute(&e, &o)
		case "node":
			if trace && o.attrs != nil {
				err = r.meta(&o)
				o.attrs = nil
			}
			if err == nil && trace {
				err = r.node(&e)
			} else if err == nil {
				err = r.skip()
			}
		default:
			err = r.skip()
		}
		if err != nil {
			return err
		}
	}
}

// typeOf is the class that a type element names: what follows the #.
func typeOf(e *xml.StartElement) string {
	href := named(e, "href")
	return href[strings.LastIndexByte(href, '#')+1:]
}

// node reads a node and processes it.
func (r *reader) node(e *xml.StartElement) error {
	o := object{id: named(e, "id")}
	for {
		e, more, err := r.element()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		switch e.Name.Local {
		case "type":
			o.class = typeOf(&e)
			err = r.skip()
		case "attr":
			err = r.attribute(&e, &o)
		default:
			err = r.skip()
		}
		if err != nil {
			return err
		}
	}
	if r.nodes++; r.progress != nil && r.nodes%(1<<12) == 0 {
		r.progress(r.in.total)
	}
	if err := r.take(&o); err != nil {
		switch err.(type) {
		case *text.Error, *export.SinkError:
			return err
		}
		return r.errorf("node %.40q: %w", o.id, err)
	}
	return nil
}

// take processes an object.
func (r *reader) take(o *object) error {
	switch o.class {
	case "efg.Site":
		return r.site(o)
	case "efg.Process":
		return r.process(o)
	case "efg.Definition":
		return r.definition(o)
	case "efg.Stream":
		return r.stream(o)
	case "efg.Signature":
		return r.signature(o)
	}
	if a := o.find("efg.signature"); a != nil {
		return r.event(o, a.text)
	}
	return nil
}

// fields reads attributes of an object. The first error is kept.
type fields struct {
	o   *object
	err error
}

func (f *fields) get(name, kind string, must bool) *attr {
	a := f.o.find(name)
	switch {
	case f.err != nil:
	case a == nil && must:
		f.err = fmt.Errorf("no attribute %s", name)
	case a != nil && a.kind != kind:
		f.err = fmt.Errorf("attribute %s: %q in place of %s", name, a.kind, kind)
	case a != nil:
		return a
	}
	return nil
}

func (f *fields) text(name string) string {
	if a := f.get(name, "string", false); a != nil {
		return a.text
	}
	return ""
}

func (f *fields) list(name string) []string {
	if a := f.get(name, "seq", false); a != nil && len(a.list) > 0 {
		return a.list
	}
	return nil
}

func (f *fields) bool(name string) bool {
	a := f.get(name, "bool", false)
	return a != nil && a.text == "true"
}

// int reads an integer of a number of bits, from low on; 0 if it does not exist.
func (f *fields) int(name string, bits int, low int64) int64 {
	a := f.get(name, "int", false)
	if a == nil {
		return 0
	}
	v, err := strconv.ParseInt(strings.TrimSpace(a.text), 10, bits)
	if err != nil || v < low {
		f.err = fmt.Errorf("attribute %s: %.40q is not an integer of %d bits from %d on", name, a.text, bits, low)
	}
	return v
}

func (f *fields) uint(name string, bits int) uint64 {
	a := f.get(name, "int", false)
	if a == nil {
		return 0
	}
	v, err := strconv.ParseUint(strings.TrimSpace(a.text), 10, bits)
	if err != nil {
		f.err = fmt.Errorf("attribute %s: %.40q is not a number of %d bits", name, a.text, bits)
	}
	return v
}

// word reads a word in hexadecimal.
func (f *fields) word(name string) uint64 {
	a := f.get(name, "string", true)
	if a == nil {
		return 0
	}
	v, err := strconv.ParseUint(a.text, 0, 64)
	if err != nil {
		f.err = fmt.Errorf("attribute %s: %.40q is not a number of 64 bits", name, a.text)
	}
	return v
}

// words reads a list of words.
func (f *fields) words(name string) []uint64 {
	words, err := parseWords(f.list(name))
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("attribute %s: %w", name, err)
	}
	return words
}

func parseWords(list []string) (words []uint64, err error) {
	for _, s := range list {
		w, err := text.ParseWord(s)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	return words, nil
}

// inside reads the calls in progress inside another one.
func (f *fields) inside() *efg.Pending {
	var outermost *efg.Pending
	inner := &outermost
	for _, s := range f.list("inside") {
		c := &efg.Pending{}
		since, words, _ := strings.Cut(s, " ")
		var err error
		if c.Since, err = strconv.ParseUint(since, 10, 64); err == nil {
			c.Words, err = parseWords(strings.Fields(words))
		}
		if err != nil && f.err == nil {
			f.err = fmt.Errorf("attribute inside: %w", err)
		}
		*inner, inner = c, &c.Inner
	}
	return outermost
}

// meta reads the metadata of the run.
func (r *reader) meta(o *object) error {
	f := &fields{o: o}
	if v := f.int("efg.version", 32, 0); v > version {
		return r.errorf("written by a newer version of efg: form %d", v)
	}
	r.about = runfile.Meta{
		Tool: f.text("efg.tool"), Command: f.list("efg.command"), Launcher: f.list("efg.launcher"), Status: int(f.int("efg.status", 32, -1<<31)), StatusUnknown: f.bool("efg.status_unknown"),
		Started: f.int("StartTime", 64, -1<<63), Ended: f.int("EndTime", 64, -1<<63),
		Time: f.text("efg.time"), Polls: f.text("efg.polls"), Queries: f.bool("efg.queries"), Buffers: f.bool("efg.buffers"),
		CallPath: int(f.int("efg.callpath", 16, 0)),
		Forks:    f.list("efg.forks"), Energy: f.list("efg.energy"), Processors: f.list("efg.processors"),
	}
	if f.err != nil {
		return r.errorf("trace: %w", f.err)
	}
	return nil
}

func (r *reader) site(o *object) error {
	f := &fields{o: o}
	s := runfile.Site{Word: f.word("word")}
	if module := f.text("module"); module != "" {
		s = runfile.MakeSite(module, f.uint("offset", 64))
	}
	s.Place, s.Func = f.text("place"), f.text("function")
	r.about.Sites = append(r.about.Sites, s)
	return f.err
}
