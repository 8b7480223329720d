package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/efg-tools/efg/efg"
)

//go:embed openapi.yaml
var openAPI []byte

// Options say how questions are answered.
type Options struct {
	Runs Runs
	// Page is what is served beside the API: index.html and what it needs; nil: none.
	Page fs.FS
	// Token is what who asks over TCP must have.
	Token string
	// Hosts are names by which the server may be called besides loopback ones. Beyond: it
	// listens beyond loopback.
	Hosts  []string
	Beyond bool
	// Metrics answers /metrics; nil: there are none.
	Metrics http.Handler
	Log     *slog.Logger
}

// Server answers.
type Server struct {
	opt     Options
	mux     *http.ServeMux
	handler http.Handler
	params  map[string][]string // of each route
	answers *answers
	ctx     context.Context // ends when the server does
	stop    context.CancelFunc
}

// New makes a server, that Close ends.
func New(opt Options) *Server {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: opt, mux: http.NewServeMux(), params: map[string][]string{}, answers: newAnswers()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.routes()
	s.handler = &guard{token: opt.Token, hosts: opt.Hosts, any: opt.Beyond, next: s.mux}
	return s
}

// Close ends streams of events and what they need.
func (s *Server) Close() { s.stop() }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(&patientWriter{w, http.NewResponseController(w)}, r)
}

func (s *Server) routes() {
	s.route("/healthz", nil, func(w http.ResponseWriter, _ *http.Request, _ *query) error {
		w.Header().Set("Content-Type", textType)
		_, err := io.WriteString(w, "ok\n")
		return err
	})
	s.route("/openapi.yaml", nil, func(w http.ResponseWriter, r *http.Request, _ *query) error {
		w.Header().Set("Content-Type", "application/yaml")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(openAPI))
		return nil
	})
	if s.opt.Metrics != nil {
		s.mux.Handle("/metrics", s.opt.Metrics)
	}
	s.route("/v1/runs", []string{"search", "limit", "after"}, s.list)
	for path, q := range questions {
		s.route("/v1/runs/{id}"+path, q.params, s.asking(path, q))
	}
	s.route("/v1/runs/{id}/file", nil, s.file)
	s.mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, http.StatusNotFound, "no such question; see /openapi.yaml")
	})
	s.mux.HandleFunc("/", s.page)
}

// handler answers a request, or returns why not.
type handler func(w http.ResponseWriter, r *http.Request, q *query) error

// route adds a path with the parameters that it has.
func (s *Server) route(path string, params []string, h handler) {
	s.params[path] = params
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		q, err := parseQuery(r.URL.RawQuery, params)
		if err == nil {
			err = h(w, r, q)
		}
		if err != nil && r.Context().Err() == nil {
			s.failed(w, r, err)
		}
	})
}

// failed answers with an error.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	var known *statusError
	if errors.As(err, &known) {
		if known.status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		fail(w, r, known.status, known.text)
		return
	}
	s.opt.Log.Warn("cannot answer", "path", r.URL.Path, "problem", err)
	text, _, _ := strings.Cut(err.Error(), "\n")
	fail(w, r, http.StatusInternalServerError, text)
}

// fail writes an error as JSON.
func fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	h := w.Header()
	for _, name := range []string{"Etag", "Content-Encoding", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		json.NewEncoder(w).Encode(struct {
			Error string `json:"error"`
		}{text})
	}
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	if s.opt.Page != nil {
		http.ServeFileFS(w, r, s.opt.Page, r.URL.Path)
		return
	}
	if r.URL.Path != "/" {
		fail(w, r, http.StatusNotFound, "not found")
		return
	}
	w.Header().Set("Content-Type", textType)
	io.WriteString(w, "efg: see /v1/runs and /openapi.yaml\n")
}

// find finds the run or job that the path names.
func (s *Server) find(id string) (*Entry, error) {
	e, err := s.opt.Runs.Find(id)
	if err == nil && e == nil {
		err = notFound("no run or job %q", id)
	}
	return e, err
}

// opened is a run file that is open, and what tells it from all others.
type opened struct {
	*efg.Run
	name string
	tag  string
}

// identify returns what tells a run file as it is from all others.
func identify(e *Entry) (string, error) {
	fi, err := os.Stat(e.File)
	if err != nil {
		return "", gone(e, err)
	}
	return fmt.Sprintf("%s\x00%s\x00%d\x00%d", e.Name, e.File, fi.Size(), fi.ModTime().UnixNano()), nil
}

