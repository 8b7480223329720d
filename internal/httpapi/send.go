package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// tagOf makes an ETag. It is weak: compressed or not, the answer is the same.
func tagOf(parts ...string) string {
	h := sha256.New()
	h.Write(buildID())
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return `W/"` + hex.EncodeToString(h.Sum(nil)[:12]) + `"`
}

// notModified answers the request if the client already has the answer.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	for part := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if p := strings.TrimSpace(part); p == "*" || strings.TrimPrefix(p, "W/") == strings.TrimPrefix(tag, "W/") {
			tagged(w, tag)
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// tagged says that an answer must be revalidated, and is sent again only if it has changed.
func tagged(w http.ResponseWriter, tag string) {
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
}

// send writes an answer, compressed if the client accepts that.
func (x *answer) send(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", x.contentType)
	if x.tag != "" {
		tagged(w, x.tag)
	} else {
		h.Set("Cache-Control", "no-store")
	}
	h.Add("Vary", "Accept-Encoding")
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", fmt.Sprint(len(x.zipped)))
		if r.Method != http.MethodHead {
			w.Write(x.zipped) // the client may have left
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

// buildID identifies the build of this program: another one may answer differently.
var buildID = sync.OnceValue(func() []byte {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	sum := sha256.Sum256([]byte(info.String()))
	return sum[:8]
})
