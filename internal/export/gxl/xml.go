package gxl

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// printer writes GXL elements. Errors are kept in w.
type printer struct {
	w    *bufio.Writer
	file countingWriter
}

// countingWriter counts what it writes.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func (p *printer) raw(parts ...string) {
	for _, s := range parts {
		p.w.WriteString(s)
	}
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escaped represents any text in XML: characters that are not printable are written with the
// escapes of Go strings, so that each byte is preserved.
func escaped(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '\\' || c == '"' || c == '&' || c == '<' || c == '>' {
			q := strconv.Quote(s)
			return escapes.Replace(q[1 : len(q)-1])
		}
	}
	return s
}

// node begins a node of a class.
func (p *printer) node(id, class string) {
	p.raw(`<node id="`, id, `"><type xlink:href="#`, class, `"/>`)
}

func (p *printer) endNode() { p.raw("</node>\n") }

func (p *printer) attr(name, domain, value string) {
	p.raw(`<attr name="`, name, `"><`, domain, `>`, value, `</`, domain, `></attr>`)
}

func (p *printer) text(name, value string) { p.attr(name, "string", escaped(value)) }

func (p *printer) int(name string, value int64) { p.attr(name, "int", strconv.FormatInt(value, 10)) }

func (p *printer) uint(name string, value uint64) {
	p.attr(name, "int", strconv.FormatUint(value, 10))
}

func (p *printer) bool(name string, value bool) { p.attr(name, "bool", strconv.FormatBool(value)) }

// hex writes a word in hexadecimal.
func (p *printer) hex(name string, value uint64) { p.attr(name, "string", fmt.Sprintf("%#x", value)) }

// list writes a sequence of texts.
func (p *printer) list(name string, values []string) {
	p.raw(`<attr name="`, name, `"><seq>`)
	for _, v := range values {
		p.raw("<string>", escaped(v), "</string>")
	}
	p.raw("</seq></attr>")
}

func (p *printer) edge(from, to, class string) {
	p.raw(`<edge from="`, from, `" to="`, to, `"><type xlink:href="#`, class, "\"/></edge>\n")
}
