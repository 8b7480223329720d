// Package terminal lays out the text of commands: tables that fit the columns there are, colour,
// bars and distributions where people look at it, and plain complete tables everywhere else.
package terminal

import (
	"bufio"
	"errors"
	"fmt"
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

// Columns is how many columns text should fit in, at most n.
func (s *Screen) Columns(n int) int {
	if s.columns > 0 {
		return min(n, s.columns)
	}
	return n
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
