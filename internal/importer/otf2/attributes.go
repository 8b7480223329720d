package otf2

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/internal/export/otf2/names"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// member is what an attribute of efg's own archives says of a call.
type member struct {
	name   string
	result bool
	about  aboutCall
}

type aboutCall uint8

const (
	anArgument aboutCall = iota
	itsNumber
	itsPlace
	itsFunction
	itsLanguage
	itsCount  // large
	itsName   // begins with P
	itsUnused // buffers
	itsEnd    // it had not returned
	itsTime   // duration
	itsPath
)

// aboutCalls are the attributes that are not arguments or results.
var aboutCalls = map[string]aboutCall{
	names.Number: itsNumber, names.Place: itsPlace, names.Function: itsFunction, names.Language: itsLanguage,
	names.Large: itsCount, names.ByPMPI: itsName, names.Unused: itsUnused, names.Duration: itsTime, names.Unfinished: itsEnd,
	names.CallPath: itsPath,
}

// findMembers says what attributes mean.
func (r *reader) findMembers() {
	r.members = map[uint64]member{}
	for id, a := range r.archive.Definitions.Attributes {
		if about, ok := aboutCalls[a.Name]; ok {
			r.members[id] = member{about: about}
			continue
		}
		name, result := strings.CutPrefix(a.Name, names.ResultPrefix)
		r.members[id] = member{name: name, result: result}
	}
}

// maxDuration bounds what an attribute says of a duration.
const maxDuration = 1 << 60

// unfinished reports whether attributes say that a call had not returned, or that the program does not
// end a region.
func (r *reader) unfinished(list []Value) bool {
	if !r.own {
		return false
	}
	for _, v := range list {
		if r.members[v.Attribute].about == itsEnd {
			return v.Number != 0
		}
	}
	return false
}

// placeOf is where a call is, and in which function; "" if that is unknown.
func (r *reader) placeOf(c *call) (place, function string) {
	if !r.own {
		return "", ""
	}
	for _, v := range c.in {
		switch r.members[v.Attribute].about {
		case itsPlace:
			if v.Type == TypeSourceLine {
				place = r.sourceLine(v.Number)
			}
		case itsFunction:
			function = r.text(v)
		}
	}
	return place, function
}

// sourceLine is the text of a source line, "" if it is not defined.
func (r *reader) sourceLine(id uint64) string {
	s, ok := r.archive.Definitions.SourceLines[id]
	if ok && s.Line > 0 {
		return s.File + ":" + strconv.FormatUint(s.Line, 10)
	}
	return s.File
}

// text is the text of an attribute, "" if it has none.
func (r *reader) text(v Value) string {
	if v.Type != TypeString {
		return ""
	}
	return r.archive.Definitions.Strings[v.Number]
}

// addDescribed adds a call by its attributes, or a region by its name.
func (p *process) addDescribed(c *call) error {
	d := importer.Described{Op: c.proc.Name, Depth: c.depth, Start: c.start, End: c.end, Timed: true}
	p.members[0], p.members[1] = p.members[0][:0], p.members[1][:0]
	d.Place, d.Function = p.reader.placeOf(c)
	d.Site = p.pathSite(c)
	if !p.reader.exact {
		p.members[0] = append(p.members[0], importer.Member{Name: "name", Value: importer.Value{Kind: importer.Text, Text: c.name}})
	} else {
		for _, list := range [][]Value{c.in, c.out} {
			for _, v := range list {
				if err := p.describe(&d, c.proc, v); err != nil {
					return err
				}
			}
		}
	}
	d.Args = &importer.Value{Kind: importer.Object, Members: p.members[0]}
	d.Out = &importer.Value{Kind: importer.Object, Members: p.members[1]}
	if c.open {
		return c.thread.out.EnterDescribed(&d, p.since(c))
	}
	return c.thread.out.AddDescribed(&d)
}

// describe adds an attribute to the description of a call.
func (p *process) describe(d *importer.Described, proc *signature.Proc, v Value) error {
	m, ok := p.reader.members[v.Attribute]
	if !ok {
		return fmt.Errorf("attribute %d is not defined", v.Attribute)
	}
	switch m.about {
	case anArgument:
		value, err := p.reader.value(proc, m.name, v)
		if err != nil {
			return fmt.Errorf("%.60q of %s: %w", m.name, proc.Name, err)
		}
		k := 0
		if m.result {
			k = 1
		}
		p.members[k] = append(p.members[k], importer.Member{Name: m.name, Value: value})
	case itsLanguage:
		if d.Lang, ok = importer.Languages[p.reader.text(v)]; !ok {
			return fmt.Errorf("language %.40q", p.reader.text(v))
		}
	case itsCount:
		d.Large = v.Number != 0
	case itsName:
		d.ByPMPI = v.Number != 0
	case itsUnused:
		for _, text := range strings.Fields(p.reader.text(v)) {
			buffer, constant, _ := strings.Cut(text, "=")
			p.members[0] = append(p.members[0], importer.Member{Name: buffer, Value: importer.Value{Kind: importer.Text, Text: constant}})
		}
	case itsTime:
		d.End += min(v.Number, maxDuration)
	case itsNumber, itsPlace, itsFunction, itsEnd, itsPath:
	}
	return nil
}

// value is the value of an argument or result: numbers are numbers, arrays and objects the text that
// JSON Lines have for them.
func (r *reader) value(proc *signature.Proc, name string, v Value) (importer.Value, error) {
	if v.Type != TypeString {
		return importer.Value{Kind: importer.Number, Number: int64(v.Number)}, nil
	}
	text := r.text(v)
	if i := proc.Param(name); i >= 0 && proc.Params[i].Kind == signature.Str {
		return importer.Value{Kind: importer.Text, Text: text}, nil
	}
	if text == "null" || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		return importer.ParseValue([]byte(text))
	}
	return importer.Value{Kind: importer.Text, Text: text}, nil
}
