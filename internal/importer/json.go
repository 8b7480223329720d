package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Value is a value of JSON.
type Value struct {
	Kind    ValueKind
	Number  int64 // of a Decimal its bits
	Text    string
	List    []Value
	Members []Member
}

// ValueKind is what a Value is.
type ValueKind byte

const (
	Null ValueKind = iota
	Number
	Decimal // a number that is no integer of 64 bits
	Text
	List
	Object
)

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// Member returns a member of an object, nil if it has none with that name.
func (v *Value) Member(name string) *Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// maxDepth bounds how deep arrays and objects may be nested.
const maxDepth = 8

// ParseValue reads a value of JSON; false is 0 and true 1.
func ParseValue(b []byte) (Value, error) {
	s := jsonScanner{b: b}
	v, err := s.value(0)
	if err == nil {
		if s.space(); s.at < len(s.b) {
			err = errors.New("text after the value")
		}
	}
	if err != nil {
		return Value{}, fmt.Errorf("column %d: %w", s.at+1, err)
	}
	return v, nil
}

type jsonScanner struct {
	b  []byte
	at int
}

func (s *jsonScanner) space() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\t' || s.b[s.at] == '\r' || s.b[s.at] == '\n') {
		s.at++
	}
}

// next returns the next character that is no space, 0 at the end.
func (s *jsonScanner) next() byte {
	if s.space(); s.at == len(s.b) {
		return 0
	}
	return s.b[s.at]
}

func (s *jsonScanner) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	switch c := s.next(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.list(depth)
	case c == '"':
		text, err := s.text()
		return Value{Kind: Text, Text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for word, v := range map[string]Value{"null": {}, "false": {Kind: Number}, "true": {Kind: Number, Number: 1}} {
		if bytes.HasPrefix(s.b[s.at:], []byte(word)) {
			s.at += len(word)
			return v, nil
		}
	}
	return Value{}, errors.New("want a value of JSON")
}

func (s *jsonScanner) number() (Value, error) {
	start := s.at
	for s.at < len(s.b) && bytes.IndexByte([]byte("+-.eE0123456789"), s.b[s.at]) >= 0 {
		s.at++
	}
	text := string(s.b[start:s.at])
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Value{Kind: Number, Number: n}, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.at = start
		return Value{}, fmt.Errorf("%.30s is not a number of 64 bits", text)
	}
	return Value{Kind: Decimal, Number: int64(math.Float64bits(f))}, nil
}

func (s *jsonScanner) text() (string, error) {
	plain := true
	for i := s.at + 1; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			raw := s.b[s.at : i+1]
			if plain {
				s.at = i + 1
				return string(raw[1 : len(raw)-1]), nil
			}
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return "", errors.New("a string that is none of JSON")
			}
			s.at = i + 1
			return text, nil
		case c == '\\':
			plain = false
			i++
		case c < 0x20:
			return "", errors.New("a string that is none of JSON")
		}
	}
	return "", errors.New("a string without end")
}

func (s *jsonScanner) list(depth int) (Value, error) {
	v := Value{Kind: List, List: []Value{}}
	s.at++
	if s.next() == ']' {
		s.at++
		return v, nil
	}
	for {
		e, err := s.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.List = append(v.List, e)
		switch s.next() {
		case ',':
			s.at++
		case ']':
			s.at++
			return v, nil
		default:
			return v, errors.New("want , or ]")
		}
	}
}

func (s *jsonScanner) object(depth int) (Value, error) {
	v := Value{Kind: Object}
	s.at++
	if s.next() == '}' {
		s.at++
		return v, nil
	}
	for {
		if s.next() != '"' {
			return v, errors.New("want the name of a member")
		}
		name, err := s.text()
		if err != nil {
			return v, err
		}
		if s.next() != ':' {
			return v, errors.New("want a colon after the name of a member")
		}
		s.at++
		e, err := s.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, Member{name, e})
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			return v, nil
		default:
			return v, errors.New("want , or }")
		}
	}
}
