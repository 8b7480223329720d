package terminal

import (
	"bytes"
	"image/color"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// report is a table as the commands write them.
func report() *Table {
	t := &Table{}
	t.Names("callsite")
	t.Left("procedure")
	t.Right("calls")
	t.Shares("share")
	t.Details("min", "max")
	t.Pictures("durations")
	t.Row("solver::Grid::exchange_boundaries /srv/build/src/solver/grid.cpp:1042", "MPI_Sendrecv", "1,616", "75.0%", "1 ns", "5 ns", "▁█")
	t.Row("main main.c:7", "MPI_Barrier", "3", "25.0%", "2 ns", "6 ns", "█")
	t.Row("solver::Grid::exchange_corners /srv/build/src/solver/grid.cpp:1142", "MPI_Init", "1", "apart", "2 ns", "6 ns", "")
	return t
}

// written returns what a table is on a screen with a number of columns.
func written(t *testing.T, table *Table, columns string, wide bool, colour Colour) string {
	t.Helper()
	t.Setenv("COLUMNS", columns)
	var b bytes.Buffer
	s := NewScreen(&b, wide, colour)
	if err := table.Write(s); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableWide(t *testing.T) {
	want := `callsite                                                               procedure     calls  share   min   max
solver::Grid::exchange_boundaries /srv/build/src/solver/grid.cpp:1042  MPI_Sendrecv  1,616  75.0%  1 ns  5 ns
main main.c:7                                                          MPI_Barrier       3  25.0%  2 ns  6 ns
solver::Grid::exchange_corners /srv/build/src/solver/grid.cpp:1142     MPI_Init          1  apart  2 ns  6 ns
`
	for _, c := range []struct {
		columns string
		wide    bool
	}{{"", false}, {"0", false}, {"many", false}, {"40", true}, {"200", false}} {
		if got := written(t, report(), c.columns, c.wide, Auto); got != want {
			t.Errorf("COLUMNS=%s, wide %v:\n%s", c.columns, c.wide, got)
		}
	}
}

// TestTableFits checks that tables fit, that what matters is kept, and that what is left out is said.
func TestTableFits(t *testing.T) {
	lost := 0
	for columns := 200; columns >= 20; columns-- {
		got := written(t, report(), strconv.Itoa(columns), false, Auto)
		table, note, _ := strings.Cut(got, "\n\n")
		for line := range strings.Lines(table) {
			if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > columns {
				t.Fatalf("%d columns: a line has %d:\n%s", columns, n, got)
			}
		}
		head, _, _ := strings.Cut(table, "\n")
		missing := 0
		for _, name := range []string{"max", "min", "share", "calls", "procedure"} {
			if strings.Contains(head, name) {
				continue
			}
			missing++
			if !strings.Contains(note, name) {
				t.Errorf("%d columns: %s is neither shown nor said to be left out:\n%s", columns, name, got)
			}
		}
		if missing < lost {
			t.Errorf("%d columns: more is shown than with one column more:\n%s", columns, got)
		}
		lost = missing
		if columns == 80 {
			for _, part := range []string{"e_boundaries", ":1042", "ange_corners", ":1142", "procedure", "calls", "share"} {
				if !strings.Contains(table, part) {
					t.Errorf("80 columns: no %q:\n%s", part, got)
				}
			}
		}
	}
	if lost < 4 {
		t.Errorf("20 columns: only %d columns were left out", lost)
	}
}

func TestTableColour(t *testing.T) {
	got := written(t, report(), "", false, Always)
	for _, part := range []string{"\x1b[1mcallsite\x1b[0m", "\x1b[34m████████\x1b[0m 75.0%", "\x1b[34m██▋\x1b[0m      25.0%", "\x1b[34m▁█\x1b[0m", "\x1b[1mdurations\x1b[0m"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%q", part, got)
		}
	}
	if got := written(t, report(), "", false, Never); strings.Contains(got, "\x1b") || strings.Contains(got, "█") {
		t.Errorf("colour without being asked for:\n%q", got)
	}
}

func TestKey(t *testing.T) {
	table := &Table{}
	table.Key("", func(row int) (color.RGBA, bool) { return color.RGBA{0, 114, 178, 255}, row == 0 })
	table.Left("procedure")
	table.Row("a", "MPI_Send")
	table.Row(".", "outside")
	t.Setenv("COLORTERM", "")
	if got, want := written(t, table, "", false, Always), "   \x1b[1mprocedure\x1b[0m\n\x1b[97;48;5;31ma\x1b[0m  MPI_Send\n.  outside\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	t.Setenv("COLORTERM", "truecolor")
	if got := written(t, table, "", false, Always); !strings.Contains(got, "\x1b[97;48;2;0;114;178ma\x1b[0m") {
		t.Errorf("%q", got)
	}
}

// TestScreenEscapes checks that what a run file holds does not reach the terminal as control
// sequences, also where there is colour.
func TestScreenEscapes(t *testing.T) {
	table := &Table{}
	table.Names("callsite")
	table.Shares("share")
	table.Row("\x1b[2Jevil\n", "\x1b]0;title\a")
	got := written(t, table, "", false, Always)
	if strings.Contains(got, "\x1b[2J") || strings.Contains(got, "\x1b]") || strings.Count(got, "\n") != 2 {
		t.Errorf("%q", got)
	}
	var b bytes.Buffer
	s := NewScreen(&b, false, Always)
	io.WriteString(s, "a\x1b[31mb")
	s.Flush()
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("%q", b.String())
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"main", 4, "main"},
		{"exchange_boundaries", 10, "exc…daries"},
		{"MPI_Send solver::Grid::exchange main.cpp:12", 30, "MPI_Send sol…change mai…cpp:12"},
		{"日本語日本語日本語", 9, "日…日本語"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
	} {
		got := Shorten(c.text, c.width)
		if got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("solver::Grid::exchange /srv/build/grid.cpp:1042", 20)
	f.Add("日本 語\xff\xfe", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if width < 0 || width > 1000 {
			return
		}
		if got := Shorten(text, width); runewidth.StringWidth(got) > width {
			t.Errorf("Shorten(%q, %d) = %q, which is %d wide", text, width, got, runewidth.StringWidth(got))
		}
	})
}

func TestPictures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bar(0, 4), ""}, {Bar(1, 4), "████"}, {Bar(0.5, 4), "██"}, {Bar(0.0001, 4), "▏"}, {Bar(7, 2), "██"}, {Bar(0.3, 4), "█▎"},
		{Distribution([]uint64{0, 0, 1, 0, 8, 0}, 10), "▂ █"},
		{Distribution([]uint64{1, 1, 1, 1, 8, 8}, 3), "▂▂█"},
		{Distribution(nil, 3), ""}, {Distribution([]uint64{0}, 3), ""}, {Distribution([]uint64{5}, 0), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
