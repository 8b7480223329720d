package flame_test

import (
	"bytes"
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/flame"
	draw "github.com/efg-tools/efg/internal/draw/flame"
	"github.com/efg-tools/efg/internal/palette"
)

// box is what a picture shows of a place.
type box struct {
	Rect struct {
		X      string `xml:"x,attr"`
		Y      string `xml:"y,attr"`
		Width  string `xml:"width,attr"`
		Fill   string `xml:"fill,attr"`
		Height string `xml:"height,attr"`
	} `xml:"rect"`
	Text  string `xml:"text"`
	Title string `xml:"title"`
}

func (b *box) place(t *testing.T) (x, y, width float64) {
	t.Helper()
	for text, to := range map[string]*float64{b.Rect.X: &x, b.Rect.Y: &y, b.Rect.Width: &width} {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		*to = v
	}
	return x, y, width
}

// Places are as wide as what they cost, and lie below what they are part of; names are escaped.
func TestSVG(t *testing.T) {
	send := &flame.Node{Name: "MPI_Send", Kind: flame.Procedure, Op: "MPI_Send", Site: "f a.c:3", Values: [2]uint64{600}}
	less := &flame.Node{Name: "operator<", Kind: flame.Function, Values: [2]uint64{600}, Children: []*flame.Node{send}}
	other := &flame.Node{Name: strings.Repeat("long & ", 40), Kind: flame.Function, Values: [2]uint64{399}}
	tiny := &flame.Node{Name: "tiny", Kind: flame.Function, Values: [2]uint64{0}}
	tree := &flame.Tree{Measure: flame.Bytes, Root: &flame.Node{Kind: flame.Whole, Values: [2]uint64{1000}, Children: []*flame.Node{less, other, tiny}}, Nodes: 5}
	var out bytes.Buffer
	if err := draw.SVG(&out, tree, "a < b"); err != nil {
		t.Fatal(err)
	}
	var svg struct {
		Boxes []box  `xml:"g"`
		Title string `xml:"text"`
	}
	if err := xml.Unmarshal(out.Bytes(), &svg); err != nil || svg.Title != "a < b" {
		t.Fatalf("%v, title %q: %s", err, svg.Title, out.Bytes())
	}
	at := map[string]*box{}
	for i := range svg.Boxes {
		name, _, _ := strings.Cut(svg.Boxes[i].Title, ":")
		at[name] = &svg.Boxes[i]
	}
	if len(at) != 4 || at["operator<"] == nil || at["tiny"] != nil {
		t.Fatalf("boxes %v", at)
	}
	rootX, rootY, whole := at["all"].place(t)
	x, y, width := at["operator<"].place(t)
	if x != rootX || math.Abs(width-0.6*whole) > 0.01 || y <= rootY {
		t.Errorf("operator< at %v %v, %v wide of %v", x, y, width, whole)
	}
	nextX, nextY, nextWidth := at[strings.TrimSuffix(other.Name, ":")].place(t)
	if math.Abs(nextX-x-width) > 0.02 || nextY != y || math.Abs(nextWidth-0.399*whole) > 0.01 {
		t.Errorf("the second at %v %v, %v wide", nextX, nextY, nextWidth)
	}
	if b := at["MPI_Send"]; b.Rect.Fill != palette.Hex(palette.Of("MPI_Send")) || b.Text != "MPI_Send" || b.Title != "MPI_Send: 600 B, 60.0% of all" {
		t.Errorf("%+v", b)
	}
	if text := at[other.Name].Text; !strings.HasSuffix(text, "…") || len(text) > 100 || !strings.HasPrefix(text, "long & long") {
		t.Errorf("text %q", text)
	}
}
