package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/analysis/findings"
	"github.com/efg-tools/efg/internal/analysis/flame"
	"github.com/efg-tools/efg/internal/analysis/match"
)

// correctionPath is that of a question which only the server asks: how the times of a run of several
// machines are corrected. That takes as long as most answers do, so it is an answer of its own,
// which is cached like others and given to those that need it.
const correctionPath = "/correction"

// correctionQuestion answers it.
var correctionQuestion = question{nil, func(*query) answerer {
	return func(in *input, w io.Writer) (string, error) {
		r, err := clocks.Correct(in, in.run, nil)
		if errors.Is(err, match.ErrNoTimes) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return "", r.Encode(w)
	}
}}

// clock is the parameter that says whose clocks times are by.
func (q *query) clock() string { return q.choice("clock", "corrected", "corrected", "raw") }

// correct makes the times of a run of several machines agree, unless raw ones are wanted. encoded is
// how, if that is known.
func correct(ctx context.Context, run *runfile.Run, clock string, encoded []byte) error {
	if clock == "raw" || !clocks.Needed(run) {
		return nil
	}
	if len(encoded) > 0 {
		return clocks.Apply(run, encoded)
	}
	_, err := clocks.Correct(ctx, run, nil)
	if errors.Is(err, match.ErrNoTimes) {
		return nil
	}
	return err
}

func (in *input) correct(clock string) error { return correct(in, in.run, clock, in.correction) }

// clockReport says how the times are corrected.
func (in *input) clockReport() (*clocks.Report, error) {
	if len(in.correction) > 0 {
		return clocks.Decode(in.correction)
	}
	return clocks.Correct(in, in.run, nil)
}

// mostOpened is how many processes a run has at most whose machines the server looks for itself.
const mostOpened = 1 << 13

// corrections are how the times of sources are corrected, as Report.Encode writes it, empty where
// that is not needed for the answer with this key, or not known.
func (s *Server) corrections(ctx context.Context, key, path string, q *query, sources []*source) ([][]byte, error) {
	list := make([][]byte, len(sources))
	if !byCorrectedClocks(path, q) || s.answers.has(key) {
		return list, nil
	}
	for i, x := range sources {
		var err error
		if list[i], err = s.correction(ctx, path, x); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *Server) correction(ctx context.Context, path string, x *source) ([]byte, error) {
	needed, err := needsCorrection(path, x)
	if err != nil || !needed {
		return nil, err
	}
	a, err := s.answers.get(ctx, tagOf(x.tag, correctionPath), func(ctx context.Context, w io.Writer) (string, bool, error) {
		_, err := s.answer(ctx, correctionPath, &query{}, []*source{x}, nil, w)
		return "", true, err
	})
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(a.zipped))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// byCorrectedClocks reports whether an answer may have times of several machines that agree.
func byCorrectedClocks(path string, q *query) bool {
	switch path {
	case reportPath:
		by := q.values.Get("by")
		return !q.has("rank") && (by == "" || slices.Contains(q.choices("by", reportParts...), "findings"))
	case "/flame":
		of := flame.Measure(q.text("of"))
		return q.clock() != "raw" && (of == flame.Waiting || of == flame.Delay)
	case "/clocks":
		return true
	case timelinePath:
		return q.clock() != "raw"
	}
	return slices.Contains(questions[path].params, "clock") && q.clock() != "raw"
}

// needsCorrection looks into a run. Those with very many processes it leaves to those who answer.
func needsCorrection(path string, x *source) (bool, error) {
	f, err := x.open()
	if err != nil {
		return false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return false, err
	}
	if o, err := runfile.ReadOutline(f, fi.Size()); err != nil || o.Processes > mostOpened {
		return false, nil // the answer says why
	}
	run, err := runOf(x.name, f)
	if err != nil {
		return false, nil
	}
	return clocks.Needed(run) && (path != reportPath || findings.Followed(run)), nil
}
