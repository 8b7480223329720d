package regions

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/signature"
)

// names are the texts of the strings of a process.
type names struct{ byWord map[uint64]string }

func namesOf(p *efg.Process) *names {
	n := &names{map[uint64]string{}}
	for i := range p.Defs {
		if d := &p.Defs[i]; d.Kind == efg.DefString {
			n.byWord[d.Word] = string(d.Data)
		}
	}
	return n
}

// text is a name, in a form that is safe for a terminal.
func (n *names) text(word uint64) string {
	if word == signature.Absent {
		return ""
	}
	text, ok := n.byWord[word]
	if !ok {
		return "?"
	}
	return printable.Line(text)
}
