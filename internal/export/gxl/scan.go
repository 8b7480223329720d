package gxl

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg/text"
)

// Limits of documents, so that memory is bounded whatever one holds.
const (
	maxToken  = 16 << 20 // bytes between two tags
	maxObject = 64 << 20 // bytes of a node's attributes
	maxDepth  = 32
)

// bytesReader hands a document to the XML decoder byte by byte, and rejects tokens without end.
type bytesReader struct {
	r     *bufio.Reader
	total int64
	token int // bytes since the last token
}

var errToken = fmt.Errorf("more than %d bytes without a tag", maxToken)

func (b *bytesReader) ReadByte() (byte, error) {
	if b.token++; b.token > maxToken {
		return 0, errToken
	}
	b.total++
	return b.r.ReadByte()
}

func (b *bytesReader) Read(p []byte) (int, error) {
	c, err := b.ReadByte()
	if err != nil || len(p) == 0 {
		return 0, err
	}
	p[0] = c
	return 1, nil
}

// object is a node, or the attributes at the beginning of a graph.
type object struct {
	id, class string
	attrs     []attr
	size      int
}

type attr struct {
	name, kind, text string
	list             []string
}

// find returns an attribute, nil if the object does not have it.
func (o *object) find(name string) *attr {
	for i := range o.attrs {
		if o.attrs[i].name == name {
			return &o.attrs[i]
		}
	}
	return nil
}

// scanner splits a document into objects.
type scanner struct {
	file  string
	in    *bytesReader
	dec   *xml.Decoder
	depth int
}

func newScanner(file string, r io.Reader) *scanner {
	in := &bytesReader{r: bufio.NewReaderSize(r, 1<<16)}
	return &scanner{file: file, in: in, dec: xml.NewDecoder(in)}
}

// errorf is an error at the position that was read last.
func (s *scanner) errorf(format string, args ...any) error { return s.at(fmt.Errorf(format, args...)) }

func (s *scanner) at(cause error) error {
	line, column := s.dec.InputPos()
	return &text.Error{File: s.file, Line: line, Column: column, Cause: cause}
}

// next returns the next start or end of an element, or its text; io.EOF after
// the end of the document.
func (s *scanner) next() (xml.Token, error) {
	for {
		s.in.token = 0
		t, err := s.dec.Token()
		var syntax *xml.SyntaxError
		switch {
		case err == io.EOF:
			return nil, err
		case errors.As(err, &syntax):
			return nil, s.errorf("not XML: %s", oneLine(syntax.Msg))
		case err != nil:
			return nil, s.at(err)
		}
		switch t.(type) {
		case xml.StartElement:
			if s.depth++; s.depth > maxDepth {
				return nil, s.errorf("elements nested deeper than %d", maxDepth)
			}
			return t, nil
		case xml.EndElement:
			s.depth--
			return t, nil
		case xml.CharData:
			return t, nil
		}
	}
}

func oneLine(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	return s
}

// element returns the next child of the current element; false at its end. Text is skipped.
func (s *scanner) element() (xml.StartElement, bool, error) {
	for {
		t, err := s.next()
		if err == io.EOF {
			err = s.errorf("not XML: the document ends early")
		}
		if err != nil {
			return xml.StartElement{}, false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t, true, nil
		case xml.EndElement:
			return xml.StartElement{}, false, nil
		}
	}
}

// skip moves to the end of the current element.
func (s *scanner) skip() error {
	for {
		_, more, err := s.element()
		if err != nil || !more {
			return err
		}
		if err := s.skip(); err != nil {
			return err
		}
	}
}

// text is the text of the current element, without children.
func (s *scanner) text() (string, error) {
	var b []byte
	for {
		t, err := s.next()
		if err == io.EOF {
			err = s.errorf("not XML: the document ends early")
		}
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			b = append(b, t...)
		case xml.EndElement:
			return s.unescape(string(b))
		default:
			return "", s.errorf("an element in place of a value")
		}
	}
}

// unescape undoes escaped.
func (s *scanner) unescape(v string) (string, error) {
	if !strings.Contains(v, `\`) {
		return v, nil
	}
	u, err := strconv.Unquote(`"` + v + `"`)
	if err != nil {
		return "", s.errorf("%.40q has wrong escapes", v)
	}
	return u, nil
}

// value reads an element as a value of an attribute.
func (s *scanner) value(e *xml.StartElement, a *attr) (err error) {
	switch a.kind = e.Name.Local; a.kind {
	case "bool", "int", "float", "string", "enum":
		a.text, err = s.text()
	case "seq", "set", "bag", "tup":
		a.list = []string{}
		for {
			in, more, err := s.element()
			if err != nil || !more {
				return err
			}
			var part attr
			if err := s.value(&in, &part); err != nil {
				return err
			}
			a.list = append(a.list, part.text)
		}
	default:
		err = s.skip()
	}
	return err
}

// attribute reads an attr element.
func (s *scanner) attribute(e *xml.StartElement, o *object) error {
	a := attr{name: named(e, "name")}
	for {
		in, more, err := s.element()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := s.value(&in, &a); err != nil {
			return err
		}
	}
	o.size += len(a.name) + len(a.text) + 64
	for _, v := range a.list {
		o.size += len(v) + 16
	}
	if o.size > maxObject {
		return s.errorf("a node with attributes of more than %d bytes", maxObject)
	}
	o.attrs = append(o.attrs, a)
	return nil
}

// named is an attribute of an element.
func named(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
