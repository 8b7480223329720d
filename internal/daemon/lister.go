package daemon

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"sync"
)

// Lister lists the runs of a store repeatedly. It reads each summary only once.
type Lister struct {
	store  *Store
	encode func(Summary) Text

	mu    sync.Mutex
	known map[string]*listed
	order []*listed
}

// listed is a run as it was read.
type listed struct {
	Summary
	text  Text
	loose bool // it may be written again, with more parts
	seen  bool // still in the directory
}

// Text is the encoded form of a run.
type Text func() []byte

// NewLister lists the runs of a store. encode, if not nil, makes the text of a run, which is
// kept with it.
func NewLister(s *Store, encode func(Summary) Text) *Lister {
	return &Lister{store: s, encode: encode, known: map[string]*listed{}}
}

// List returns the summaries of all runs, the oldest first, and of launches whose parts are not
// merged; and their texts, if these are made. The caller may change the lists, but not their
// elements.
func (l *Lister) List() (list []Summary, texts []Text, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, jobs, err := l.store.contents()
	if err != nil {
		return nil, nil, err
	}
	var index map[string]Summary
	if len(l.known) == 0 {
		index = l.store.readIndex()
	}
	for _, name := range names {
		l.take(name, jobs[name], index)
		delete(jobs, name)
	}
	for name := range jobs {
		if x, ok := l.store.Unmerged(name); ok {
			l.add(name, x, true)
		}
	}
	l.forget()
	list = make([]Summary, len(l.order))
	for i, x := range l.order {
		list[i] = x.Summary
	}
	if l.encode != nil {
		texts = make([]Text, len(l.order))
		for i, x := range l.order {
			texts[i] = x.text
		}
	}
	return list, texts, nil
}

// take adds a run that exists; parts reports whether the directory of its parts does, too.
func (l *Lister) take(name string, parts bool, index map[string]Summary) {
	if x := l.known[name]; x != nil && !x.loose && !parts {
		x.seen = true
		return
	}
	x, ok := index[name]
	if !ok || parts {
		var err error
		if x, err = l.store.Summary(name); err != nil {
			return // being sealed or removed at this moment
		}
	}
	l.add(name, x, parts)
}

func (l *Lister) add(name string, x Summary, loose bool) {
	n := l.known[name]
	if n == nil {
		n = &listed{}
		l.known[name] = n
		l.order = append(l.order, n)
	}
	n.Summary, n.loose, n.seen = x, loose, true
	if l.encode != nil {
		n.text = l.encode(x)
	}
}

// forget removes runs that are gone, and sorts the rest.
func (l *Lister) forget() {
	l.order = slices.DeleteFunc(l.order, func(x *listed) bool {
		if !x.seen {
			delete(l.known, x.Name)
		}
		return !x.seen
	})
	for _, x := range l.order {
		x.seen = false
	}
	slices.SortFunc(l.order, func(a, b *listed) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Name, b.Name))
	})
}

// contents lists the finished runs, in order, and the directories of parts.
func (s *Store) contents() (runs []string, jobs map[string]bool, err error) {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, nil, err
	}
	summaries, jobs := make(map[string]bool, len(entries)/2), map[string]bool{}
	for _, e := range entries {
		n := e.Name()
		if strings.HasPrefix(n, ".") {
			continue
		}
		if name, ok := strings.CutSuffix(n, summaryExt); ok {
			summaries[name] = true
		} else if name, ok := strings.CutSuffix(n, runExt); ok {
			runs = append(runs, name)
		}
		if e.IsDir() && n != brokenDir {
			jobs[n] = true
		}
	}
	runs = slices.DeleteFunc(runs, func(name string) bool { return !summaries[name] })
	slices.Sort(runs)
	return runs, jobs, nil
}
