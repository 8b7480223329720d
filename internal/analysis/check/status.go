package check

import "github.com/efg-tools/efg/signature"

// statusReader determines the requests of a call, and the senders and tags that it returned.
type statusReader struct {
	r    *roles
	word func(int) uint64
	vec  func(int) ([]uint64, bool)
}

func (s *statusReader) each(array []uint64, f func(position int, id, source, tag uint64)) {
	r := s.r
	if r.starts || r.frees || !r.vec {
		for k, id := range array {
			f(k, id, s.word(r.statusSource), s.word(r.statusTag))
		}
		return
	}
	switch r.completes {
	case "any":
		if at := s.word(r.index); at < uint64(len(array)) {
			f(int(at), array[at], s.word(r.statusSource), s.word(r.statusTag))
		}
	case "some":
		indices, _ := s.vec(r.indices)
		quads := s.quads()
		for k, at := range indices {
			if at < uint64(len(array)) {
				source, tag := quads.of(k)
				f(int(at), array[at], source, tag)
			}
		}
	case "all":
		quads := s.quads()
		for k, id := range array {
			source, tag := quads.of(k)
			f(k, id, source, tag)
		}
	}
}

// changedStatuses are statuses that differ from what was posted: position, source, tag, bytes.
type changedStatuses []uint64

func (s *statusReader) quads() changedStatuses {
	q, _ := s.vec(s.r.statuses)
	return q
}

func (q *changedStatuses) of(k int) (source, tag uint64) {
	for len(*q) >= 4 && (*q)[0] < uint64(k) {
		*q = (*q)[4:]
	}
	if len(*q) >= 4 && (*q)[0] == uint64(k) {
		return (*q)[1], (*q)[2]
	}
	return signature.AsPosted, signature.AsPosted
}