// gone: a run that was removed since it was found is not there.
func gone(e *Entry, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("no run or job %q", e.Name)
	}
	return err
}

// asking answers a question about a run, or about a run and another.
func (s *Server) asking(path string, ask question) handler {
	return func(w http.ResponseWriter, r *http.Request, q *query) error {
		answer := ask.prepare(q)
		if q.err != nil {
			return q.err
		}
		entries, tag, err := s.named(r.PathValue("id"), q.values.Get("with"))
		if err != nil {
			return err
		}
		key := tagOf(tag, path, q.values.Encode())
		if notModified(w, r, key) {
			return nil
		}
		x, err := s.answers.get(r.Context(), key, func(ctx context.Context, w io.Writer) (string, error) {
			in, closeAll, err := openEntries(ctx, entries)
			if err != nil {
				return "", err
			}
			defer closeAll()
			return answer(in, w)
		})
		if err != nil {
			return err
		}
		return x.send(w, r)
	}
}

// named finds the runs that a question is about, and what tells their files from others.
func (s *Server) named(ids ...string) (entries []*Entry, tag string, err error) {
	for _, id := range ids {
		if id == "" {
			continue
		}
		e, err := s.find(id)
		if err != nil {
			return nil, "", err
		}
		if e.File == "" {
			return nil, "", &statusError{http.StatusConflict, id + " is still running"}
		}
		t, err := identify(e)
		if err != nil {
			return nil, "", err
		}
		entries, tag = append(entries, e), tag+t+"\x00"
	}
	return entries, tag, nil
}

// openEntries opens the files of a run and, if there are two, the one that it is
// compared with.
func openEntries(ctx context.Context, entries []*Entry) (in *input, closeAll func(), err error) {
	var open []*efg.Run
	closeAll = func() {
		for _, r := range open {
			r.Close()
		}
	}
	var list []*input
	for _, e := range entries {
		run, err := efg.OpenRun(e.File)
		if err != nil {
			closeAll()
			return nil, nil, gone(e, err)
		}
		open = append(open, run)
		list = append(list, &input{Context: ctx, run: run, name: e.Name})
	}
	if len(list) > 1 {
		list[0].other = list[1]
	}
	return list[0], closeAll, nil
}

// tagOf makes an ETag. It is weak: compressed or not, the answer is the same.
func tagOf(parts ...string) string {
	h := sha256.New()
	h.Write(buildID())
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return `W/"` + hex.EncodeToString(h.Sum(nil)[:12]) + `"`
}

// notModified answers, if who asks has the answer already.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache") // to be asked for again, but not sent again
	for part := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if p := strings.TrimSpace(part); p == "*" || strings.TrimPrefix(p, "W/") == strings.TrimPrefix(tag, "W/") {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// send writes an answer, compressed if that is wanted.
func (x *answer) send(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", x.contentType)
	h.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", fmt.Sprint(len(x.zipped)))
		if r.Method != http.MethodHead {
			w.Write(x.zipped) // who has left does not matter
		}
		return nil
	}
	if r.Method == http.MethodHead {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(x.zipped))
	if err == nil {
		io.Copy(w, z)
	}
	return err
}

// acceptsGzip reads Accept-Encoding.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" || name == "*" {
			q := strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(quality), "q="), "0.")
			return strings.TrimSpace(quality) == "" || q != ""
		}
	}
	return false
}

// file sends the run file itself, or a range of its bytes.
func (s *Server) file(w http.ResponseWriter, r *http.Request, _ *query) error {
	e, err := s.find(r.PathValue("id"))
	if err != nil {
		return err
	}
	if e.File == "" {
		return &statusError{http.StatusConflict, e.Name + " is still running"}
	}
	f, err := os.Open(e.File)
	if err != nil {
		return gone(e, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	tag, err := identify(e)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("ETag", strings.TrimPrefix(tagOf(tag, "file"), "W/"))
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", plainName(e.Name)+".efg"))
	http.ServeContent(w, r, "", fi.ModTime(), f)
	return nil
}

// plainName leaves letters, digits and some signs of a name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// buildID tells builds of this program apart: another may answer otherwise.
var buildID = sync.OnceValue(func() []byte {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	sum := sha256.Sum256([]byte(info.String()))
	return sum[:8]
})
