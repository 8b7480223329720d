package mix

import "sync"

// streamPiece is after how many bytes a decoder that waits is told of more.
const streamPiece = 64

// Stream carries the code of an encoder to a decoder that works at the same time. The encoder never waits.
type Stream struct {
	mu    sync.Mutex
	grown sync.Cond
	code  []byte
	ended bool
}

// NewStream returns a stream without code.
func NewStream() *Stream {
	s := &Stream{}
	s.grown.L = &s.mu
	return s
}

// End says that there is no more code, as Finish does. It may be called again.
func (s *Stream) End() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.grown.Signal()
}

// set says what the code is so far. Bytes that are in it must not change.
func (s *Stream) set(code []byte) {
	s.mu.Lock()
	s.code = code
	s.mu.Unlock()
	s.grown.Signal()
}

// after waits for code beyond the first n bytes, and returns it; none if there is no more.
func (s *Stream) after(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.code) == n && !s.ended {
		s.grown.Wait()
	}
	return s.code[n:]
}

// size waits for the end, and returns the number of bytes.
func (s *Stream) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended {
		s.grown.Wait()
	}
	return len(s.code)
}
