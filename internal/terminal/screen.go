// Package terminal lays out the text of commands: tables that fit the columns there are, colour,
// bars and distributions where people look at it, and plain complete tables everywhere else.
package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/internal/printable"
)

// Colour says when text is coloured.
type Colour string

const (
	Auto   Colour = "auto" // on a terminal, unless NO_COLOR is set or TERM is dumb
	Always Colour = "always"
	Never  Colour = "never"
)

// Colours are the values of Colour.
var Colours = []Colour{Auto, Always, Never}

// Screen is where the text of a command goes. What is written to it may hold any characters: those
// that would move the cursor or change colours are escaped.
type Screen struct {
	text    *printable.Writer
	out     *bufio.Writer
	columns int // 0: as many as the text has
	colour  bool
	hidden  []string // the heads of columns for which there was no space, each once
}

// NewScreen returns a screen over out. Text is fitted to the columns of the environment variable
// COLUMNS or else of the terminal that out is; without either, or if wide, nothing is left out.
func NewScreen(out io.Writer, wide bool, colour Colour) *Screen {
	s := &Screen{out: bufio.NewWriter(printable.Raw(out)), colour: colour == Always || colour == Auto && colourful(out)}
	s.text = printable.NewWriter(s.out)
	if !wide {
		s.columns = columns(out)
	}
	return s
}

// colourful reports whether text is coloured unless the user says otherwise; no-color.org.
func colourful(out io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && printable.IsTerminal(out)
}

func columns(out io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := printable.Raw(out).(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			return int(size.Col)
		}
	}
	return 0
}

// Width is the number of columns that text should fit in, or otherwise if there is no limit.
func (s *Screen) Width(otherwise int) int {
	if s.columns > 0 {
		return s.columns
	}
	return otherwise
}

// Write writes text, with what is not printable escaped.
func (s *Screen) Write(p []byte) (int, error) { return s.text.Write(p) }

// Flush ends the text: it says what was left out for lack of columns.
func (s *Screen) Flush() error {
	if len(s.hidden) > 0 {
		fmt.Fprintf(s, "\nnot shown in %d columns: %s; --wide shows all\n", s.columns, strings.Join(s.hidden, ", "))
		s.hidden = nil
	}
	return errors.Join(s.text.Flush(), s.out.Flush())
}

// The looks of text, as parameters of the control sequence Select Graphic Rendition.
const (
	bold = "1"
	blue = "34"
)

// styled writes text in a look where there is colour.
func (s *Screen) styled(look, text string) {
	if !s.colour || look == "" || text == "" {
		io.WriteString(s, text)
		return
	}
	s.text.Flush()
	s.out.WriteString("\x1b[" + look + "m")
	io.WriteString(s, text)
	s.text.Flush()
	s.out.WriteString("\x1b[0m")
}

// On writes text on a background, in black or white, where there is colour.
func (s *Screen) On(background color.RGBA, text string) { s.styled(s.lookOn(background), text) }

// lookOn is the look of text on a background: the colour itself where the terminal is known to have
// it, or else the nearest of a cube of 6×6×6.
func (s *Screen) lookOn(c color.RGBA) string {
	ink := "97"
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) > 128_000 {
		ink = "30"
	}
	if term := os.Getenv("COLORTERM"); term == "truecolor" || term == "24bit" {
		return fmt.Sprintf("%s;48;2;%d;%d;%d", ink, c.R, c.G, c.B)
	}
	level := func(v uint8) int { return (int(v)*5 + 127) / 255 }
	return fmt.Sprintf("%s;48;5;%d", ink, 16+36*level(c.R)+6*level(c.G)+level(c.B))
}

// hide notes that columns were left out.
func (s *Screen) hide(head string) {
	if head != "" && !slices.Contains(s.hidden, head) {
		s.hidden = append(s.hidden, head)
	}
}

func (s *Screen) screen() *Screen { return s }

// screenOf returns the screen that w is or embeds, or else one that leaves all as it is.
func screenOf(w io.Writer) (s *Screen, flush func() error) {
	if on, ok := w.(interface{ screen() *Screen }); ok {
		return on.screen(), func() error { return nil }
	}
	s = &Screen{out: bufio.NewWriter(w)}
	s.text = printable.NewWriter(s.out)
	return s, s.Flush
}
