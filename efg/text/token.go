package text

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// Tokens (efg/runfile/FORMAT.md, "Tokens") are written like words, but with only the numbers of
// definitions and nodes: dN, dN+S, own:BACK.SLOT for an id that this thread made BACK nodes
// before, rank:D for a rank at a distance of D.

// tokenText returns the text of a token; one that no writer makes is token:NUMBER.
func tokenText(t uint64) string {
	s := ""
	switch v := t >> 3; t & 7 {
	case token.Number:
		s = strconv.FormatInt(block.Unzigzag(v), 10)
	case token.Const:
		s = constantText(v)
	case token.Def:
		s = "d" + strconv.FormatUint(v, 10)
	case token.Family:
		d, seq := token.Unpair(v)
		s = fmt.Sprintf("d%d+%d", d, seq)
	case token.Own:
		back, slot := token.Unpair(v)
		s = fmt.Sprintf("own:%d.%d", block.Unzigzag(back), slot)
	case token.Relative:
		s = fmt.Sprintf("rank:%+d", block.Unzigzag(v))
	case token.ID:
		id := token.UnpackID(v)
		s = fmt.Sprintf("id:%d.%d.%d", id.Thread, id.Node, id.Slot)
	}
	if again, err := parseToken(s); err != nil || again != t {
		s = fmt.Sprintf("token:%d", t)
	}
	return s
}

func parseToken(s string) (uint64, error) {
	bad := fmt.Errorf("%q is no token", s)
	kind, rest, named := strings.Cut(s, ":")
	switch {
	case kind == "token" && named:
		t, err := strconv.ParseUint(rest, 10, 64)
		if err != nil {
			return 0, bad
		}
		return t, nil
	case kind == "own" && named:
		b, slot, _ := strings.Cut(rest, ".")
		back, err1 := strconv.ParseInt(b, 10, 32)
		k, err2 := strconv.ParseUint(slot, 10, 24)
		if err1 != nil || err2 != nil {
			return 0, bad
		}
		return token.Of(token.Own, token.Pair(block.Zigzag(back), k)), nil
	case kind == "rank" && named:
		d, err := strconv.ParseInt(rest, 10, 33)
		if err != nil {
			return 0, bad
		}
		return token.Of(token.Relative, block.Zigzag(d)), nil
	case kind == "id" && named:
		w, err := parseID(s)
		made, _ := signature.ParseID(w)
		v, fits := token.PackID(made)
		if err != nil || !fits {
			return 0, bad
		}
		return token.Of(token.ID, v), nil
	case s != "" && s[0] == 'd' && len(s) > 1 && isDigit(s[1]):
		return parseDefToken(s[1:], bad)
	case isNumber(s):
		n, err := strconv.ParseInt(s, 10, 60)
		if err != nil {
			return 0, bad
		}
		return token.Of(token.Number, block.Zigzag(n)), nil
	}
	k, err := parseConstant(s)
	if err == nil && k >= 1<<40 {
		err = bad
	}
	return token.Of(token.Const, k), err
}

func parseDefToken(s string, bad error) (uint64, error) {
	n, seq, family := strings.Cut(s, "+")
	d, err := strconv.ParseUint(n, 10, 32)
	if err != nil {
		return 0, bad
	}
	if !family {
		return token.Of(token.Def, d), nil
	}
	k, err := strconv.ParseUint(seq, 10, 24)
	if err != nil {
		return 0, bad
	}
	return token.Of(token.Family, token.Pair(d, k)), nil
}
