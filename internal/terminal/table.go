package terminal

import (
	"image/color"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/efg-tools/efg/internal/printable"
)

// Table aligns columns of text. If a screen has too few columns for it, names are shortened in
// the middle, then columns are left out: details first, from the last to the first.
type Table struct {
	columns []column
	rows    [][]string
}

type column struct {
	head string
	kind kind
	on   func(row int) (color.RGBA, bool) // the background of a cell; nil: none has one
}

// kind is how a column is written, and what happens to it if there is too little space.
type kind int

const (
	left    kind = iota
	right        // aligned at the right, as numbers are
	name         // shortened in the middle
	detail       // like right; left out first
	share        // like right: a percentage, with a bar beside it where there is colour
	picture      // only where there is colour, and left out before details
)

// Left adds columns that are aligned at the left.
func (t *Table) Left(heads ...string) { t.add(left, heads) }

// Right adds columns that are aligned at the right, for numbers.
func (t *Table) Right(heads ...string) { t.add(right, heads) }

// Names adds columns of names that are shortened in the middle if there is too little space.
func (t *Table) Names(heads ...string) { t.add(name, heads) }

// Details adds columns of numbers that are left out first if there is too little space.
func (t *Table) Details(heads ...string) { t.add(detail, heads) }

// Shares adds columns of percentages. A cell may be other text.
func (t *Table) Shares(heads ...string) { t.add(share, heads) }

// Pictures adds columns that are shown only where there is colour, as those of Distribution.
func (t *Table) Pictures(heads ...string) { t.add(picture, heads) }

func (t *Table) add(k kind, heads []string) {
	for _, h := range heads {
		t.columns = append(t.columns, column{head: h, kind: k})
	}
}

// Key adds a column whose cells are on a background where there is colour, as in a legend.
func (t *Table) Key(head string, background func(row int) (color.RGBA, bool)) {
	t.columns = append(t.columns, column{head, left, background})
}

// Row adds a row with a cell for each column, once all columns have been added; cells that are
// missing at the end are empty. Line breaks in cells are escaped.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.columns))
	for i, c := range cells {
		row[i] = printable.Line(c)
	}
	t.rows = append(t.rows, row)
}

// Rows is the number of rows.
func (t *Table) Rows() int { return len(t.rows) }

const (
	space    = 2 // between columns
	barWidth = 8 // of the bar of a share
)

// The widths to which names are shortened: before details are left out, before anything else is,
// and if nothing else is left to leave out.
const (
	longName  = 36
	shortName = 20
	leastName = 8
)

// Write writes the table, or nothing if it has no rows.
func (t *Table) Write(w io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	s, flush := screenOf(w)
	shown, width := t.fit(s)
	most := t.largestShares()
	heads := make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i] = c.head
	}
	t.line(s, shown, width, heads, -1, nil)
	for i, r := range t.rows {
		t.line(s, shown, width, r, i, most)
	}
	return flush()
}

// line writes a row, or the heads as row -1, without spaces at its end. most has the largest shares,
// for their bars.
func (t *Table) line(s *Screen, shown, width []int, cells []string, row int, most []float64) {
	for len(shown) > 0 && cells[shown[len(shown)-1]] == "" {
		shown = shown[:len(shown)-1]
	}
	for i, c := range shown {
		if i > 0 {
			io.WriteString(s, strings.Repeat(" ", space))
		}
		bar := ""
		if s.colour && t.columns[c].kind == share && row >= 0 {
			bar = barCell(cells[c], most[c])
		}
		t.cell(s, t.columns[c].kind, width[c], cells[c], t.look(s, c, row), bar, i == len(shown)-1)
	}
	io.WriteString(s, "\n")
}

// look is the look of a cell.
func (t *Table) look(s *Screen, column, row int) string {
	switch c := &t.columns[column]; {
	case !s.colour:
		return ""
	case row < 0:
		return bold
	case c.kind == picture:
		return blue
	case c.on != nil:
		if background, ok := c.on(row); ok {
			return s.lookOn(background)
		}
	}
	return ""
}

// cell writes a cell of a column, the last one of its line without spaces after it.
func (t *Table) cell(s *Screen, k kind, width int, text, look, bar string, last bool) {
	text = Shorten(text, width)
	pad := strings.Repeat(" ", max(0, width-runewidth.StringWidth(text)-runewidth.StringWidth(bar)))
	switch {
	case k == right || k == detail || k == share:
		s.styled(blue, bar)
		io.WriteString(s, pad)
		s.styled(look, text)
	default:
		s.styled(look, text)
		if !last {
			io.WriteString(s, pad)
		}
	}
}

