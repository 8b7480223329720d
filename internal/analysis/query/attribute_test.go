package query_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/query"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// attributed is a run of two ranks. Each makes a call with no attribute, then in steps 9, 10 and 11 one call
// and, in a region of its own with a tolerance and a method, two; then one with an attribute of no region.
func attributed(t *testing.T) *runfile.Run {
	s := testrun.NewScript(t, 2)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		at := int64(0)
		call := func() {
			r.Call(at, at+10, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD", "line": 7})
			at += 10
		}
		says := func(op string, args testrun.Args) { r.Call(at, at, op, args) }
		call()
		for i := 9; i < 12; i++ {
			says("efg_region_begin", testrun.Args{"name": "step"})
			says("efg_attribute_int", testrun.Args{"name": "step", "value": int64(i)})
			call()
			says("efg_region_begin", testrun.Args{"name": "solve"})
			says("efg_attribute_double", testrun.Args{"name": "tolerance", "value": 0.5 / float64(i)})
			says("efg_attribute_string", testrun.Args{"name": "method", "value": []string{"CG", "GMRES"}[i%2]})
			call()
			says("efg_attribute_int", testrun.Args{"name": "step", "value": int64(-i)})
			call()
			says("efg_region_end", testrun.Args{"name": "solve"})
			says("efg_region_end", testrun.Args{"name": signature.Absent})
		}
		says("efg_attribute_int", testrun.Args{"name": "rank", "value": int64(rank)})
		call()
	})
	return s.Run()
}

// A value holds from the event that gives it to the end of the region in which it is given.
func TestAttributes(t *testing.T) {
	run := attributed(t)
	for condition, want := range map[string]int{
		"ATTRIBUTE(step) = 10":                             4,
		"ATTRIBUTE(step) >= 10":                            4 + 4,
		"ATTRIBUTE(step) > 9.5 AND ATTRIBUTE(step) < 1e1":  0,
		"ATTRIBUTE('step') BETWEEN -11 AND -10":            4,
		"ATTRIBUTE(step) NOT BETWEEN -11 AND -10":          2 * 7,
		"ATTRIBUTE(step) IN (9, 10.0, 'eleven')":           2 * (2 + 2),
		"ATTRIBUTE(step) NOT IN (9)":                       2 * 7,
		"ATTRIBUTE(step) != 9":                             2 * 7,
		"NOT ATTRIBUTE(step) = 9":                          2 * 9,
		"ATTRIBUTE(tolerance) > 0.05":                      2 * 2,
		"ATTRIBUTE(tolerance) < 5.1e-2 AND RANK = 1":       4,
		"ATTRIBUTE(tolerance) = 0.05":                      2 * 2,
		"ATTRIBUTE(method) = gmres":                        2 * 4,
		"ATTRIBUTE(method) = 'G*'":                         2 * 4,
		"ATTRIBUTE(method) != CG":                          2 * 4,
		"ATTRIBUTE(method) ~ '^c'":                         2 * 2,
		"ATTRIBUTE(method) !~ '^c'":                        2 * 4,
		"ATTRIBUTE(method) = 3":                            0,
		"ATTRIBUTE(rank) = 1":                              1,
		"ATTRIBUTE(rank) = 1 OR ATTRIBUTE(nothing) != 'x'": 1,
		"REGION = solve AND ATTRIBUTE(step) < 0":           2 * 3,
		"REGION = '' AND ATTRIBUTE(step) != 0":             0,
	} {
		text := "SELECT OPERATIONS WHERE " + condition
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if err = q.Select(run, false, func(*query.Match) error { n++; return nil }); err != nil || n != want {
			t.Errorf("%s: %d events, %v; want %d", text, n, err, want)
		}
	}
	for text, want := range map[string]string{
		"SELECT COUNT, SUM(TIME) GROUP BY ATTRIBUTE(step)":          "[[<nil> 4 40000] [-11 2 20000] [-10 2 20000] [-9 2 20000] [9 4 40000] [10 4 40000] [11 4 40000]]",
		"SELECT COUNT GROUP BY ATTRIBUTE(method), RANK":             "[[<nil> 0 5] [<nil> 1 5] [CG 0 2] [CG 1 2] [GMRES 0 4] [GMRES 1 4]]",
		"SELECT COUNT GROUP BY ATTRIBUTE(tolerance)":                "[[<nil> 10] [0.045454545454545456 4] [0.05 4] [0.05555555555555555 4]]",
		"SELECT COUNT(efg_attribute_int) WHERE ATTRIBUTE(step) = 9": "[[2]]",
		"SELECT COUNT(ANNOTATIONS) WHERE ATTRIBUTE(step) = -9":      "[[4]]",
	} {
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		table, err := q.Totals(run)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(table.Rows); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestAttributeMistakes(t *testing.T) {
	for condition, want := range map[string]string{
		"ATTRIBUTE = 3":                        "want ( and the name of an attribute, not \"=\"",
		"ATTRIBUTE(3) = 3":                     "want the name of an attribute, not \"3\"",
		"ATTRIBUTE(step = 3":                   "want ), not \"=\"",
		"ATTRIBUTE(step) < 'a'":                "want a number after <, not a text",
		"ATTRIBUTE(step) BETWEEN 1 AND b":      "want a number after AND, not a text",
		"ATTRIBUTE(step) = 1e-":                "1e- is no number",
		"ATTRIBUTE(step) = 3KiB":               "3KiB is no number",
		"ATTRIBUTE(step) = -":                  "want a number or a text, not the end",
		"ATTRIBUTE(step) NOT = 3":              "want IN or BETWEEN, not \"=\"",
		"ATTRIBUTE(step) 3":                    "want a comparison",
		"ATTRIBUTE(step) ~ '('":                "the regular expression is wrong",
		"SIZ = 3":                              "SEQ, START, END, DURATION, ATTRIBUTE(…)",
		"ATTRIBUTE(step) IN (3":                "want ), not the end",
		"ATTRIBUTE(step) BETWEEN (3)":          "want a number or a text, not \"(\"",
		"ATTRIBUTE(step) = 99999999999999e999": "is no number",
	} {
		_, err := query.Parse("SELECT SENDS WHERE " + condition)
		var wrong *query.Error
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Text, want) {
			t.Errorf("%s: %v, want %q", condition, err, want)
		}
	}
}
