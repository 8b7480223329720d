package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func constant(text string) maker {
	return func(_ context.Context, w io.Writer) (string, bool, error) {
		_, err := io.WriteString(w, text)
		return textType, true, err
	}
}

func unzip(t *testing.T, x *answer) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(x.zipped))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Answers are computed once and kept within bounds, and those that fail are computed again.
func TestAnswersKept(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a := newAnswers()
	ctx := t.Context()
	for range 2 {
		if x, err := a.get(ctx, "one", constant("text")); err != nil || unzip(t, x) != "text" {
			t.Fatal(err)
		}
	}
	if x, err := a.get(ctx, "one", constant("other")); err != nil || unzip(t, x) != "text" || x.tag != "one" {
		t.Errorf("it was not kept: %v", err)
	}
	fleeting := func(_ context.Context, w io.Writer) (string, bool, error) { return textType, false, nil }
	if x, err := a.get(ctx, "two", fleeting); err != nil || x.tag != "" {
		t.Errorf("%+v, %v", x, err)
	}
	if x, err := a.get(ctx, "two", constant("again")); err != nil || unzip(t, x) != "again" {
		t.Error("one that does not stay was kept", err)
	}
	bad := func(context.Context, io.Writer) (string, bool, error) { return "", true, errors.New("bad") }
	if _, err := a.get(ctx, "three", bad); err == nil || err.Error() != "bad" {
		t.Error(err)
	}
	panics := func(context.Context, io.Writer) (string, bool, error) { panic("broken here") }
	if _, err := a.get(ctx, "three", panics); err == nil || !strings.HasPrefix(err.Error(), "broken: broken here\n") {
		t.Error(err)
	}
	if x, err := a.get(ctx, "three", constant("good")); err != nil || unzip(t, x) != "good" {
		t.Error("a failure was kept", err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 8 {
		noise := make([]byte, keptAnswer*3/4)
		for k := range noise {
			noise[k] = byte(random.Uint32())
		}
		if _, err := a.get(ctx, fmt.Sprint(i), constant(string(noise))); err != nil {
			t.Fatal(err)
		}
		if a.size > keptBytes {
			t.Fatalf("%d bytes are kept", a.size)
		}
	}
	if a.kept.Len() < 4 {
		t.Errorf("only %d answers are kept", a.kept.Len())
	}
}

// Who asks for what others have just ceased to wait for gets an answer, although the work for
// those has not stopped yet; what that still completes is kept once.
func TestAnswerAfterLeaving(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a := newAnswers()
	begun, release := make(chan bool), make(chan bool)
	slow := func(_ context.Context, w io.Writer) (string, bool, error) {
		close(begun)
		<-release
		_, err := io.WriteString(w, "text")
		return textType, true, err
	}
	m, err := a.join("one", slow)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	a.leave("one", m)
	other, err := a.join("one", constant("text"))
	if err != nil || other == m {
		close(release)
		t.Fatalf("it joined what was cancelled: %v", err)
	}
	<-other.done
	if other.err != nil || unzip(t, other.answer) != "text" {
		t.Error(other.err)
	}
	size := a.size
	close(release)
	<-m.done
	if m.err != nil || a.size != size || a.kept.Len() != 1 {
		t.Errorf("%v; %d answers of %d bytes are kept, want 1 of %d", m.err, a.kept.Len(), a.size, size)
	}
}

// A few requests are processed at a time, equal ones together; more than the limit are
// rejected, and those that no client waits for any longer are not begun.
func TestQuestionsAtOnce(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a := newAnswers()
	release, begun := make(chan bool), make(chan string, maxAsked*2)
	slow := func(key string) maker {
		return func(context.Context, io.Writer) (string, bool, error) {
			begun <- key
			<-release
			return textType, true, nil
		}
	}
	results := make(chan error, maxAsked*2)
	ask := func(ctx context.Context, key string) {
		m, err := a.join(key, slow(key))
		if err != nil {
			results <- err
			return
		}
		go func() {
			select {
			case <-m.done:
				results <- m.err
			case <-ctx.Done():
				a.leave(key, m)
				results <- ctx.Err()
			}
		}()
	}
	for i := range atOnce {
		ask(t.Context(), fmt.Sprint(i))
		<-begun
	}
	ask(t.Context(), "0") // the same
	gone, leave := context.WithCancel(t.Context())
	for i := atOnce; i < maxAsked; i++ {
		ask(gone, fmt.Sprint(i))
	}
	ask(t.Context(), "one too many")
	if err := <-results; err != errBusy {
		t.Errorf("%v", err)
	}
	leave()
	for i := atOnce; i < maxAsked; i++ {
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	close(release)
	for range atOnce + 1 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := len(begun); n > 0 {
		t.Errorf("%d questions were worked on for no one", n)
	}
}

// A request is not answered again if the client has the answer; a compressed answer is equal to
// an uncompressed one, and another file with the same name has another answer.
func TestTags(t *testing.T) {
	store, spool := sampleStore(t)
	s := New(Options{Runs: NewStore(store, spool.Dir), Token: testToken})
	defer s.Close()
	ask := func(path string, set ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		for i := 0; i < len(set); i += 2 {
			r.Header.Set(set[i], set[i+1])
		}
		return over(s, r)
	}
	for _, path := range []string{"/v1/runs", "/v1/runs/halo", "/v1/runs/halo/report?by=rank", "/v1/runs/halo/diff?with=mesh", "/v1/runs/halo/graph?format=svg"} {
		first := ask(path)
		tag := first.Header().Get("ETag")
		if first.Code != 200 || tag == "" || first.Body.Len() == 0 {
			t.Fatalf("%s: status %d, tag %q", path, first.Code, tag)
		}
		if again := ask(path, "If-None-Match", `"other", `+tag); again.Code != 304 || again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
			t.Errorf("%s: status %d, %d bytes", path, again.Code, again.Body.Len())
		}
		if again := ask(path, "If-None-Match", `"other"`); again.Code != 200 {
			t.Errorf("%s: status %d for another tag", path, again.Code)
		}
		zipped := ask(path, "Accept-Encoding", "br;q=1.0, gzip;q=0.8")
		if zipped.Header().Get("Content-Encoding") != "gzip" || unzip(t, &answer{zipped: zipped.Body.Bytes()}) != first.Body.String() {
			t.Errorf("%s: compressed it is another", path)
		}
		if again := ask(path, "Accept-Encoding", "gzip;q=0"); again.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: is compressed, though that is not wanted", path)
		}
	}
	whole := ask("/v1/runs/halo/file")
	file, err := os.ReadFile(store.RunFile("halo"))
	if err != nil || !bytes.Equal(whole.Body.Bytes(), file) {
		t.Errorf("the file is another: %v", err)
	}
	if part := ask("/v1/runs/halo/file", "Range", "bytes=8-15", "If-Range", whole.Header().Get("ETag")); part.Code != 206 || !bytes.Equal(part.Body.Bytes(), file[8:16]) {
		t.Errorf("a part of the file: status %d, %q", part.Code, part.Body)
	}
	if part := ask("/v1/runs/halo/file", "Range", "bytes=99999999-"); part.Code != 416 {
		t.Errorf("status %d", part.Code)
	}
	before := ask("/v1/runs/halo")
	copyTo(t, filepath.Join(samples, "mesh.efg"), store.RunFile("halo"))
	if after := ask("/v1/runs/halo", "If-None-Match", before.Header().Get("ETag")); after.Code != 200 || bytes.Equal(after.Body.Bytes(), before.Body.Bytes()) {
		t.Errorf("another file has the same answer: status %d", after.Code)
	}
}

// The list can be searched and paged.
func TestList(t *testing.T) {
	store, spool := sampleStore(t)
	for i := range 25 {
		name := fmt.Sprintf("many-%02d", i)
		copyTo(t, store.RunFile("mesh"), store.RunFile(name))
		text := fmt.Sprintf(`{"version":1,"name":%q,"command":["./%c"],"host":"NODE%d","started":"2026-02-01T00:00:%02dZ"}`, name, 'a'+i%2, i%5, i)
		if err := os.WriteFile(filepath.Join(store.Dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Options{Runs: NewStore(store, spool.Dir), Token: testToken})
	defer s.Close()
	ask := func(query string) *jsondoc.RunList {
		return decode[jsondoc.RunList](t, answerOf(t, s, "/v1/runs"+query))
	}
	all := ask("")
	if len(all.Runs) != 27 || all.Total != 27 || all.Next != "" || all.Runs[26].Name != "many-24" || len(all.Jobs) != 1 {
		t.Errorf("%+v", all)
	}
	var names []string
	for page := ask("?limit=10"); ; page = ask("?limit=10&after=" + page.Next) {
		for i := range page.Runs {
			names = append(names, page.Runs[len(page.Runs)-1-i].Name)
		}
		if page.Next == "" {
			break
		}
	}
	if len(names) != 27 {
		t.Errorf("pages have %d runs: %q", len(names), names)
	}
	for i := range names {
		if names[i] != all.Runs[26-i].Name {
			t.Errorf("run %d is %s, want %s", i, names[i], all.Runs[26-i].Name)
		}
	}
	for query, want := range map[string]int{"?search=MANY-1": 10, "?search=node3": 5, "?search=./b": 12, "?search=nowhere": 0, "?search=many&limit=3": 25} {
		if l := ask(query); l.Total != want {
			t.Errorf("%s: %d runs, want %d", query, l.Total, want)
		}
	}
	// Added and removed runs are noticed.
	if err := os.Remove(store.RunFile("many-03")); err != nil {
		t.Fatal(err)
	}
	if l := ask(""); l.Total != 26 {
		t.Errorf("%d runs after one was removed", l.Total)
	}
}

// Invalid requests are answered with what is wrong.
func TestMistakes(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	defer s.Close()
	for path, want := range map[string]string{
		"/v1/runs/none":                                `404 no run or job "none"`,
		"/v1/runs/%2e%2e%2fhalo":                       `404 no run or job "../halo"`,
		"/v1/runs/halo/nothing":                        `404 no such query; see /openapi.yaml`,
		"/v1/runs/halo/report?ranks=1":                 `400 parameter "ranks": want rank, by, setup, site_depth`,
		"/v1/runs/halo/clocks?x=1":                     `400 parameter "x": want none`,
		"/v1/runs/halo/check?clock=x":                  `400 clock=x: want corrected, raw`,
		"/v1/runs/halo/report?rank=1&rank=2":           `400 parameter rank: is given 2 times`,
		"/v1/runs/halo/report?rank=5-2":                `400 rank=5-2: want ranks and ranges of ranks, as in 0-3,7`,
		"/v1/runs/halo/report?rank=8":                  `400 no rank 8: the run has ranks 0-7`,
		"/v1/runs/halo/report?rank=0-2,1-3,5":          `400 rank=0-2,1-3,5: want each rank once`,
		"/v1/runs/halo/report?by=node":                 `400 by=node: want some of procedure, callsite, rank, region, findings`,
		"/v1/runs/halo/matrix?bins=0":                  `400 bins=0: want a number from 1 to 2048`,
		"/v1/runs/halo/matrix?collectives=maybe":       `400 collectives=maybe: want true or false`,
		"/v1/runs/halo/graph?rank=9":                   `400 no rank 9 in the run`,
		"/v1/runs/halo/graph?thread=1":                 `400 no thread 1: rank 0 has 1 recorded threads`,
		"/v1/runs/halo/graph?format=gif":               `400 format=gif: want json, dot, graphml, svg, png`,
		"/v1/runs/halo/graph?colour=red":               `400 colour=red: want time, calls or bytes`,
		"/v1/runs/mesh/graph?colour=time":              `400 colour=time: ` + filepath.Join(samples, "mesh.efg") + ` has no times`,
		"/v1/runs/halo/graph/layout?open=1,7.7":        `400 open=1,7.7: no loop 7.7`,
		"/v1/runs/halo/diff?with=none":                 `404 no run or job "none"`,
		"/v1/runs/halo/diff?ranks=1":                   `400 ranks: want at least two`,
		"/v1/runs/halo/diff?with=traced&ranks=7":       `400 no rank 7 in ` + filepath.Join(samples, "traced.efg"),
		"/v1/runs/halo/timeline":                       `422 the times of each call were not recorded (efg run --time trace records them)`,
		"/v1/runs/halo/flows":                          `422 the times of each call were not recorded (efg run --time trace records them)`,
		"/v1/runs/halo/flows?most=-1":                  `400 most=-1: want a number from 0 to 10000`,
		"/v1/runs/halo/flows?ranks=99999":              `400 no rank 99999: the run has ranks 0-7`,
		"/v1/runs/halo/waits":                          `422 the times of each call were not recorded (efg run --time trace records them)`,
		"/v1/runs/halo/timeline/regions":               `422 the times of each call were not recorded (efg run --time trace records them)`,
		"/v1/runs/traced/timeline/regions?from=7&to=5": `400 no such view: from 7 to 5`,
		"/v1/runs/traced/timeline/regions?depth=99":    `400 depth=99: want a number from 1 to 64`,
		"/v1/runs/traced/timeline/regions?ranks=9999":  `400 no rank 9999: the run has ranks 0-3`,
		"/v1/runs/traced/timeline?width=99999":         `400 width=99999: want a number from 1 to 8192`,
		"/v1/runs?after=none":                          `400 after=none: no such run; start again`,
		"/v1/runs?%zz":                                 `400 query: invalid URL escape "%zz"`,
		"/v2/runs":                                     `404 not found; see /openapi.yaml`,
		"/":                                            `404 not found; see /openapi.yaml`,
	} {
		r := httptest.NewRequest("GET", "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		w := over(s, r)
		if got := fmt.Sprint(w.Code, " ", decode[struct{ Error string }](t, w.Body.Bytes()).Error); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// The page is served unchanged, and nothing besides it.
func TestPage(t *testing.T) {
	page := fstest.MapFS{"index.html": {Data: []byte("<html>")}, "a/app.js": {Data: []byte("let x")}, "x.wasm": {Data: []byte("\x00asm")}}
	s := New(Options{Runs: sampleFiles(t), Token: testToken, Page: page})
	defer s.Close()
	for path, want := range map[string]string{
		"/": "200 text/html; charset=utf-8 <html>", "/a/app.js": "200 text/javascript; charset=utf-8 let x", "/x.wasm": "200 application/wasm \x00asm",
		"/a": "404", "/a/": "404", "/none": "404", "/a/%2e%2e/index.html": "404", "/%5c": "404", "/%00": "404",
	} {
		r := httptest.NewRequest("GET", "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		w := over(s, r)
		got := fmt.Sprint(w.Code)
		if w.Code == 200 {
			got = fmt.Sprint(w.Code, " ", w.Header().Get("Content-Type"), " ", w.Body)
			r.Header.Set("If-None-Match", w.Header().Get("ETag"))
			if again := over(s, r); again.Code != 304 {
				t.Errorf("%s: is sent again: status %d", path, again.Code)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
