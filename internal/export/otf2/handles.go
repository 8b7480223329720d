package otf2

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// handleKinds are the kinds of handles that definitions stand for.
var handleKinds = map[efg.DefKind]signature.Kind{
	efg.DefComm: signature.Comm, efg.DefWin: signature.Win, efg.DefFile: signature.File,
	efg.DefType: signature.Type, efg.DefGroup: signature.Group, efg.DefOp: signature.Op,
}

// addHandles notes all digits of the handles of a process.
func (d *definitions) addHandles(p *efg.Process, names *reconstruct.Names) {
	for i := range p.Defs {
		kind, ok := handleKinds[p.Defs[i].Kind]
		if !ok {
			continue
		}
		word := p.Defs[i].Word
		name, _, _ := strings.Cut(names.Handle(kind, word), ".")
		if kind.Object() {
			d.digits[name] = fmt.Sprintf("%010x", word>>signature.SequenceBits)
		} else {
			d.digits[name] = fmt.Sprintf("%016x", word)
		}
	}
}

// handles lists the handles with all their digits.
func (d *definitions) handles() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(d.digits)) {
		list = append(list, name+"="+d.digits[name])
	}
	return strings.Join(list, " ")
}
