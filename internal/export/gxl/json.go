package gxl

import (
	"errors"
	"strconv"
)

// value is a value of an object in the form of docs/mtf.md.
type value struct {
	text   string // of a number, or of a string without escapes
	number bool
	list   []value
	object []member
}

type member struct {
	name  string
	value value
}

var errObject = errors.New("an operation that is not an object")

// parseObject reads an object that package reconstruct wrote. It begins with its
// class.
func parseObject(line []byte) ([]member, error) {
	s := &objectScanner{b: line}
	v := s.value()
	if s.bad || len(s.b) > 0 || len(v.object) == 0 || v.object[0].name != "Class" || classOf(v.object[0].value.text) == nil {
		return nil, errObject
	}
	return v.object, nil
}

// objectScanner reads JSON without white space.
type objectScanner struct {
	b   []byte
	bad bool
}

func (s *objectScanner) take(c byte) bool {
	if len(s.b) > 0 && s.b[0] == c {
		s.b = s.b[1:]
		return true
	}
	return false
}

func (s *objectScanner) value() value {
	switch {
	case s.take('{'):
		return value{object: s.members()}
	case s.take('['):
		return value{list: s.list()}
	case len(s.b) > 0 && s.b[0] == '"':
		return value{text: s.string()}
	}
	n := 0
	for n < len(s.b) && s.b[n] != ',' && s.b[n] != '}' && s.b[n] != ']' {
		n++
	}
	v := value{text: string(s.b[:n]), number: n > 0 && (s.b[0] == '-' || s.b[0] >= '0' && s.b[0] <= '9')}
	s.bad = s.bad || n == 0
	s.b = s.b[n:]
	return v
}

func (s *objectScanner) members() []member {
	var list []member
	for !s.bad && !s.take('}') {
		if list != nil && !s.take(',') {
			s.bad = true
		}
		name := s.string()
		s.bad = s.bad || !s.take(':')
		list = append(list, member{name, s.value()})
	}
	return list
}

func (s *objectScanner) list() []value {
	list := []value{}
	for !s.bad && !s.take(']') {
		if len(list) > 0 && !s.take(',') {
			s.bad = true
		}
		list = append(list, s.value())
	}
	return list
}

func (s *objectScanner) string() string {
	end, escaped := 1, false
	for end < len(s.b) && s.b[end] != '"' {
		if s.b[end] == '\\' {
			escaped = true
			end++
		}
		end++
	}
	if end >= len(s.b) || s.b[0] != '"' {
		s.bad = true
		return ""
	}
	text := string(s.b[1:end])
	if escaped {
		q, err := strconv.Unquote(string(s.b[:end+1]))
		s.bad = s.bad || err != nil
		text = q
	}
	s.b = s.b[end+1:]
	return text
}
