package query

import (
	"errors"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// condition is evaluated for an operation.
type condition func(*item) bool

// maxDepth bounds the nesting of parentheses and NOTs.
const maxDepth = 100

func (p *parser) whereClause() (err error) {
	if err = p.advance(); err == nil {
		p.q.where, err = p.or()
	}
	return err
}

func (p *parser) or() (condition, error) {
	c, err := p.and()
	for err == nil && p.is("OR") {
		var d condition
		if err = p.advance(); err == nil {
			d, err = p.and()
		}
		a := c
		c = func(i *item) bool { return a(i) || d(i) }
	}
	return c, err
}

func (p *parser) and() (condition, error) {
	c, err := p.not()
	for err == nil && p.is("AND") {
		var d condition
		if err = p.advance(); err == nil {
			d, err = p.not()
		}
		a := c
		c = func(i *item) bool { return a(i) && d(i) }
	}
	return c, err
}

func (p *parser) not() (condition, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.errorAt(p.tok.at, "more than %d nested brackets and NOTs", maxDepth)
	}
	defer func() { p.depth-- }()
	if no, err := p.accept("NOT"); err != nil {
		return nil, err
	} else if no {
		c, err := p.not()
		return func(i *item) bool { return !c(i) }, err
	}
	if open, err := p.accept("("); err != nil {
		return nil, err
	} else if open {
		c, err := p.or()
		if err == nil {
			err = p.expect(")")
		}
		return c, err
	}
	return p.comparison()
}

// comparison reads FIELD op value, FIELD ~ 'pattern', FIELD [NOT] BETWEEN a AND b, FIELD [NOT] IN (…).
func (p *parser) comparison() (condition, error) {
	at := p.tok.at
	f, err := p.fieldName("to compare", func(f *field) bool { return f.number != nil || f.word != nil })
	if err != nil {
		return nil, err
	}
	p.q.fields = append(p.q.fields, fieldUse{f, at})
	if f.attribute != "" {
		return p.compareAttribute(f)
	}
	no, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	var c condition
	switch {
	case p.is("IN"):
		c, err = p.in(f)
	case p.is("BETWEEN") && !f.text:
		c, err = p.within(f)
	case !no:
		return p.compare(f)
	default:
		return nil, p.errorAt(p.tok.at, "want IN or BETWEEN, not %v", p.tok)
	}
	if no {
		return func(i *item) bool { return !c(i) }, err
	}
	return c, err
}

var comparisons = map[string]func(a, b int64) bool{
	"<":  func(a, b int64) bool { return a < b },
	"<=": func(a, b int64) bool { return a <= b },
	"=":  func(a, b int64) bool { return a == b },
	"!=": func(a, b int64) bool { return a != b },
	"<>": func(a, b int64) bool { return a != b },
	">=": func(a, b int64) bool { return a >= b },
	">":  func(a, b int64) bool { return a > b },
}

func (p *parser) compare(f *field) (condition, error) {
	t := p.tok
	how := comparisons[t.text]
	if f.text && t.kind == signToken && (t.text == "~" || t.text == "!~") {
		return p.search(f)
	}
	switch {
	case how == nil || t.kind != signToken:
		return nil, p.errorAt(t.at, "want a comparison (<, <=, =, !=, >=, >, ~, !~, BETWEEN, IN), not %v", t)
	case f.text && t.text != "=" && t.text != "!=" && t.text != "<>":
		return nil, p.errorAt(t.at, "%s is a text: want =, !=, ~, !~ or IN", f.name)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	v, err := p.value(f)
	if f.text {
		same := func(text string) bool { return matchText(v.text, text) }
		return func(i *item) bool { return f.holds(i, same) == (t.text == "=") }, err
	}
	return func(i *item) bool {
		n, ok := f.number(i)
		return ok && how(n, v.number)
	}, err
}

// search reads FIELD ~ 'regular expression', or !~.
func (p *parser) search(f *field) (condition, error) {
	wanted := p.tok.text == "~"
	if err := p.advance(); err != nil {
		return nil, err
	}
	at := p.tok.at
	v, err := p.value(f)
	if err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile("(?i)" + v.text)
	if err != nil {
		var wrong *syntax.Error
		if errors.As(err, &wrong) {
			return nil, p.errorAt(at, "the regular expression is wrong: %s: %q", wrong.Code, wrong.Expr)
		}
		return nil, p.errorAt(at, "%v", err)
	}
	return func(i *item) bool { return f.holds(i, pattern.MatchString) == wanted }, nil
}

// matchText compares case-insensitively; * matches any text.
func matchText(pattern, text string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.EqualFold(pattern, text)
	}
	// Only * is special, and it matches slashes, too.
	plain := strings.NewReplacer(`\`, `\\`, "[", `\[`, "?", `\?`, "/", "\x00").Replace(strings.ToLower(pattern))
	ok, err := path.Match(plain, strings.ReplaceAll(strings.ToLower(text), "/", "\x00"))
	return err == nil && ok
}

// within reads BETWEEN a AND b.
func (p *parser) within(f *field) (condition, error) {
	var v [2]value
	for k, word := range []string{"BETWEEN", "AND"} {
		err := p.expect(word)
		if err == nil {
			v[k], err = p.value(f)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(i *item) bool {
		n, ok := f.number(i)
		return ok && n >= v[0].number && n <= v[1].number
	}, nil
}

// in reads IN (a, b, …).
func (p *parser) in(f *field) (condition, error) {
	err := p.advance()
	if err == nil {
		err = p.expect("(")
	}
	var list []value
	for err == nil {
		var v value
		if v, err = p.value(f); err != nil {
			break
		}
		list = append(list, v)
		if !p.is(",") {
			err = p.expect(")")
			break
		}
		err = p.advance()
	}
	if f.text {
		return func(i *item) bool {
			return f.holds(i, func(text string) bool {
				return slices.ContainsFunc(list, func(v value) bool { return matchText(v.text, text) })
			})
		}, err
	}
	return func(i *item) bool {
		n, ok := f.number(i)
		return ok && slices.ContainsFunc(list, func(v value) bool { return v.number == n })
	}, err
}
