package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/symbolize"
)

// sourceParams: at is a callsite as documents write it, around how many lines on either side.
var sourceParams = []string{"at", "around"}

// usualAround and mostAround bound the lines of an answer on either side of a call.
const (
	usualAround = 150
	mostAround  = 1000
)

// errNoSources: they are for the user whose programs were recorded, on the machine where they were
// built.
var errNoSources = &statusError{http.StatusForbidden, "this server shows no source files: efg view does, on the machine where the program was built"}

// sourceCode answers with the source around a callsite. Only files that the debug information of the
// recorded program names for it are read, see symbolize.FindSource. The answer is not kept: files
// change.
func (s *Server) sourceCode(w http.ResponseWriter, r *http.Request, q *query) error {
	at, around := q.text("at"), q.number("around", usualAround, 0, mostAround)
	switch {
	case q.err != nil:
		return q.err
	case at == "":
		return badRequest("at: want a callsite, as in main jacobi.c:42")
	case !s.opt.Sources:
		return errNoSources
	}
	x, err := s.source(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	a, err := s.answers.get(r.Context(), "", func(_ context.Context, w io.Writer) (string, bool, error) {
		doc, err := x.sourceAt(at, around)
		if err != nil {
			return "", false, err
		}
		return jsonType, false, jsondoc.Write(w, doc)
	})
	if err != nil {
		return err
	}
	return a.send(w, r)
}

// sourceAt makes the document about a callsite.
func (x *source) sourceAt(at string, around int) (*jsondoc.Source, error) {
	f, err := x.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	run, err := runOf(x.name, f)
	if err != nil {
		return nil, err
	}
	words, err := siteWords(run, at)
	if err != nil {
		return nil, err
	}
	found, err := findSource(run, words)
	if errors.Is(err, symbolize.ErrNoSource) {
		return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return jsondoc.NewSource(x.name, at, found, around), nil
}

// siteWords are the words of the callsites with a text.
func siteWords(run *runfile.Run, at string) (map[uint64]bool, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	words := map[uint64]bool{}
	for _, s := range sites {
		if strings.TrimSpace(s.Func+" "+s.Place) == at {
			words[s.Word] = true
		}
	}
	if len(words) == 0 {
		return nil, notFound("no callsite %q in the run", at)
	}
	return words, nil
}

// mostDefining is how many processes are asked for a callsite at most: its definition is with those
// that come to it.
const mostDefining = 256

// findSource finds the file of the first of some callsites that has one.
func findSource(run *runfile.Run, words map[uint64]bool) (*symbolize.Source, error) {
	for i := range run.Procs[:min(len(run.Procs), mostDefining)] {
		defs, err := run.Defs(i)
		if err != nil {
			return nil, err
		}
		for word := range words {
			found, err := symbolize.FindSource(defs, word)
			if err == nil {
				return found, nil
			}
			if !errors.Is(err, symbolize.ErrNoSite) {
				return nil, err
			}
		}
	}
	return nil, symbolize.ErrNoSite
}
