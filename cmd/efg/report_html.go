package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/httpapi"
	"github.com/efg-tools/efg/internal/web"
)

// staticQuestions is what the page of one file can show of a run: what its views ask for, with the
// width of a usual window.
var staticQuestions = []string{
	"?streams=incomplete&limit=500",
	"/report?by=procedure%2Ccallsite", "/report?by=findings", "/report?by=region", "/ranks?count=0&bins=600",
	"/waits?top=100&ranges=256", "/efficiency?windows=60", "/efficiency", "/efficiency?regions=true", "/counters", "/whatif",
	"/matrix?bins=256", "/matrix?bins=256&collectives=1", "/matrix?bins=256&one_sided=1", "/matrix?bins=256&collectives=1&one_sided=1",
	"/loops?ranges=25", "/phases", "/check", "/timeline?width=1600&rows=400&slices=4000", "/timeline/regions?width=1600&rows=400", "/flows?most=2000",
	"/flame", "/flame?of=waiting", "/flame?of=delay", "/flame?of=bytes", "/flame?of=calls",
}

// reportHTML writes the page with all that it shows of a run to a file.
func reportHTML(ctx context.Context, path, to string, errOut io.Writer) error {
	files, err := viewed([]string{path})
	if err != nil {
		return err
	}
	token := httpapi.NewToken()
	s := httpapi.New(httpapi.Options{Runs: files, Page: web.Files(), Token: token})
	defer s.Close()
	list, err := files.List()
	if err != nil {
		return err
	}
	id := list.Runs[0].Name
	answers := web.Answers{"v1/runs": []byte(`{"runs":[],"jobs":[]}`)}
	bar := newProgress(errOut, "answers", uint64(len(staticQuestions)))
	defer bar.close()
	for i, question := range staticQuestions {
		bar.show(uint64(i))
		request := "v1/runs/" + url.PathEscape(id) + question
		status, body, err := askWhole(ctx, s, token, request)
		switch {
		case err != nil:
			return err
		case status == http.StatusOK:
			answers[request] = body
		case status != http.StatusUnprocessableEntity: // the run does not have what this needs
			return fmt.Errorf("%s: %s: %s", path, question, bytes.TrimSpace(body))
		}
	}
	return durable.Write(to, func(w io.Writer) error { return web.WriteStatic(w, id, answers) })
}

// askWhole answers a request, and again as long as the answer is an incomplete timeline.
func askWhole(ctx context.Context, s http.Handler, token, request string) (status int, body []byte, err error) {
	for {
		status, body, err = askItself(ctx, s, token, request)
		var header struct {
			Complete *bool `json:"complete"`
		}
		line, _, _ := bytes.Cut(body, []byte("\n"))
		if err != nil || json.Unmarshal(line, &header) != nil || header.Complete == nil || *header.Complete || ctx.Err() != nil {
			return status, body, errors.Join(err, ctx.Err())
		}
	}
}

// askItself answers a request without a connection.
func askItself(ctx context.Context, s http.Handler, token, request string) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/"+request, nil)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	w := &keeper{header: http.Header{}, status: http.StatusOK}
	s.ServeHTTP(w, r)
	return w.status, w.body.Bytes(), nil
}

// keeper is a ResponseWriter that keeps what is written.
type keeper struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *keeper) Header() http.Header         { return k.header }
func (k *keeper) WriteHeader(status int)      { k.status = status }
func (k *keeper) Write(b []byte) (int, error) { return k.body.Write(b) }
