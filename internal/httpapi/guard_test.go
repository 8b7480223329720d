package httpapi

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// over answers a request as if it had arrived over TCP.
func over(s *Server, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// Which clients are served over TCP, and what browsers are told.
func TestGuard(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken, Hosts: []string{"login.example"}})
	defer s.Close()
	const bearer = "Bearer " + testToken
	cookie := (&guard{token: testToken}).cookie() + "=" + testToken
	for _, c := range []struct {
		name, method, url string
		set               [][2]string
		status            int
	}{
		{"bearer", "GET", "http://127.0.0.1:99/v1/runs", [][2]string{{"Authorization", bearer}}, 200},
		{"cookie", "GET", "http://127.0.0.1:99/v1/runs", [][2]string{{"Cookie", cookie}}, 200},
		{"head", "HEAD", "http://[::1]:99/v1/runs", [][2]string{{"Authorization", bearer}}, 200},
		{"localhost", "GET", "http://LOCALHOST.:99/v1/runs", [][2]string{{"Authorization", bearer}}, 200},
		{"another loopback address", "GET", "http://127.1.2.3/v1/runs", [][2]string{{"Authorization", bearer}}, 200},
		{"given host", "GET", "http://login.example/v1/runs", [][2]string{{"Authorization", bearer}}, 200},
		{"no token", "GET", "http://localhost/v1/runs", nil, 401},
		{"no token for the page", "GET", "http://localhost/", nil, 401},
		{"no token for the description", "GET", "http://localhost/openapi.yaml", nil, 401},
		{"no token for metrics", "GET", "http://localhost/metrics", nil, 401},
		{"no token for health", "GET", "http://localhost/healthz", nil, 200},
		{"wrong bearer", "GET", "http://localhost/v1/runs", [][2]string{{"Authorization", bearer + "x"}}, 401},
		{"wrong bearer, good cookie", "GET", "http://localhost/v1/runs", [][2]string{{"Authorization", "Bearer x"}, {"Cookie", cookie}}, 401},
		{"another scheme", "GET", "http://localhost/v1/runs", [][2]string{{"Authorization", "Basic " + testToken}}, 401},
		{"empty bearer", "GET", "http://localhost/v1/runs", [][2]string{{"Authorization", "Bearer "}}, 401},
		{"cookie of another server", "GET", "http://localhost/v1/runs", [][2]string{{"Cookie", (&guard{token: "x"}).cookie() + "=" + testToken}}, 401},
		{"wrong cookie", "GET", "http://localhost/v1/runs", [][2]string{{"Cookie", cookie[:len(cookie)-1]}}, 401},
		{"wrong token in the address", "GET", "http://localhost/?token=x", nil, 401},
		{"rebinding", "GET", "http://evil.example/v1/runs", [][2]string{{"Authorization", bearer}}, 421},
		{"rebinding, health", "GET", "http://evil.example/healthz", nil, 421},
		{"a name that begins like one of ours", "GET", "http://localhost.evil.example/v1/runs", [][2]string{{"Authorization", bearer}}, 421},
		{"another address", "GET", "http://192.0.2.1/v1/runs", [][2]string{{"Authorization", bearer}}, 421},
		{"other origin", "GET", "http://localhost/v1/runs", [][2]string{{"Authorization", bearer}, {"Origin", "http://evil.example"}}, 403},
		{"origin at another port", "GET", "http://localhost:1/v1/runs", [][2]string{{"Cookie", cookie}, {"Origin", "http://localhost:2"}}, 403},
		{"origin null", "GET", "http://localhost/v1/runs", [][2]string{{"Cookie", cookie}, {"Origin", "null"}}, 403},
		{"origin with another scheme", "GET", "http://localhost/v1/runs", [][2]string{{"Cookie", cookie}, {"Origin", "https://localhost"}}, 403},
		{"own origin", "GET", "http://localhost:1/v1/runs", [][2]string{{"Cookie", cookie}, {"Origin", "http://localhost:1"}}, 200},
		{"image on another site", "GET", "http://localhost/v1/runs", [][2]string{{"Cookie", cookie}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Mode", "no-cors"}}, 403},
		{"frame on another site", "GET", "http://localhost/", [][2]string{{"Cookie", cookie}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "iframe"}}, 403},
		{"link on another site", "GET", "http://localhost/v1/runs", [][2]string{{"Cookie", cookie}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}}, 200},
		{"own page", "GET", "http://localhost/v1/runs", [][2]string{{"Cookie", cookie}, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Mode", "cors"}}, 200},
		{"post", "POST", "http://localhost/v1/runs", [][2]string{{"Authorization", bearer}}, 405},
		{"delete", "DELETE", "http://localhost/v1/runs/halo", [][2]string{{"Authorization", bearer}}, 405},
		{"options", "OPTIONS", "http://localhost/v1/runs", [][2]string{{"Authorization", bearer}, {"Origin", "http://evil.example"}}, 405},
	} {
		r := httptest.NewRequest(c.method, c.url, nil)
		for _, h := range c.set {
			r.Header.Set(h[0], h[1])
		}
		w := over(s, r)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, w.Code, c.status, w.Body)
		}
		if c.status != 200 && (strings.Contains(w.Body.String(), "mesh") || c.method != "HEAD" && !strings.HasPrefix(w.Body.String(), `{"error":"`)) {
			t.Errorf("%s: %s", c.name, w.Body)
		}
		for name, part := range map[string]string{
			"Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:;", "X-Content-Type-Options": "nosniff",
			"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); !strings.Contains(got, part) || strings.Contains(got, "unsafe-") {
				t.Errorf("%s: %s is %q", c.name, name, got)
			}
		}
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s: allows %s", c.name, got)
		}
	}
}

// The token in an address becomes a cookie, and is removed from the address.
func TestTokenInAddress(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	defer s.Close()
	for _, secure := range []bool{false, true} {
		r := httptest.NewRequest("GET", "http://localhost//evil.example/a%20b?x=1&token="+testToken, nil)
		if secure {
			r.TLS = &tls.ConnectionState{}
		}
		w := over(s, r)
		if to := w.Header().Get("Location"); w.Code != 303 || to != "/evil.example/a%20b?x=1" {
			t.Errorf("status %d, to %s", w.Code, to)
		}
		list := w.Result().Cookies()
		if len(list) != 1 || !list[0].HttpOnly || list[0].SameSite != http.SameSiteStrictMode || list[0].Secure != secure || list[0].Path != "/" {
			t.Fatalf("cookies %v", list)
		}
		r = httptest.NewRequest("GET", "http://localhost/v1/runs", nil)
		r.AddCookie(list[0])
		if w := over(s, r); w.Code != 200 {
			t.Errorf("status %d with the cookie", w.Code)
		}
	}
}

// A server without a token serves nobody over TCP.
func TestNoToken(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t)})
	defer s.Close()
	for _, header := range []string{"", "Bearer ", "Bearer x"} {
		r := httptest.NewRequest("GET", "http://localhost/v1/runs", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		if w := over(s, r); w.Code != 401 {
			t.Errorf("%q: status %d", header, w.Code)
		}
	}
}

// Beyond loopback, addresses are accepted host names, too; other names are not.
func TestBeyondLoopback(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken, Beyond: true})
	defer s.Close()
	for url, status := range map[string]int{"http://192.0.2.1:80/healthz": 200, "http://[2001:db8::1]/healthz": 200, "http://evil.example/healthz": 421} {
		if w := over(s, httptest.NewRequest("GET", url, nil)); w.Code != status {
			t.Errorf("%s: status %d", url, w.Code)
		}
	}
}
