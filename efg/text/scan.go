package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// scanner splits the lines of a text into fields: quoted strings, and words separated by
// blanks.
type scanner struct {
	file   string
	in     *bufio.Reader
	line   int
	fields []field
	next   int // field
	end    int // column after the last field
}

type field struct {
	text   string
	quoted bool
	column int
}

// scan moves to the next line that has fields; io.EOF after the last one.
func (s *scanner) scan() error {
	for {
		text, err := s.in.ReadString('\n')
		if err != nil && (err != io.EOF || text == "") {
			return err
		}
		s.line++
		if err := s.split(strings.TrimRight(text, "\r\n")); err != nil {
			return err
		}
		if len(s.fields) > 0 {
			return nil
		}
	}
}

func (s *scanner) split(line string) error {
	s.fields, s.next = s.fields[:0], 0
	at := 0
	for {
		for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
			at++
		}
		s.end = at + 1
		switch {
		case at == len(line) || line[at] == '#':
			return nil
		case line[at] == '"':
			q, err := strconv.QuotedPrefix(line[at:])
			if err != nil {
				return s.at(at+1, errors.New("a string without its second quotation mark"))
			}
			text, err := strconv.Unquote(q)
			if err != nil {
				return s.at(at+1, err)
			}
			s.fields = append(s.fields, field{text, true, at + 1})
			at += len(q)
		default:
			n := strings.IndexAny(line[at:], " \t")
			if n < 0 {
				n = len(line) - at
			}
			s.fields = append(s.fields, field{line[at : at+n], false, at + 1})
			at += n
		}
	}
}

// at is an error at a column of the line.
func (s *scanner) at(column int, cause error) error {
	return &Error{File: s.file, Line: s.line, Column: column, Cause: cause}
}

// errorf is an error at the last field that was read, or the one that is missing.
func (s *scanner) errorf(format string, args ...any) error {
	column := s.end
	if s.next > 0 && s.next <= len(s.fields) {
		column = s.fields[s.next-1].column
	}
	return s.at(column, fmt.Errorf(format, args...))
}

func (s *scanner) more() bool { return s.next < len(s.fields) }

// take returns the next field; what describes it for errors.
func (s *scanner) take(what string) (field, error) {
	if !s.more() {
		return field{}, s.at(s.end, fmt.Errorf("the line ends before %s", what))
	}
	s.next++
	return s.fields[s.next-1], nil
}

// word reads a field that is not quoted.
func (s *scanner) word(what string) (string, error) {
	f, err := s.take(what)
	if err == nil && f.quoted {
		err = s.errorf("a string in place of %s", what)
	}
	return f.text, err
}

// quotedString reads a string.
func (s *scanner) quotedString(what string) (string, error) {
	f, err := s.take(what)
	if err == nil && !f.quoted {
		err = s.errorf("want %s in quotation marks", what)
	}
	return f.text, err
}

func (s *scanner) strings(what string) ([]string, error) {
	var list []string
	for s.more() {
		text, err := s.quotedString(what)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// number reads a number of at most bits bits.
func (s *scanner) number(what string, bits int) (uint64, error) {
	text, err := s.word(what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(text, 0, bits)
	if err != nil {
		return 0, s.errorf("%q is no %s: want a number of %d bits", text, what, bits)
	}
	return v, nil
}

func (s *scanner) signed(what string, bits int) (int64, error) {
	text, err := s.word(what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, s.errorf("%q is no %s: want an integer of %d bits", text, what, bits)
	}
	return v, nil
}

// keyword reads a field that must be this one.
func (s *scanner) keyword(want string) error {
	text, err := s.word(want)
	if err == nil && text != want {
		err = s.errorf("%q in place of %s", text, want)
	}
	return err
}

// named reads a keyword and a number.
func (s *scanner) named(key string, bits int) (uint64, error) {
	if err := s.keyword(key); err != nil {
		return 0, err
	}
	return s.number(key, bits)
}

// option reads a keyword if it is the next field.
func (s *scanner) option(key string) bool {
	if s.more() && !s.fields[s.next].quoted && s.fields[s.next].text == key {
		s.next++
		return true
	}
	return false
}

// close fails if fields are left.
func (s *scanner) close() error {
	if s.more() {
		s.next++
		return s.errorf("%q after the end of the line's content", s.fields[s.next-1].text)
	}
	return nil
}
