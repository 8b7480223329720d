// Package flame draws what the places of a program cost as a flame graph.
package flame

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/efg-tools/efg/internal/analysis/flame"
	"github.com/efg-tools/efg/internal/palette"
	"github.com/efg-tools/efg/internal/units"
)

// Layout, in pixels.
const (
	width     = 1200
	line      = 18  // height of a row
	margin    = 10  // around the picture
	head      = 34  // above the rows
	character = 6.2 // width of a character, on average
	narrowest = 0.3 // what is narrower is left out
)

// least is how many characters of a name are worth writing.
const least = 3

// neutral is the colour of what is not a procedure.
var neutral = color.RGBA{222, 226, 231, 255}

// SVG draws a tree of one run, from the whole run at the top to procedures at the bottom: each place is as
// wide as what it costs. Tooltips have the names and what they cost.
func SVG(w io.Writer, t *flame.Tree, title string) error {
	p := &picture{w: w, tree: t}
	height := head + line*depthOf(t.Root) + margin
	p.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n", width, height, width, height)
	p.printf("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"21\" font-size=\"14\">%s</text>\n", margin, html.EscapeString(title))
	p.place(t.Root, margin, width-2*margin, 0)
	p.printf("</svg>\n")
	return p.err
}

// depthOf is the number of rows of a tree.
func depthOf(n *flame.Node) int {
	deepest := 0
	for _, c := range n.Children {
		deepest = max(deepest, depthOf(c))
	}
	return deepest + 1
}

type picture struct {
	w    io.Writer
	tree *flame.Tree
	err  error
}

func (p *picture) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// place draws a node, and below it its children side by side.
func (p *picture) place(n *flame.Node, x, wide float64, depth int) {
	if wide < narrowest {
		return
	}
	p.node(n, x, wide, head+line*depth)
	if n.Values[0] == 0 {
		return
	}
	for _, c := range n.Children {
		part := wide * float64(c.Values[0]) / float64(n.Values[0])
		p.place(c, x, part, depth+1)
		x += part
	}
}

func (p *picture) node(n *flame.Node, x, wide float64, y int) {
	fill, name := neutral, n.Name
	if n.Kind == flame.Whole {
		name = "all"
	}
	if n.Kind == flame.Procedure {
		fill = palette.Of(n.Op)
	}
	p.printf("<g><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\" stroke=\"white\" stroke-width=\"0.5\"/>", x, y, wide, line-1, palette.Hex(fill))
	if text := fitting(name, int((wide-6)/character)); text != "" {
		p.printf("<text x=\"%.2f\" y=\"%d\" fill=\"%s\">%s</text>", x+3, y+13, ink(fill), html.EscapeString(text))
	}
	p.printf("<title>%s: %s, %s of all</title></g>\n", html.EscapeString(name), p.value(n.Values[0]), units.Percent(n.Values[0], p.tree.Root.Values[0]))
}

// value writes what a place costs.
func (p *picture) value(v uint64) string {
	switch p.tree.Measure {
	case flame.Bytes:
		return units.Bytes(float64(v))
	case flame.Calls:
		return units.Count(float64(v))
	}
	return units.Nanoseconds(float64(v))
}

// fitting is as much of a name as fits into some characters; "" if that is too little.
func fitting(name string, most int) string {
	switch {
	case utf8.RuneCountInString(name) <= most:
		return name
	case most < least:
		return ""
	}
	return strings.TrimRight(string([]rune(name)[:most-1]), " ") + "…"
}

// ink is black or white, whichever has more contrast.
func ink(on color.RGBA) string {
	if 0.299*float64(on.R)+0.587*float64(on.G)+0.114*float64(on.B) > 140 {
		return "black"
	}
	return "white"
}
