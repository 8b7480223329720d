package generate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// annotated reports whether the program names regions or attributes.
func annotated(procs []*process) bool {
	for _, p := range procs {
		for _, n := range p.list() {
			if n.proc.Annotates() {
				return true
			}
		}
	}
	return false
}

// wide is the expression of a number of two words: the upper half, and the lower one.
func (e *emitter) wide(q *signature.Param, word int) string {
	high, low := e.values(word), e.values(word+1)
	if alike(high) && alike(low) {
		h, known := high[0].constant()
		l, both := low[0].constant()
		if known && both {
			if text, ok := wideText(q, signature.JoinWide(h, l)); ok {
				return text
			}
		}
		if known && h == 0 && q.Kind == signature.Int64 {
			return e.half(q.Name, low)
		}
	}
	e.needs["wide"] = true
	text := fmt.Sprintf("whole(%s, %s)", e.half(q.Name+"_high", high), e.half(q.Name+"_low", low))
	if q.Kind == signature.Double {
		e.needs["double"] = true
		text = "with_bits(" + text + ")"
	}
	return text
}

func (e *emitter) half(name string, list []*value) string {
	return e.scalar(name, "long long", list, func(w uint64) string { return strconv.FormatInt(int64(w), 10) })
}

// wideText is a number in C; C has none that are infinite or not numbers.
func wideText(q *signature.Param, bits uint64) (text string, ok bool) {
	if q.Kind == signature.Int64 {
		if int64(bits) == math.MinInt64 { // -9223372036854775808 is no number in C
			return "INT64_MIN", true
		}
		text = strconv.FormatInt(int64(bits), 10)
		if int64(bits) > math.MaxInt32 || int64(bits) < math.MinInt32 {
			text += "LL"
		}
		return text, true
	}
	v := math.Float64frombits(bits)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", false
	}
	text = strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text, true
}
