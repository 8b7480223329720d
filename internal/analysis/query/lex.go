package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is an error in a query. Its text shows the position.
type Error struct {
	Query string
	At    int // byte offset
	Text  string
}

// Error has three lines: what is wrong, the query's line, and a caret.
func (e *Error) Error() string {
	start := strings.LastIndexByte(e.Query[:e.At], '\n') + 1
	line, _, _ := strings.Cut(e.Query[start:], "\n")
	var space strings.Builder
	for _, r := range e.Query[start:e.At] {
		if r == '\t' {
			space.WriteRune(r)
		} else {
			space.WriteByte(' ')
		}
	}
	return fmt.Sprintf("%s\n  %s\n  %s^", e.Text, line, space.String())
}

type tokenKind uint8

const (
	endToken    tokenKind = iota
	wordToken             // letters, digits, _
	numberToken           // with its unit: 4KiB
	textToken             // in quotes
	signToken
)

type token struct {
	kind tokenKind
	at   int
	text string // of a text: without its quotes
}

func (t token) String() string {
	if t.kind == endToken {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// lexer splits a query into tokens.
type lexer struct {
	text string
	at   int
}

func (l *lexer) errorAt(at int, format string, args ...any) *Error {
	return &Error{l.text, at, fmt.Sprintf(format, args...)}
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }

func (l *lexer) span(from int, in func(byte) bool) int {
	for from < len(l.text) && in(l.text[from]) {
		from++
	}
	return from
}

func (l *lexer) skipSpace() { l.at = l.span(l.at, isSpace) }

func (l *lexer) next() (token, error) {
	l.skipSpace()
	at := l.at
	if at == len(l.text) {
		return token{endToken, at, ""}, nil
	}
	c := l.text[at]
	switch {
	case isLetter(c):
		l.at = l.span(at, isWord)
		return token{wordToken, at, l.text[at:l.at]}, nil
	case isDigit(c):
		l.at = l.span(at, func(c byte) bool { return isWord(c) || c == '.' || c >= utf8.RuneSelf })
		return token{numberToken, at, l.text[at:l.at]}, nil
	case c == '\'' || c == '"':
		n := strings.IndexByte(l.text[at+1:], c)
		if n < 0 {
			return token{}, l.errorAt(at, "the quote is not closed")
		}
		l.at = at + n + 2
		return token{textToken, at, l.text[at+1 : at+1+n]}, nil
	}
	for _, sign := range []string{"<=", ">=", "<>", "!=", "!~", "~", "<", ">", "=", "(", ")", ",", "-", "*"} {
		if strings.HasPrefix(l.text[at:], sign) {
			l.at += len(sign)
			return token{signToken, at, sign}, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.text[at:])
	return token{}, l.errorAt(at, "%q has no meaning here", r)
}

// name reads up to a comma or the closing parenthesis, as in COMM(…).
func (l *lexer) name() token {
	l.skipSpace()
	end := l.span(l.at, func(c byte) bool { return c != ',' && c != ')' })
	t := token{textToken, l.at, strings.Trim(strings.TrimSpace(l.text[l.at:end]), `'"`)}
	l.at = end
	return t
}
