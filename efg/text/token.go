package text

import (
	"fmt"
	"strconv"
	"strings"
)

// Tokens (efg/FORMAT.md, "Tokens") are written like words, but definitions and
// nodes by their numbers alone: dN, dN+S, own:BACK.SLOT for an id that this
// thread made BACK nodes before, rank:D for a rank at a distance of D.
const (
	tokenNumber = iota
	tokenConst
	tokenDef
	tokenFamily
	tokenOwn
	tokenRelative
	tokenID
)

func pair(a, b uint64) uint64 {
	if b < 64 {
		return (a<<6 | b) << 1
	}
	return (a<<24|b)<<1 | 1
}

func unpair(p uint64) (a, b uint64) {
	if p&1 == 0 {
		return p >> 7, p >> 1 & 63
	}
	return p >> 25, p >> 1 & seqMask
}

// tokenText writes a token; one that no writer makes as token:NUMBER.
func tokenText(t uint64) string {
	s := ""
	switch v := t >> 3; t & 7 {
	case tokenNumber:
		s = strconv.FormatInt(unzigzag(v), 10)
	case tokenConst:
		s = constantText(v)
	case tokenDef:
		s = "d" + strconv.FormatUint(v, 10)
	case tokenFamily:
		d, seq := unpair(v)
		s = fmt.Sprintf("d%d+%d", d, seq)
	case tokenOwn:
		back, slot := unpair(v)
		s = fmt.Sprintf("own:%d.%d", unzigzag(back), slot)
	case tokenRelative:
		s = fmt.Sprintf("rank:%+d", unzigzag(v))
	case tokenID:
		s = fmt.Sprintf("id:%d.%d.%d", v>>46, v>>20&(1<<26-1), v&(1<<20-1))
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
		return pair(zigzag(back), k)<<3 | tokenOwn, nil
	case kind == "rank" && named:
		d, err := strconv.ParseInt(rest, 10, 33)
		if err != nil {
			return 0, bad
		}
		return zigzag(d)<<3 | tokenRelative, nil
	case kind == "id" && named:
		w, err := parseID(s)
		thread, node, slot := w>>50&(1<<12-1), w>>24&(1<<26-1), w&seqMask
		if err != nil || slot >= 1<<20 {
			return 0, bad
		}
		return (thread<<46|node<<20|slot)<<3 | tokenID, nil
	case s != "" && s[0] == 'd' && len(s) > 1 && isDigit(s[1]):
		return parseDefToken(s[1:], bad)
	case isNumber(s):
		n, err := strconv.ParseInt(s, 10, 60)
		if err != nil {
			return 0, bad
		}
		return zigzag(n)<<3 | tokenNumber, nil
	}
	k, err := parseConstant(s)
	if err == nil && k >= 1<<40 {
		err = bad
	}
	return k<<3 | tokenConst, err
}

func parseDefToken(s string, bad error) (uint64, error) {
	n, seq, family := strings.Cut(s, "+")
	d, err := strconv.ParseUint(n, 10, 32)
	if err != nil {
		return 0, bad
	}
	if !family {
		return d<<3 | tokenDef, nil
	}
	k, err := strconv.ParseUint(seq, 10, 24)
	if err != nil {
		return 0, bad
	}
	return pair(d, k)<<3 | tokenFamily, nil
}
