package httpapi

import (
	"net/http"
	"time"
)

// writeTimeout is how long a client may take for one piece.
const writeTimeout = 30 * time.Second

// deadlineWriter gives up on clients that do not read, however long an answer is.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// piece is the size of a single write.
const piece = 64 << 10

func (w *deadlineWriter) Write(p []byte) (n int, err error) {
	for first := true; first || len(p) > 0; first = false {
		w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not all writers of tests have a deadline
		k, err := w.ResponseWriter.Write(p[:min(len(p), piece)])
		n += k
		if err != nil {
			return n, err
		}
		p = p[k:]
	}
	return n, nil
}

// Unwrap is for http.ResponseController.
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// statusWriter records the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