// fit chooses the columns to show and the width of each column.
func (t *Table) fit(s *Screen) (shown, width []int) {
	width = t.widths(s)
	for i, c := range t.columns {
		if c.kind != picture || s.colour {
			shown = append(shown, i)
		}
	}
	if s.columns == 0 {
		return shown, width
	}
	full := slices.Clone(width)
	shorten := func(least int) {
		for _, i := range shown {
			if t.columns[i].kind == name {
				width[i] = min(width[i], max(least, runewidth.StringWidth(t.columns[i].head)))
			}
		}
	}
	leaveOut := func(kinds ...kind) {
		for k := len(shown) - 1; k > 0 && total(shown, width) > s.columns; k-- {
			if slices.Contains(kinds, t.columns[shown[k]].kind) {
				s.hide(t.columns[shown[k]].head)
				shown = slices.Delete(shown, k, k+1)
			}
		}
	}
	for _, step := range []struct {
		least int
		kinds []kind
	}{{longName, []kind{picture}}, {longName, []kind{detail}}, {shortName, []kind{right, share}}, {leastName, []kind{left, name}}} {
		if total(shown, width) > s.columns {
			shorten(step.least)
			leaveOut(step.kinds...)
		}
	}
	t.widen(shown, width, full, s.columns)
	return shown, width
}

// widen gives names the columns that are left, evenly.
func (t *Table) widen(shown, width, full []int, columns int) {
	for free := columns - total(shown, width); free > 0; {
		gained := false
		for _, i := range shown {
			if free > 0 && width[i] < full[i] {
				width[i]++
				free--
				gained = true
			}
		}
		if !gained {
			return
		}
	}
}

func (t *Table) widths(s *Screen) []int {
	width := make([]int, len(t.columns))
	for i, c := range t.columns {
		bar := 0
		if c.kind == share && s.colour {
			bar = barWidth + 1
		}
		width[i] = runewidth.StringWidth(c.head)
		for _, r := range t.rows {
			width[i] = max(width[i], bar+runewidth.StringWidth(r[i]))
		}
	}
	return width
}

func total(shown, width []int) int {
	n := space * (len(shown) - 1)
	for _, i := range shown {
		n += width[i]
	}
	return n
}

// largestShares returns the largest percentage of each column.
func (t *Table) largestShares() []float64 {
	most := make([]float64, len(t.columns))
	for i, c := range t.columns {
		if c.kind == share {
			for _, r := range t.rows {
				most[i] = max(most[i], percentage(r[i]))
			}
		}
	}
	return most
}

// percentage is the value of "12.3%", and 0 for other text.
func percentage(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") {
		return 0
	}
	return v
}

// barCell is the bar of a percentage; the largest of its column is as long as the column allows.
func barCell(text string, most float64) string {
	if most == 0 {
		return ""
	}
	return Bar(percentage(text)/most, barWidth)
}

// Shorten makes a text at most width wide. It replaces the middles of its longest words by
// ellipses, so that of a callsite the ends of the function's name and of the place are left.
func Shorten(text string, width int) string {
	if runewidth.StringWidth(text) <= width {
		return text
	}
	words := strings.Split(text, " ")
	if least := len(words) * (leastWord + 1); len(words) == 1 || width < least {
		return shortenWord(text, width)
	}
	room := width - (len(words) - 1)
	limit := 0
	for limit = room; widthOf(words, limit) > room; limit-- {
	}
	for i, w := range words {
		words[i] = shortenWord(w, limit)
	}
	return runewidth.Truncate(strings.Join(words, " "), width, "")
}

// leastWord is the least width that a word of a text is shortened to.
const leastWord = 5

// widthOf is the width of words without the spaces, none longer than limit.
func widthOf(words []string, limit int) int {
	n := 0
	for _, w := range words {
		n += min(limit, runewidth.StringWidth(w))
	}
	return n
}

// shortenWord replaces the middle of a word, more of its start than of its end: what sets names
// apart is at the end.
func shortenWord(word string, width int) string {
	if runewidth.StringWidth(word) <= width {
		return word
	}
	if width <= 1 {
		return strings.Repeat("…", width)
	}
	start := (width - 1) / 3
	short := runewidth.Truncate(word, start, "") + "…" + suffix(word, width-1-start)
	return runewidth.Truncate(short, width, "") // characters may join to wider ones
}

// suffix returns the last characters of a text, which are at most width wide.
func suffix(text string, width int) string {
	for from := len(text); ; {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if width -= runewidth.RuneWidth(r); width < 0 || n == 0 {
			return text[from:]
		}
		from -= n
	}
}
