package query

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/efg-tools/efg/internal/analysis/regions"
)

// attributeName is the word before the name of an attribute.
const attributeName = "ATTRIBUTE"

// attributeUse is what all fields of attributes have in common.
var attributeUse = field{text: true, group: true, event: true, word: func(*item) string { return "" }}

// attributeField reads (name): the value that an attribute has at an operation. Which one that is follows
// from the order of events.
func (p *parser) attributeField() (*field, error) {
	if !p.is("(") {
		return nil, p.errorAt(p.tok.at, "want ( and the name of an attribute, not %v", p.tok)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	t := p.tok
	if t.kind != wordToken && t.kind != textToken {
		return nil, p.errorAt(t.at, "want the name of an attribute, not %v", t)
	}
	f := new(field)
	*f = attributeUse
	f.name, f.attribute = attributeName+"("+t.text+")", t.text
	f.word = func(i *item) string { return f.attributeOf(i).String() }
	err := p.advance()
	if err == nil {
		err = p.expect(")")
	}
	return f, err
}

func (f *field) attributeOf(i *item) regions.Value { return i.attributes.Attribute(f.attribute) }

// compareAttribute reads what follows the name of an attribute: a comparison with a number or a text.
func (p *parser) compareAttribute(f *field) (condition, error) {
	no, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	var test func(regions.Value) bool
	at := p.tok.at
	switch {
	case p.is("IN"):
		test, err = p.attributeIn()
	case p.is("BETWEEN"):
		test, err = p.attributeWithin()
	case no:
		return nil, p.errorAt(at, "want IN or BETWEEN, not %v", p.tok)
	case p.is("~", "!~"):
		c, err := p.search(f)
		return func(i *item) bool { return f.attributeOf(i).Kind != regions.NoValue && c(i) }, err
	default:
		test, err = p.attributeOrder()
	}
	return func(i *item) bool {
		v := f.attributeOf(i)
		return v.Kind != regions.NoValue && test(v) != no
	}, err
}

// attributeOrder reads <, <=, =, !=, >= or >, and a value.
func (p *parser) attributeOrder() (func(regions.Value) bool, error) {
	t := p.tok
	how := comparisons[t.text]
	if how == nil || t.kind != signToken {
		return nil, p.errorAt(t.at, "want a comparison (<, <=, =, !=, >=, >, ~, !~, BETWEEN, IN), not %v", t)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	at := p.tok.at
	v, err := p.attributeValue()
	ordered := t.text != "=" && t.text != "!=" && t.text != "<>"
	if err == nil && v.Kind == regions.TextValue && ordered {
		return nil, p.errorAt(at, "want a number after %s, not a text", t.text)
	}
	if v.Kind == regions.TextValue {
		return func(x regions.Value) bool { return matchText(v.Text, x.String()) == (t.text == "=") }, err
	}
	return func(x regions.Value) bool {
		order, ok := compareNumbers(x, v)
		if !ok {
			return t.text == "!=" || t.text == "<>"
		}
		return how(int64(order), 0)
	}, err
}

// attributeIn reads IN (a, b, …).
func (p *parser) attributeIn() (func(regions.Value) bool, error) {
	err := p.advance()
	if err == nil {
		err = p.expect("(")
	}
	var list []regions.Value
	for err == nil {
		var v regions.Value
		if v, err = p.attributeValue(); err != nil {
			break
		}
		list = append(list, v)
		if !p.is(",") {
			err = p.expect(")")
			break
		}
		err = p.advance()
	}
	return func(x regions.Value) bool {
		return slices.ContainsFunc(list, func(v regions.Value) bool { return equalValues(x, v) })
	}, err
}

// attributeWithin reads BETWEEN a AND b.
func (p *parser) attributeWithin() (func(regions.Value) bool, error) {
	var v [2]regions.Value
	for k, word := range []string{"BETWEEN", "AND"} {
		err := p.expect(word)
		at := p.tok.at
		if err == nil {
			v[k], err = p.attributeValue()
		}
		if err == nil && v[k].Kind == regions.TextValue {
			err = p.errorAt(at, "want a number after %s, not a text", word)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(x regions.Value) bool {
		low, ok := compareNumbers(x, v[0])
		high, _ := compareNumbers(x, v[1])
		return ok && low >= 0 && high <= 0
	}, nil
}

// attributeValue reads a number, with a sign and an exponent if it has them, or a text.
func (p *parser) attributeValue() (v regions.Value, err error) {
	t := p.tok
	if t.kind == wordToken || t.kind == textToken {
		return regions.Value{Kind: regions.TextValue, Text: t.text}, p.advance()
	}
	text := ""
	if minus, err := p.accept("-"); err != nil {
		return v, err
	} else if minus {
		text = "-"
	}
	if p.tok.kind != numberToken {
		return v, p.errorAt(p.tok.at, "want a number or a text, not %v", p.tok)
	}
	text += p.tok.text
	mantissa := text[len(text)-1]|0x20 == 'e'
	if err := p.advance(); err != nil {
		return v, err
	}
	if mantissa && p.tok.kind == signToken && p.tok.text == "-" {
		text += "-"
		if err := p.advance(); err != nil {
			return v, err
		}
		text += p.tok.text
		if err := p.advance(); err != nil {
			return v, err
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return regions.Value{Kind: regions.IntValue, Int: n}, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return v, p.errorAt(t.at, "%s is no number", text)
	}
	return regions.Value{Kind: regions.DoubleValue, Double: x}, nil
}

// compareNumbers compares two numbers; false if one of them is none.
func compareNumbers(a, b regions.Value) (order int, ok bool) {
	if a.Kind == regions.IntValue && b.Kind == regions.IntValue {
		return cmp.Compare(a.Int, b.Int), true
	}
	x, y := double(a), double(b)
	return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
}

// double is the value of a number; NaN of anything else.
func double(v regions.Value) float64 {
	switch v.Kind {
	case regions.IntValue:
		return float64(v.Int)
	case regions.DoubleValue:
		return v.Double
	}
	return math.NaN()
}

// equalValues reports whether a value is what a query names: a text may have *.
func equalValues(v, named regions.Value) bool {
	if named.Kind == regions.TextValue {
		return matchText(named.Text, v.String())
	}
	order, ok := compareNumbers(v, named)
	return ok && order == 0
}
