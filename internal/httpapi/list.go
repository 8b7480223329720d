package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// maxListed is the maximum number of runs in one answer.
const maxListed = 100_000

// list lists runs and jobs: the newest ones that match, or those that follow one of an earlier
// answer.
func (s *Server) list(w http.ResponseWriter, r *http.Request, q *query) error {
	limit, search, after := q.number("limit", maxListed, 1, maxListed), strings.ToLower(q.text("search")), q.text("after")
	if q.err != nil {
		return q.err
	}
	l, err := s.opt.Runs.List()
	if err != nil {
		return err
	}
	listed := func(_ context.Context, w io.Writer) (string, bool, error) {
		p, err := part(l, search, after, limit)
		if err != nil {
			return "", false, err
		}
		return jsonType, true, p.Write(w)
	}
	if l.Stamp == "" {
		x, err := compress(r.Context(), "", listed)
		if err != nil {
			return err
		}
		x.tag = tagOf("runs", string(x.zipped))
		if notModified(w, r, x.tag) {
			return nil
		}
		return x.send(w, r)
	}
	rest, err := json.Marshal([]any{l.Daemon, l.Problems, l.Jobs})
	if err != nil {
		return err
	}
	tag := tagOf("runs", l.Stamp, string(rest), q.values.Encode())
	if notModified(w, r, tag) {
		return nil
	}
	x, err := s.answers.get(r.Context(), tag, listed)
	if err != nil {
		return err
	}
	return x.send(w, r)
}

// part returns the newest of the runs that match, or those before the named one.
func part(l *jsondoc.RunList, search, after string, limit int) (*jsondoc.RunList, error) {
	p := *l
	if search != "" {
		p = *matching(l, search)
	}
	p.Total = len(p.Runs)
	n := len(p.Runs)
	if after != "" {
		for n > 0 && p.Runs[n-1].Name != after {
			n--
		}
		if n == 0 {
			return nil, badRequest("after=%s: no such run; start again", after)
		}
		n--
	}
	first := max(n-limit, 0)
	if first > 0 {
		p.Next = p.Runs[first].Name
	}
	p.Runs = p.Runs[first:n]
	if l.Texts != nil {
		p.Texts = p.Texts[first:n]
	}
	return &p, nil
}

// matching returns the runs and jobs that contain a text.
func matching(l *jsondoc.RunList, search string) *jsondoc.RunList {
	p := *l
	p.Runs, p.Texts, p.Jobs = []daemon.Summary{}, nil, []jsondoc.Job{}
	for i := range l.Runs {
		if matches(search, l.Runs[i].Name, l.Runs[i].Host, l.Runs[i].Command) {
			p.Runs = append(p.Runs, l.Runs[i])
			if l.Texts != nil {
				p.Texts = append(p.Texts, l.Texts[i])
			}
		}
	}
	for i := range l.Jobs {
		if matches(search, l.Jobs[i].Name, "", l.Jobs[i].Command) {
			p.Jobs = append(p.Jobs, l.Jobs[i])
		}
	}
	return &p
}

// matches reports whether any of the texts contains the text.
func matches(search, name, host string, command []string) bool {
	return strings.Contains(strings.ToLower(name), search) || strings.Contains(strings.ToLower(host), search) ||
		strings.Contains(strings.ToLower(strings.Join(command, " ")), search)
}
