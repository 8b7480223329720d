package text

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// A word is written as a number, the name of a constant or const:K, an id as
// id:THREAD.NODE.SLOT, dN for the word of definition N, or dN+S for a
// communicator, window or file of that family with sequence number S.

const (
	identMask = 1<<62 - 1
	// noIdentity: identity words are greater.
	noIdentity = 1 << 20
)

// words writes and reads words of one process.
type words struct {
	defs   []efg.Def
	byWord map[uint64]int
}

func newWords() *words { return &words{byWord: map[uint64]int{}} }

// add adds the next definition.
func (w *words) add(d efg.Def) {
	if _, ok := w.byWord[d.Word]; !ok {
		w.byWord[d.Word] = len(w.defs)
	}
	w.defs = append(w.defs, d)
}

func (w *words) text(v uint64) string {
	switch {
	case signature.IsConst(v):
		return constantText(v &^ (1 << 63))
	case signature.IsID(v):
		id, _ := signature.ParseID(v)
		return fmt.Sprintf("id:%d.%d.%d", id.Thread, id.Node, id.Slot)
	case v > noIdentity && v <= identMask:
		if n, ok := w.byWord[v]; ok {
			return "d" + strconv.Itoa(n)
		}
		if n, ok := w.byWord[v&^signature.SequenceMask]; ok {
			return fmt.Sprintf("d%d+%d", n, v&signature.SequenceMask)
		}
	}
	return numberText(v)
}

func (w *words) parse(s string) (uint64, error) {
	switch {
	case s == "":
		return 0, errors.New("no value")
	case s[0] == 'd' && len(s) > 1 && isDigit(s[1]):
		n, seq, family := strings.Cut(s[1:], "+")
		d, err := strconv.ParseUint(n, 10, 32)
		if err != nil || d >= uint64(len(w.defs)) {
			return 0, fmt.Errorf("%s: there are %d definitions so far", s, len(w.defs))
		}
		v := w.defs[d].Word
		if !family {
			return v, nil
		}
		k, err := strconv.ParseUint(seq, 10, 24)
		if err != nil {
			return 0, fmt.Errorf("%s: want a sequence number below 2^24", s)
		}
		return v&^signature.SequenceMask | k, nil
	case strings.HasPrefix(s, "id:"):
		return parseID(s)
	case isNumber(s):
		return parseNumber(s)
	}
	k, err := parseConstant(s)
	return signature.ConstBit | k, err
}

func parseID(s string) (uint64, error) {
	var v [3]uint64
	parts := strings.Split(s[len("id:"):], ".")
	for i, width := range []int{signature.ThreadBits, signature.NodeBits, signature.SlotBits} {
		var err error
		if len(parts) == len(v) {
			v[i], err = strconv.ParseUint(parts[i], 10, width)
		}
		if len(parts) != len(v) || err != nil {
			return 0, fmt.Errorf("%s: want id:THREAD.NODE.SLOT", s)
		}
	}
	return signature.ID{Thread: uint32(v[0]), Node: uint32(v[1]), Slot: uint32(v[2])}.Word(), nil
}

func constantText(k uint64) string {
	if k < 1<<31 {
		if c := signature.ConstantByID(int(k)); c != nil {
			return c.Name
		}
	}
	return "const:" + strconv.FormatUint(k, 10)
}

func parseConstant(s string) (uint64, error) {
	if n, ok := strings.CutPrefix(s, "const:"); ok {
		k, err := strconv.ParseUint(n, 10, 62)
		if err != nil {
			return 0, fmt.Errorf("%s: want the number of a constant", s)
		}
		return k, nil
	}
	c := signature.ConstantByName(s)
	if c == nil {
		return 0, fmt.Errorf("%q is no number, constant, definition or id", s)
	}
	return uint64(c.ID), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNumber(s string) bool {
	return s != "" && (isDigit(s[0]) || len(s) > 1 && (s[0] == '-' || s[0] == '+') && isDigit(s[1]))
}

// numberText writes small numbers, also negative ones, in decimal, and others, which are likely
// to be hashes, in hexadecimal.
func numberText(v uint64) string {
	if n := int64(v); n > -1<<53 && n < 1<<53 {
		return strconv.FormatInt(n, 10)
	}
	return "0x" + strconv.FormatUint(v, 16)
}

func parseNumber(s string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 0, 64)
	if strings.HasPrefix(s, "-") {
		var n int64
		n, err = strconv.ParseInt(s, 0, 64)
		v = uint64(n)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is no number of 64 bits", s)
	}
	return v, nil
}
