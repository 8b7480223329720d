// Package printable makes foreign text safe to display: from a run file, another user's
// process, a file name. It escapes control characters, including those beyond ASCII, marks that
// change the direction of text, and bytes that are not UTF-8.
package printable

import (
	"encoding/binary"
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Line returns a text for use within a line: line breaks and tabs are escaped too.
func Line(s string) string {
	for i, r := range s {
		if r < ' ' || !plain(r) || r == utf8.RuneError {
			b := append([]byte(nil), s[:i]...)
			return string(appendLine(b, s[i:]))
		}
	}
	return s
}

func appendLine(b []byte, s string) []byte {
	for i, r := range s {
		switch r {
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			_, n := utf8.DecodeRuneInString(s[i:])
			b = appendRune(b, r, []byte(s[i:i+n]))
		}
	}
	return b
}

// plain reports whether a character may be written unchanged.
func plain(r rune) bool { return r == '\n' || r == '\t' || unicode.IsGraphic(r) }

// appendRune appends a character, whose bytes are given, or an escape for it. If JSON allows
// the character in a string, the escape has the same meaning in JSON.
func appendRune(b []byte, r rune, is []byte) []byte {
	const digits = "0123456789abcdef"
	switch {
	case r == utf8.RuneError && len(is) == 1:
		return append(b, '\\', 'x', digits[is[0]>>4], digits[is[0]&15])
	case plain(r):
		return append(b, is...)
	case r == '\r':
		return append(b, `\r`...)
	case r < ' ':
		return append(b, '\\', 'x', digits[r>>4], digits[r&15])
	}
	units := []rune{r}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		units = []rune{high, low}
	}
	for _, u := range units {
		b = append(b, '\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15])
	}
	return b
}

// Writer writes text to another writer, with escapes for invisible characters. JSON stays JSON
// with the same values. Line breaks are kept; within a line use Line.
type Writer struct {
	to  io.Writer
	mu  sync.Mutex
	cut []byte // the beginning of a character
	b   []byte
}

// NewWriter returns a writer to w, which must be flushed at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cut) == 0 && safe(p) == len(p) {
		return w.to.Write(p)
	}
	text := append(w.cut, p...)
	w.b = w.b[:0]
	for len(text) > 0 {
		n := safe(text)
		w.b = append(w.b, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		if !utf8.FullRune(text) {
			break
		}
		r, n := utf8.DecodeRune(text)
		w.b = appendRune(w.b, r, text[:n])
		text = text[n:]
	}
	w.cut = append([]byte(nil), text...)
	if _, err := w.to.Write(w.b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the remainder of an incomplete character.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = w.b[:0]
	for _, c := range w.cut {
		w.b = appendRune(w.b, utf8.RuneError, []byte{c})
	}
	w.cut = nil
	_, err := w.to.Write(w.b)
	return err
}

// safe is the number of leading bytes that are printable ASCII, line breaks or tabs.
func safe(p []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for n < len(p) {
		for n+8 <= len(p) {
			x := binary.LittleEndian.Uint64(p[n:])
			del := x ^ 0x7f*ones
			if (x|(x-0x20*ones)&^x|(del-ones)&^del)&highs != 0 {
				break
			}
			n += 8
		}
		for end := min(n+8, len(p)); n < end; n++ {
			if c := p[n]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
				return n
			}
		}
	}
	return n
}

// Raw returns the underlying writer, for output that is not text, or that moves the cursor.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*Writer); ok {
		return p.to
	}
	return w
}

// Data returns the writer for machine-readable output, which is unchanged unless it goes to a
// terminal.
func Data(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return w
	}
	return Raw(w)
}

// IsTerminal reports whether output goes to a terminal: /dev/null, for example, is none.
func IsTerminal(w io.Writer) bool {
	f, ok := Raw(w).(*os.File)
	if !ok {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	terminal := false
	err = conn.Control(func(fd uintptr) {
		_, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		terminal = err == nil
	})
	return err == nil && terminal
}
