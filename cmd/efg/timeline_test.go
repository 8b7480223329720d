package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/timeline"
	"github.com/efg-tools/efg/internal/draw/raster"
	timelinedraw "github.com/efg-tools/efg/internal/draw/timeline"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/palette"
)

const tracedText = `file      a.efg
ranks     3
time      0.050331648 s to 0.486539264 s of the run, a column is 8.39 ms

rank
   0 | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbb |
   1 |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbb|
   2 |   aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbb |

                   time  of MPI
a  MPI_Init      1.05 s   apart
b  MPI_Finalize  178 ms   apart
.  outside MPI

not visible in this view because others have more time everywhere: 3 procedures

blank: nothing was recorded, before the start or after the end
`

func TestTimeline(t *testing.T) {
	assembled(t, "traced")
	out, errOut, status := efgRun(t, nil, "timeline", "a.efg", "--width", "30")
	if status != 0 || errOut != "" || out != tracedText {
		t.Errorf("status %d, %s%s", status, errOut, out)
	}
	out, errOut, status = efgRun(t, nil, "timeline", "a.efg", "--json", "--from", "418ms", "--to", "420ms", "--rank", "0-1", "--rows", "1", "--slices", "50")
	var j jsondoc.Timeline
	if err := json.Unmarshal([]byte(out), &j); err != nil || status != 0 || errOut != "" {
		t.Fatalf("%v, status %d, %q", err, status, errOut)
	}
	if j.Schema != "efg-timeline/1" || j.File != "a.efg" || len(j.Rows) != 1 || j.Rows[0] != [4]int{0, 1, 2, 2} || !j.Complete ||
		len(j.Pixels) != j.Width || len(j.Shares) != j.Width || j.From > 418e6 || j.To < 420e6 || len(j.Slices) == 0 || len(j.Slices) > 25 {
		t.Errorf("%+v", j.Header)
	}
}

// Pictures have the colours of the pixels.
func TestTimelinePictures(t *testing.T) {
	assembled(t, "traced")
	out, errOut, status := efgRun(t, nil, "timeline", "a.efg", "-o", "a.png", "-o", "a.svg", "--json")
	var j jsondoc.Timeline
	if err := json.Unmarshal([]byte(out), &j); err != nil || status != 0 || errOut != "" {
		t.Fatalf("%v, status %d, %q", err, status, errOut)
	}
	f, err := os.Open("a.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	v := &timeline.View{}
	for _, e := range j.Legend {
		v.Legend = append(v.Legend, timeline.Procedure{Op: e.Op})
	}
	svg, err := os.ReadFile("a.svg")
	if err != nil {
		t.Fatal(err)
	}
	rects, waits := svgRects(t, svg)
	hatched := 0
	for y := range j.Rows {
		for x := range j.Width {
			p := j.Pixels[y*j.Width+x]
			at := image.Pt(raster.Left+x, raster.Top+y*36+5)
			if slices.ContainsFunc(waits, func(r image.Rectangle) bool { return at.In(r) }) {
				hatched++
			} else if got := m.At(at.X, at.Y); got != timelinedraw.Color(v, p) {
				t.Fatalf("rank %d, pixel %d: %v, want %v", y, x, got, timelinedraw.Color(v, p))
			}
			if p != 255 && (x == 0 || p != j.Pixels[y*j.Width+x-1]) {
				rects[palette.Hex(timelinedraw.Color(v, p))]--
			}
		}
	}
	for c, n := range rects { // the legend has one of each
		if n != 1 {
			t.Errorf("%s: %d rectangles too many", c, n-1)
		}
	}
	if hatched == 0 || hatched > len(j.Pixels)/2 || !bytes.Contains(svg, []byte("<title>rank 1, ")) || !bytes.Contains(svg, []byte("late sender in MPI_Recv")) {
		t.Errorf("%d of %d pixels are hatched, for waits at %v", hatched, len(j.Pixels), waits)
	}
	if !bytes.Contains(svg, []byte(", tag 2 on MPI_COMM_WORLD, from rank ")) {
		t.Error("no messages")
	}
}

// svgRects counts the rectangles of each colour in a picture, and returns those of waits.
func svgRects(t *testing.T, svg []byte) (colours map[string]int, waits []image.Rectangle) {
	t.Helper()
	colours = map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return colours, waits
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "rect" {
			continue
		}
		a := map[string]string{}
		for _, attr := range e.Attr {
			a[attr.Name.Local] = attr.Value
		}
		switch {
		case a["fill"] == "url(#waiting)":
			var at [4]int
			for i, name := range []string{"x", "y", "width", "height"} {
				if at[i], err = strconv.Atoi(a[name]); err != nil {
					t.Fatal(err)
				}
			}
			waits = append(waits, image.Rect(at[0], at[1], at[0]+at[2], at[1]+at[3]))
		case strings.HasPrefix(a["fill"], "#"):
			colours[a["fill"]]++
		}
	}
}

func TestTimelineMistakes(t *testing.T) {
	assembled(t, "traced")
	sampleRun(t, "app.efg")
	for args, want := range map[string]string{
		"timeline none.efg":                 "none.efg: no such file or directory",
		"timeline app.efg":                  "app.efg: the times of each call were not recorded (efg run --time trace records them)",
		"timeline a.efg --rank 7":           "no rank 7: the run has ranks 0-2",
		"timeline a.efg --from x":           "--from x: want a time as in 1.5s, 300ms or 20us",
		"timeline a.efg --from 2s":          "from 2 s to 0.478282465 s: the interval is empty",
		"timeline a.efg --width -1":         "a.efg: no such view: width -1, want 1 to 8192",
		"timeline a.efg --rows 100000":      "a.efg: no such view: 100000 rows, want 1 to 8192",
		"timeline a.efg --slices 9":         "--slices: only with --json",
		"timeline a.efg -o no/such/dir.png": "open no/such/dir.png: no such file or directory",
		"timeline a.efg -o no/such/dir.svg": "open no/such/dir.svg: no such file or directory",
		"timeline a.efg -o a.svg -o a.gif":  "-o a.gif: want a name that ends in .svg or .png",
	} {
		_, errOut, status := efgRun(t, nil, strings.Fields(args)...)
		if status != 2 || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("efg %s: status %d, %q, want %q", args, status, errOut, want)
		}
	}
}
