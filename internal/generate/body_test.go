package generate

import (
	"fmt"
	"strings"
	"testing"
)

// textOf writes statements: "a 3(b c)".
func textOf(body []stmt) string {
	var parts []string
	for i := range body {
		if s := &body[i]; s.body != nil {
			parts = append(parts, fmt.Sprintf("%d(%s)", s.times, textOf(s.body)))
		} else {
			parts = append(parts, string(rune('a'+s.node)))
		}
	}
	return strings.Join(parts, " ")
}

func calls(s string) []stmt {
	var list []stmt
	for _, c := range s {
		list = append(list, stmt{node: int(c - 'a')})
	}
	return list
}

func TestTidy(t *testing.T) {
	abc := calls("abc")
	for _, c := range []struct {
		list []stmt
		want string
	}{
		{calls("aaab"), "3(a) b"},
		{calls("abcabcd"), "2(a b c) d"},
		{append(append(append([]stmt{{times: 2, body: abc}}, calls("a")...), stmt{times: 7, body: calls("bca")}), calls("bc")...), "10(a b c)"},
		{append(calls("abc"), stmt{times: 2, body: abc}), "3(a b c)"},
		{calls("aabaab"), "2(2(a) b)"},
	} {
		if got := textOf((&folder{}).tidy(c.list)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
