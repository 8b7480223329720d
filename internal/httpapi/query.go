package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/internal/rankset"
)

// statusError is an error with its HTTP status.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &statusError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// query holds the parameters of a request. Its error is the first invalid one.
type query struct {
	values url.Values
	err    error
}

// parseQuery reads parameters; unknown and duplicate ones are errors.
func parseQuery(raw string, known []string) (*query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, badRequest("query: %v", err)
	}
	for name, list := range values {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return nil, badRequest("parameter %q: want none", name)
		case !slices.Contains(known, name):
			return nil, badRequest("parameter %q: want %s", name, strings.Join(known, ", "))
		case len(list) > 1:
			return nil, badRequest("parameter %s: is given %d times", name, len(list))
		}
	}
	return &query{values: values}, nil
}

func (q *query) has(name string) bool { return q.values.Get(name) != "" }

func (q *query) text(name string) string { return q.values.Get(name) }

func (q *query) fail(name, want string) {
	if q.err == nil {
		q.err = badRequest("%s=%s: want %s", name, q.values.Get(name), want)
	}
}

// number is a number from least to most.
func (q *query) number(name string, missing, least, most int) int {
	if !q.has(name) {
		return missing
	}
	n, err := strconv.Atoi(q.values.Get(name))
	if err != nil || n < least || n > most {
		q.fail(name, fmt.Sprintf("a number from %d to %d", least, most))
		return missing
	}
	return n
}

// flag is false unless it is true or 1.
func (q *query) flag(name string) bool {
	switch q.values.Get(name) {
	case "", "false", "0":
		return false
	case "true", "1":
		return true
	}
	q.fail(name, "true or false")
	return false
}

// choice is one of a list, or missing if the parameter is not given.
func (q *query) choice(name, missing string, of ...string) string {
	if !q.has(name) {
		return missing
	}
	v := q.values.Get(name)
	if !slices.Contains(of, v) {
		q.fail(name, strings.Join(of, ", "))
	}
	return v
}

// choices are some of a list, separated by commas.
func (q *query) choices(name string, of ...string) []string {
	if !q.has(name) {
		return nil
	}
	list := strings.Split(q.values.Get(name), ",")
	for _, v := range list {
		if !slices.Contains(of, v) {
			q.fail(name, "some of "+strings.Join(of, ", "))
		}
	}
	return list
}

// span is a first and a last rank, as in 64-127; nil stands for all.
func (q *query) span(name string) *[2]int {
	set, err := rankset.Parse(q.values.Get(name))
	if err != nil || len(set) > 1 {
		q.fail(name, "ranks as in 64-127")
	}
	if len(set) != 1 {
		return nil
	}
	return &set[0]
}

// ranks are ranks as in 0-3,7; nil stands for all.
func (q *query) ranks(name string) rankset.Set {
	set, err := rankset.Parse(q.values.Get(name))
	if err != nil && q.err == nil {
		q.err = badRequest("%s=%s: %v", name, q.values.Get(name), err)
	}
	if len(set) != 2 && overlap(set) { // a rank may be compared with itself
		q.fail(name, "each rank once")
	}
	return set
}

// overlap reports whether a set contains ranks twice.
func overlap(set rankset.Set) bool {
	set = slices.Clone(set)
	slices.SortFunc(set, func(a, b [2]int) int { return a[0] - b[0] })
	for i := 1; i < len(set); i++ {
		if set[i][0] <= set[i-1][1] {
			return true
		}
	}
	return false
}
