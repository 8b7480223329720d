package jsonl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/efg-tools/efg/internal/importer"
)

// callPath is a call path: the calls on it, the outermost first, and how it begins before them, as in importer.PathSite.
type callPath struct {
	calls []importer.PathCall
	start string
}

// parsePath reads the path of a call. It ends with the call itself, which is at a place in a function, as far as its line says
// where.
func parsePath(v *importer.Value, place, function string) (*callPath, error) {
	p := &callPath{}
	list := v.List
	if len(list) > 1 && (list[0].Text == importer.PathUnknown || list[0].Text == importer.PathCut) {
		p.start, list = list[0].Text, list[1:]
	}
	if len(list) == 0 || len(list) > importer.MaxPath {
		return nil, fmt.Errorf("path: %d calls, want 1 to %d", len(list), importer.MaxPath)
	}
	for i := range list {
		c, err := pathCall(&list[i])
		if err != nil {
			return nil, err
		}
		p.calls = append(p.calls, c)
	}
	if place == "" {
		return p, nil
	}
	text := list[len(list)-1].Text
	name, named := strings.CutSuffix(text, " "+place) // a place may have spaces
	if !named && text == place {
		name, named = "", true
	}
	if !named || function != "" && function != name {
		return nil, fmt.Errorf("path: it ends with %.60q, but the call is at %.60q", text, strings.TrimSpace(function+" "+place))
	}
	p.calls[len(p.calls)-1] = importer.PathCall{Place: place, Function: name}
	return p, nil
}

// pathCall reads a call on a path: "function file.c:88" or "file.c:88".
func pathCall(v *importer.Value) (importer.PathCall, error) {
	if v.Kind != importer.Text {
		return importer.PathCall{}, errors.New("path: want strings")
	}
	at := strings.LastIndexByte(v.Text, ' ')
	c := importer.PathCall{Place: v.Text[at+1:], Function: v.Text[:max(at, 0)]}
	if c.Place == "" {
		return c, fmt.Errorf("path: %.60q names no place", v.Text)
	}
	return c, nil
}
