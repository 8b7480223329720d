package groundtruth

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// role is what a call does with a handle that it names.
type role uint8

const (
	useHandle role = iota
	newHandle
	freeHandle
	startRequest
	checkStatus
)

// use is one mention of a handle: what the program had and what efg calls it. Uses of all
// threads of a process are checked together, in the order of the logger's clock, because
// objects move between threads.
type use struct {
	time       int64
	order      int // among uses at one time
	role       role
	handle     handle
	name       string
	receive    bool // a new request belongs to a receive
	persistent bool
	typeSize   int64
	status     statusPair
	where      string
}

// statusPair is a status that the logger saw, and what efg shows of it.
type statusPair struct {
	raw  string // source:tag:bytes
	json map[string]any
}

// handles tracks the objects of one process.
type handles struct {
	p        *Process
	uses     []use
	names    map[string]map[int64]string // by class and value; one each
	requests map[int64][]*request        // by value: several live ones can share it
	live     map[string]*request         // by name
}

// request is a live request or message.
type request struct {
	name, address string
	receive       bool
	persistent    bool
	active        bool
	typeSize      int64
}

func newHandles(p *Process) *handles {
	return &handles{p: p, names: map[string]map[int64]string{}, requests: map[int64][]*request{},
		live: map[string]*request{}}
}

// handle records a use of a handle, or compares it if it is predefined.
func (s *stream) handle(call *Call, h handle, v any, role role) string {
	name, ok := v.(string)
	if !ok {
		return fmt.Sprintf("is %v, should be a handle", v)
	}
	if n, ok := s.p.Constants[name]; ok {
		if n != h.value {
			return fmt.Sprintf("is %s, should be %d", name, h.value)
		}
		return ""
	}
	if constant := s.p.predefined[handle{class: h.class, value: h.value}]; constant != "" {
		return fmt.Sprintf("is %s, should be %s", name, constant)
	}
	u := use{time: call.Start, role: role, handle: h, name: s.absolute(name), where: s.where + ": " + call.Line}
	if role == newHandle {
		u.time = call.End
		if h.class == "request" {
			u.receive, u.persistent, u.typeSize = issues(call)
		}
	}
	s.add(u)
	if role == useHandle && freed(call, h) {
		u.role = freeHandle
		s.add(u)
	}
	if role == useHandle && h.class == "request" && strings.HasPrefix(call.Op, "Start") {
		u.role = startRequest
		s.add(u)
	}
	return ""
}

func (s *stream) add(u use) {
	u.order = len(s.uses)
	s.uses = append(s.uses, u)
}

// absolute adds the thread to a name without one.
func (s *stream) absolute(name string) string {
	class, id, ok := strings.Cut(name, ":")
	thread := 0
	if len(s.events) > 0 {
		thread = s.events[0].Thread
	}
	if ok && strings.Contains(id, ".") && !strings.Contains(id, ":") && !slices.Contains([]string{"comm", "win", "file"}, class) {
		return class + ":" + strconv.Itoa(thread) + ":" + id
	}
	return name
}

// freed reports whether the call frees the handle: it is null afterwards.
func freed(call *Call, h handle) bool {
	for _, f := range call.Out {
		in := get(call.In, f.Name)
		if in == "" || !isHandle(in) {
			continue
		}
		before, after := elements(in), elements(f.Raw)
		for i := range before {
			b, ok := parseHandle(before[i])
			if ok && b == h && i < len(after) && after[i] != before[i] {
				return true
			}
		}
	}
	return false
}

// issues describes a call's new request.
func issues(call *Call) (receive, persistent bool, typeSize int64) {
	persistent = strings.HasSuffix(call.Op, "_init")
	size := get(call.In, "_size")
	typeSize, _ = strconv.ParseInt(size, 10, 64)
	return size != "" && !strings.HasPrefix(call.Op, "File_"), persistent, typeSize
}

// check iterates over the uses of all threads in order.
func (h *handles) check(c *Comparison) {
	slices.SortStableFunc(h.uses, func(a, b use) int { return cmp.Compare(a.time, b.time) })
	for i := range h.uses {
		u := &h.uses[i]
		err := ""
		if u.handle.class == "request" || u.handle.class == "message" {
			err = h.request(u)
		} else {
			err = h.object(u)
		}
		if err != "" {
			c.differ("%s (%s)", err, u.where)
			return
		}
	}
}

// unique are the classes in which live objects never share a name.
var unique = []string{"comm", "win", "file", "info", "keyval", "session"}

// object checks that a handle keeps its name while it lives.
func (h *handles) object(u *use) string {
	class := u.handle.class
	m := h.names[class]
	if m == nil {
		m = map[int64]string{}
		h.names[class] = m
	}
	name, bound := m[u.handle.value]
	switch {
	case u.role == freeHandle:
		delete(m, u.handle.value)
		return ""
	case u.role == useHandle && bound:
		if name != u.name {
			return fmt.Sprintf("%s %d was %s and is now %s", class, u.handle.value, name, u.name)
		}
		return ""
	}
	if slices.Contains(unique, class) {
		for v, n := range m {
			if n == u.name && v != u.handle.value {
				return fmt.Sprintf("%s %d and %d are both named %s", class, v, u.handle.value, n)
			}
		}
	}
	m[u.handle.value] = u.name
	return ""
}

func (h *handles) request(u *use) string {
	switch u.role {
	case newHandle:
		if h.live[u.name] != nil {
			return fmt.Sprintf("%s is given to a second live request", u.name)
		}
		r := &request{u.name, u.handle.address, u.receive, u.persistent, !u.persistent, u.typeSize}
		h.live[u.name] = r
		h.requests[u.handle.value] = append(h.requests[u.handle.value], r)
		return ""
	case useHandle:
		return h.find(u)
	}
	r := h.live[u.name]
	if r == nil {
		return fmt.Sprintf("%s is not live", u.name)
	}
	switch u.role {
	case startRequest:
		r.active = true
	case freeHandle:
		delete(h.live, u.name)
		h.requests[u.handle.value] = slices.DeleteFunc(h.requests[u.handle.value], func(q *request) bool { return q == r })
	case checkStatus:
		return h.status(r, u)
	}
	return ""
}

// find checks that efg names a live request with this handle: the last one issued at this
// address, or any if the program moved its handle.
func (h *handles) find(u *use) string {
	candidates := h.requests[u.handle.value]
	for i := len(candidates) - 1; i >= 0; i-- {
		if candidates[i].address == u.handle.address && u.handle.address != "" {
			if candidates[i].name == u.name {
				return ""
			}
			return fmt.Sprintf("%s should be %s, issued with this variable", u.name, candidates[i].name)
		}
	}
	for _, r := range candidates {
		if r.name == u.name {
			return ""
		}
	}
	return fmt.Sprintf("%s is no live request with handle %d", u.name, u.handle.value)
}
