package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/klauspost/compress/gzip"

	"github.com/efg-tools/efg/internal/jsondoc"
)

// whole is a large result of which requests return a part. It is computed once for all its
// parts, as an answer of its own, which is cached like others.
type whole struct {
	of   string // identifies it among those of the run
	part string // identifies the part, besides the query
	make func(in *input) (encoder, error)
	// take makes the document about a part from the encoded whole.
	take func(name string, whole io.Reader) (any, error)
}

type encoder interface{ Encode(w io.Writer) error }

// wholes are the results of which these paths return parts.
var wholes = map[string]func(q *query) whole{"/matrix": matrix, ranksPath: rankTable}

// part answers with a part.
func (s *Server) part(path string) handler {
	return func(w http.ResponseWriter, r *http.Request, q *query) error {
		p := wholes[path](q)
		if q.err != nil {
			return q.err
		}
		return s.partOf(w, r, path, q, &p)
	}
}

func (s *Server) partOf(w http.ResponseWriter, r *http.Request, path string, q *query, p *whole) error {
	x, err := s.source(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	x.stamp(w)
	key := tagOf(x.tag, "part", p.of, p.part, q.values.Encode())
	if notModified(w, r, key) {
		return nil
	}
	all, err := s.answers.get(r.Context(), tagOf(x.tag, "whole", p.of), func(ctx context.Context, w io.Writer) (string, bool, error) {
		_, err := s.answer(ctx, path, q, []*source{x}, nil, w)
		return "", true, err
	})
	if err != nil {
		return err
	}
	a, err := s.answers.get(r.Context(), key, func(_ context.Context, w io.Writer) (string, bool, error) {
		z, err := gzip.NewReader(bytes.NewReader(all.zipped))
		if err != nil {
			return "", false, err
		}
		v, err := p.take(x.name, z)
		if err != nil {
			return "", false, err
		}
		return jsonType, true, jsondoc.Write(w, v)
	})
	if err != nil {
		return err
	}
	return a.send(w, r)
}

// encode is an answerer.
func (p *whole) encode(in *input, w io.Writer) (string, error) {
	v, err := p.make(in)
	if err != nil {
		return "", err
	}
	return "", v.Encode(w)
}
