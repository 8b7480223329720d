package groundtruth

import (
	"fmt"
	"strconv"
	"strings"
)

// statuses compares what a call says about the messages it completed or found.
func (s *stream) statuses(call *Call, e *Event) string {
	if call.Err != 0 {
		return ""
	}
	one, many := get(call.Out, "status"), get(call.Out, "array_of_statuses")
	switch {
	case one == "" && many == "":
		return ""
	case many != "":
		s.manyStatuses(call, e, elements(many))
	case get(call.In, "array_of_requests") != "":
		s.anyStatus(call, e, one)
	case get(call.In, "request") != "":
		s.note(call, get(call.In, "request"), e.Args["request"], one, e.Out)
	case strings.HasPrefix(call.Op, "File_"):
		return s.fileStatus(call, e, one)
	default:
		return s.messageStatus(call, e, one)
	}
	return ""
}

// messageStatus compares the status of a blocking receive or a probe.
func (s *stream) messageStatus(call *Call, e *Event, raw string) string {
	size, _ := strconv.ParseInt(get(call.In, "_size"), 10, 64)
	if get(call.In, "_size") == "" {
		size = 1
		if v, ok := e.Out["count"]; ok {
			return fmt.Sprintf("count %v of a probe, which knows bytes only", v)
		}
	}
	return compareStatus(s.p, raw, e.Out, size)
}

// note keeps the status of a request until it is known what the request is.
func (s *stream) note(call *Call, rawRequest string, name any, rawStatus string, json map[string]any) {
	h, ok := parseHandle(rawRequest)
	text, isName := name.(string)
	if !ok || !isName || !strings.HasPrefix(text, "req:") {
		return
	}
	u := use{time: call.Start, role: checkStatus, handle: h, name: s.absolute(text),
		status: statusPair{rawStatus, json}, where: s.where + ": " + call.Line}
	// before the request is freed
	for i := len(s.uses) - 1; i >= 0 && s.uses[i].time == u.time; i-- {
		if s.uses[i].role == freeHandle && s.uses[i].name == u.name {
			s.uses[i].role, u.role = u.role, s.uses[i].role
			s.uses[i].status, u.status = u.status, statusPair{}
			break
		}
	}
	s.add(u)
}

// anyStatus is for Waitany and Testany.
func (s *stream) anyStatus(call *Call, e *Event, raw string) {
	i, err := strconv.Atoi(get(call.Out, "index"))
	requests := elements(get(call.In, "array_of_requests"))
	list, _ := e.Args["array_of_requests"].([]any)
	if err == nil && i >= 0 && i < len(requests) && i < len(list) {
		s.note(call, requests[i], list[i], raw, e.Out)
	}
}

func (s *stream) manyStatuses(call *Call, e *Event, raw []string) {
	requests := elements(get(call.In, "array_of_requests"))
	list, _ := e.Args["array_of_requests"].([]any)
	shown := map[int64]map[string]any{}
	if l, ok := e.Out["statuses"].([]any); ok {
		for _, v := range l {
			if m, ok := v.(map[string]any); ok {
				i, _ := number(m["index"])
				shown[i] = m
			}
		}
	}
	indices := elements(get(call.Out, "array_of_indices"))
	for i := range raw {
		at := i
		if indices != nil {
			at, _ = strconv.Atoi(indices[i])
		}
		if at < 0 || at >= len(requests) || at >= len(list) {
			continue
		}
		s.note(call, requests[at], list[at], raw[i], shown[int64(at)])
	}
}

// status checks the status of a completed request: only receives have one.
func (h *handles) status(r *request, u *use) string {
	if !r.receive || !r.active {
		if _, ok := u.status.json["source"]; ok && !r.receive {
			return fmt.Sprintf("%s has a source but is no receive", r.name)
		}
		return ""
	}
	if r.persistent {
		r.active = false
	}
	return compareStatus(h.p, u.status.raw, u.status.json, r.typeSize)
}

// compareStatus compares source, tag and received count. size is the datatype's.
func compareStatus(p *Process, raw string, json map[string]any, size int64) string {
	parts := strings.Split(raw, ":")
	s := &stream{p: p}
	for i, name := range []string{"source", "tag"} {
		want, _ := strconv.ParseInt(parts[i], 10, 64)
		if got, ok := s.integer(json[name]); !ok || got != want {
			return fmt.Sprintf("%s is %v, should be %d", name, json[name], want)
		}
	}
	return compareCount(parts[2], json, size)
}

func compareCount(raw string, json map[string]any, size int64) string {
	want, _ := strconv.ParseInt(raw, 10, 64)
	if got, ok := number(json["count"]); ok {
		if size == 0 && want == 0 || got*size == want && size > 0 {
			return ""
		}
		return fmt.Sprintf("count is %d of %d bytes, should be %d bytes", got, size, want)
	}
	if got, ok := number(json["bytes"]); !ok || got != want {
		return fmt.Sprintf("count is missing and bytes are %v, should be %d", json["bytes"], want)
	}
	return ""
}

// fileStatus compares the bytes of a file operation.
func (s *stream) fileStatus(call *Call, e *Event, raw string) string {
	size := get(call.In, "_size")
	n, _ := strconv.ParseInt(size, 10, 64)
	_, count := e.Out["count"]
	_, bytes := e.Out["bytes"]
	if size == "" && !count && !bytes {
		return "" // the end of a split operation
	}
	return compareCount(strings.Split(raw, ":")[2], e.Out, n)
}
