package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/efg-tools/efg/internal/fleet"
)

//go:embed openapi.yaml
var openAPI []byte

// Options are the options of a server.
type Options struct {
	Runs Runs
	// Page holds the files of the page that is served beside the API; nil if there is none.
	Page fs.FS
	// Token is required of clients over TCP.
	Token string
	// Hosts are accepted host names of the server besides loopback ones. Beyond: it listens
	// beyond loopback; then its addresses and the machine's name are accepted too.
	Hosts  []string
	Beyond bool
	// Sources: the source files of recorded programs are shown. Who may use the server must be the
	// user as whom it runs.
	Sources bool
	// Metrics are served at /metrics; nil: none.
	Metrics *Metrics
	// Fleet keeps what is read of runs to compare all of them; nil: it is read for each answer.
	Fleet *fleet.Cache
	// Workers answer requests about large runs; nil: this process does.
	Workers *Workers
	// Scratch is the directory for snapshots of running jobs; "": the system's temporary
	// directory.
	Scratch string
	Log     *slog.Logger
}

// Server serves the API and the page.
type Server struct {
	opt      Options
	mux      *http.ServeMux
	handler  http.Handler
	params   map[string][]string // of each route
	answers  *answers
	feeds    *feeds
	shots    *snapshots
	lines    timelines
	activity activity
	ctx      context.Context // ends when the server does
	stop     context.CancelFunc
}

// New returns a server, to be closed with Close.
func New(opt Options) *Server {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: opt, mux: http.NewServeMux(), params: map[string][]string{}, answers: newAnswers()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.feeds, s.shots = newFeeds(s.ctx), newSnapshots(opt.Scratch)
	s.routes()
	hosts := opt.Hosts
	if name, err := os.Hostname(); err == nil && opt.Beyond {
		hosts = append(slices.Clone(hosts), name)
	}
	s.handler = &guard{token: opt.Token, hosts: hosts, any: opt.Beyond, next: s.mux}
	return s
}

// Close ends streams of events and releases their resources.
func (s *Server) Close() {
	s.stop()
	s.shots.close()
	s.lines.close()
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.activity.begin()()
	s.handler.ServeHTTP(&deadlineWriter{w, http.NewResponseController(w)}, r)
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
	if m := s.opt.Metrics; m != nil {
		metrics := m.handler()
		s.route("/metrics", nil, func(w http.ResponseWriter, r *http.Request, _ *query) error {
			metrics.ServeHTTP(w, r)
			return nil
		})
	}
	s.route("/v1/runs", []string{"search", "limit", "after"}, s.list)
	for path, q := range questions {
		answer := s.asking(path)
		if path == reportPath {
			answer = s.report
		}
		s.route("/v1/runs/{id}"+path, q.params, answer)
	}
	s.route("/v1/runs/{id}/file", nil, s.file)
	s.route("/v1/runs/{id}/matrix", matrixParams, s.part("/matrix"))
	s.route("/v1/runs/{id}/ranks", rankParams, s.part(ranksPath))
	s.route("/v1/runs/{id}"+timelinePath, timelineParams, s.timeline)
	s.route("/v1/runs/{id}"+timelinePath+"/regions", visitsParams, s.visits)
	s.route("/v1/runs/{id}/where", whereQuestion.params, s.where)
	s.route("/v1/runs/{id}/source", sourceParams, s.sourceCode)
	s.route("/v1/runs/{id}/live", []string{"interval"}, s.live)
	s.route("/v1/fleet", fleetParams, s.fleet)
	s.route("/v1/events", nil, s.events)
	s.mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, http.StatusNotFound, "no such query; see /openapi.yaml")
	})
	s.mux.HandleFunc("/", s.page)
}

// handler answers a request, or returns an error.
type handler func(w http.ResponseWriter, r *http.Request, q *query) error

// route adds a path with the parameters that it has.
func (s *Server) route(path string, params []string, h handler) {
	s.params[path] = params
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if m := s.opt.Metrics; m != nil {
			began, noted := time.Now(), &statusWriter{ResponseWriter: w, status: http.StatusOK}
			defer func() { m.answered(path, noted.status, time.Since(began)) }()
			w = noted
		}
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
	for _, name := range []string{"Etag", "Content-Encoding", "Content-Length", snapshotHeader} {
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

// page sends a file of the page.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	if s.opt.Page == nil {
		fail(w, r, http.StatusNotFound, "not found; see /openapi.yaml")
		return
	}
	data, err := fs.ReadFile(s.opt.Page, name)
	if err != nil {
		fail(w, r, http.StatusNotFound, "not found")
		return
	}
	sum := sha256.Sum256(data)
	tagged(w, `"`+hex.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// find finds the run or job named in the path.
func (s *Server) find(id string) (*Entry, error) {
	e, err := s.opt.Runs.Find(id)
	if err == nil && e == nil {
		err = notFound("no run or job %q", id)
	}
	return e, err
}

// asking answers a request about a run, or about two.
func (s *Server) asking(path string) handler {
	return func(w http.ResponseWriter, r *http.Request, q *query) error {
		if _, err := taskOf(path, q); q.err != nil || err != nil {
			return errors.Join(q.err, err)
		}
		sources, tag, err := s.sources(r.Context(), r.PathValue("id"), q.text("with"))
		if err != nil {
			return err
		}
		sources[0].stamp(w)
		key := tagOf(tag, path, q.values.Encode())
		if notModified(w, r, key) {
			return nil
		}
		known, err := s.corrections(r.Context(), key, path, q, sources)
		if err != nil {
			return err
		}
		x, err := s.answers.get(r.Context(), key, func(ctx context.Context, w io.Writer) (string, bool, error) {
			contentType, err := s.answer(ctx, path, q, sources, known, w)
			return contentType, true, err
		})
		if err != nil {
			return err
		}
		return x.send(w, r)
	}
}
