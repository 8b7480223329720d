package signature

import (
	"fmt"
	"strings"
)

// parseParam reads name:KIND[/TYPES]DIR[[LENGTH]][@COND ...][!c].
func parseParam(s string) (Param, error) {
	var q Param
	s, q.COnly = strings.CutSuffix(s, "!c")
	head, conds, _ := strings.Cut(s, "@")
	if err := q.parseConds(conds); err != nil {
		return q, err
	}
	if l, r, ok := strings.Cut(head, "["); ok {
		r, ok = strings.CutSuffix(r, "]")
		if !ok {
			return q, fmt.Errorf("missing ]")
		}
		e, err := parseExpr(r)
		if err != nil {
			return q, err
		}
		head, q.Len = l, e
	}
	if head == "" {
		return q, fmt.Errorf("no name")
	}
	switch head[len(head)-1] {
	case '<':
		q.Dir = In
	case '>':
		q.Dir = Out
	case '=':
		q.Dir = InOut
	default:
		return q, fmt.Errorf("no direction")
	}
	name, kind, ok := strings.Cut(head[:len(head)-1], ":")
	if !ok || !validName(name) {
		return q, fmt.Errorf("want name:kind")
	}
	q.Name = name
	return q, q.parseKind(kind)
}

func (q *Param) parseConds(s string) error {
	if s == "" {
		return nil
	}
	for _, c := range strings.Split(s, "@") {
		name, arg, call := strings.Cut(c, "(")
		arg = strings.TrimSuffix(arg, ")")
		switch name {
		case "root", "leaf", "part", "leader":
			if call {
				return fmt.Errorf("condition %s takes no argument", name)
			}
		case "place":
			if arg == "" {
				return fmt.Errorf("condition place needs a buffer")
			}
		default:
			return fmt.Errorf("unknown condition %q", c)
		}
		q.Conds = append(q.Conds, Cond{name, arg})
	}
	return nil
}

func (q *Param) parseKind(s string) error {
	s, types, typed := strings.Cut(s, "/")
	name, set, _ := strings.Cut(s, ":")
	k, ok := kindByName(name)
	if !ok {
		return fmt.Errorf("unknown kind %q", name)
	}
	q.Kind, q.Set = k, set
	if (k == Enum || k == Bits) != (set != "") {
		return fmt.Errorf("kind %s and set %q do not go together", name, set)
	}
	if !k.Integer() {
		if typed {
			return fmt.Errorf("kind %s has no types", name)
		}
		return nil
	}
	q.Small, q.Large = Int, Int
	if !typed {
		return nil
	}
	if len(types) == 1 {
		types += types
	}
	if len(types) != 2 || strings.Trim(types, "-iaoc") != "" || types[1] == '-' {
		return fmt.Errorf("types %q", types)
	}
	q.Small, q.Large = CType(types[0]), CType(types[1])
	if q.Small == '-' {
		q.Small = NoType
	}
	return nil
}
