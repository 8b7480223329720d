package gxl

import (
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// element is an element of a document as a tree.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

func parseTree(t *testing.T, doc string) *element {
	t.Helper()
	root := &element{}
	path := []*element{root}
	for dec := xml.NewDecoder(strings.NewReader(doc)); ; {
		token, err := dec.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		top := path[len(path)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				name := a.Name.Local
				if a.Name.Space != "" {
					name = a.Name.Space + ":" + name
				}
				e.attrs[name] = a.Value
			}
			top.children = append(top.children, e)
			path = append(path, e)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			top.text += string(token)
		}
	}
	return root.children[0]
}

// model is what GXL 1.0 says about an element: the order of its children, each followed by a
// blank, whether it holds text, and its attributes.
type model struct {
	content  string
	text     bool
	must     []string
	may      []string
	compiled *regexp.Regexp
}

const values = `(locator|bool|int|float|string|enum|seq|set|bag|tup) `

var models = map[string]*model{
	"gxl":    {content: `(graph )*`, may: []string{"xmlns:xlink"}},
	"graph":  {content: `(type )?(attr )*((node|edge|rel) )*`, must: []string{"id"}, may: []string{"role", "edgeids", "hypergraph", "edgemode"}},
	"node":   {content: `(type )?(attr )*(graph )*`, must: []string{"id"}},
	"edge":   {content: `(type )?(attr )*(graph )*`, must: []string{"from", "to"}, may: []string{"id", "fromorder", "toorder", "isdirected"}},
	"type":   {must: []string{"xlink:href"}, may: []string{"xlink:type"}},
	"attr":   {content: `(attr )*` + values, must: []string{"name"}, may: []string{"id", "kind"}},
	"bool":   {text: true},
	"int":    {text: true},
	"string": {text: true},
	"seq":    {content: `(` + values + `)*`},
	"tup":    {content: `(` + values + `)*`},
}

var xmlName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*$`)

// validate checks a document against GXL 1.0.
func validate(t *testing.T, root *element) {
	t.Helper()
	ids := map[string]bool{}
	var refs []string
	var visit func(e *element)
	visit = func(e *element) {
		m := models[e.name]
		if m == nil {
			t.Fatalf("element %s", e.name)
		}
		if m.compiled == nil {
			m.compiled = regexp.MustCompile(`^` + m.content + `$`)
		}
		var inside strings.Builder
		for _, c := range e.children {
			inside.WriteString(c.name + " ")
			visit(c)
		}
		if !m.compiled.MatchString(inside.String()) {
			t.Fatalf("%s %v holds %.200s", e.name, e.attrs, inside.String())
		}
		if !m.text && strings.TrimSpace(e.text) != "" {
			t.Fatalf("%s %v has the text %q", e.name, e.attrs, e.text)
		}
		for _, a := range m.must {
			if e.attrs[a] == "" {
				t.Fatalf("%s without %s", e.name, a)
			}
		}
		for a := range e.attrs {
			if !slices.Contains(m.must, a) && !slices.Contains(m.may, a) {
				t.Fatalf("%s has an attribute %s", e.name, a)
			}
		}
		if id := e.attrs["id"]; id != "" {
			if ids[id] || !xmlName.MatchString(id) {
				t.Fatalf("id %q is there twice, or is none", id)
			}
			ids[id] = true
		}
		if e.name == "edge" {
			refs = append(refs, e.attrs["from"], e.attrs["to"])
		}
	}
	visit(root)
	for _, r := range refs {
		if !ids[r] {
			t.Fatalf("an edge to %q, which is not there", r)
		}
	}
}

// kind is the class of a node, edge or graph.
func (e *element) kind() string {
	for _, c := range e.children {
		if c.name == "type" {
			href := c.attrs["xlink:href"]
			return href[strings.LastIndexByte(href, '#')+1:]
		}
	}
	return ""
}

func (e *element) attr(name string) *element {
	for _, c := range e.children {
		if c.name == "attr" && c.attrs["name"] == name {
			return c.children[len(c.children)-1]
		}
	}
	return nil
}

// readSchema is the metamodel according to a document's own schema.
type readSchema struct {
	kinds    map[string]string // of schema nodes, by id: NodeClass, AttributeClass ...
	names    map[string]string
	abstract map[string]bool
	parents  map[string]string
	attrs    map[string][]string // ids of attribute classes, by class
	domains  map[string]string
	from, to map[string]string
	// limits of the ends of associations, by association and end.
	limits map[[2]string][2]string
}

func schemaOf(t *testing.T, graph *element) *readSchema {
	s := &readSchema{map[string]string{}, map[string]string{}, map[string]bool{}, map[string]string{}, map[string][]string{},
		map[string]string{}, map[string]string{}, map[string]string{}, map[[2]string][2]string{}}
	for _, e := range graph.children {
		switch e.name {
		case "node":
			id := e.attrs["id"]
			s.kinds[id] = e.kind()
			if n := e.attr("name"); n != nil {
				s.names[id] = n.text
			}
			if a := e.attr("isabstract"); a != nil {
				s.abstract[id] = a.text == "true"
			}
		case "edge":
			from, to := e.attrs["from"], e.attrs["to"]
			switch e.kind() {
			case "isA":
				s.parents[from] = to
			case "hasAttribute":
				s.attrs[from] = append(s.attrs[from], to)
			case "hasDomain":
				s.domains[from] = s.kinds[to]
			case "from", "to":
				s.ends(e)[from] = to
				if l := e.attr("limits"); l != nil && len(l.children) == 2 {
					s.limits[[2]string{from, e.kind()}] = [2]string{l.children[0].text, l.children[1].text}
				}
			case "contains":
			default:
				t.Fatalf("edge of class %s in the schema", e.kind())
			}
		}
	}
	return s
}

func (s *readSchema) ends(e *element) map[string]string {
	if e.kind() == "from" {
		return s.from
	}
	return s.to
}

// within reports whether a number of objects is within the limits of an end.
func (s *readSchema) within(n int, association, end string) bool {
	l := s.limits[[2]string{association, end}]
	low, err1 := strconv.Atoi(l[0])
	high, err2 := strconv.Atoi(l[1])
	return err1 == nil && err2 == nil && n >= low && (high == -1 || n <= high)
}

func (s *readSchema) isA(class, want string) bool {
	for ; class != ""; class = s.parents[class] {
		if class == want {
			return true
		}
	}
	return false
}

// domain is the domain of an attribute of a class, "" if the class does not have it.
func (s *readSchema) domain(class, name string) string {
	for ; class != ""; class = s.parents[class] {
		for _, id := range s.attrs[class] {
			if s.names[id] == name {
				return s.domains[id]
			}
		}
	}
	return ""
}

// conform checks that the trace is an instance of the document's own metamodel.
func conform(t *testing.T, root *element) {
	t.Helper()
	if len(root.children) != 2 || root.children[0].attrs["id"] != "MTF" || root.children[1].kind() != "MPITrace" {
		t.Fatal("want a metamodel and a trace")
	}
	s := schemaOf(t, root.children[0])
	classes := map[string]string{}
	for _, e := range root.children[1].children {
		if e.name != "node" {
			continue
		}
		class := e.kind()
		if s.kinds[class] != "NodeClass" || s.abstract[class] {
			t.Fatalf("node %s of class %q", e.attrs["id"], class)
		}
		classes[e.attrs["id"]] = class
		for _, a := range e.children {
			if a.name != "attr" {
				continue
			}
			value := a.children[len(a.children)-1]
			if want := s.domain(class, a.attrs["name"]); want == "" || strings.ToLower(want) != value.name {
				t.Fatalf("%s has an attribute %s that is a %s: the metamodel says %q", class, a.attrs["name"], value.name, want)
			}
		}
	}
	count := map[[3]string]int{} // by object, association and the end that is counted
	for _, e := range root.children[1].children {
		if e.name != "edge" {
			continue
		}
		class, from, to := e.kind(), classes[e.attrs["from"]], classes[e.attrs["to"]]
		if s.kinds[class] != "EdgeClass" || !s.isA(from, s.from[class]) || !s.isA(to, s.to[class]) {
			t.Fatalf("edge of class %q from %s %s to %s %s", class, from, e.attrs["from"], to, e.attrs["to"])
		}
		count[[3]string{e.attrs["from"], class, "to"}]++
		count[[3]string{e.attrs["to"], class, "from"}]++
	}
	for id, class := range classes {
		for a, kind := range s.kinds {
			if kind != "EdgeClass" {
				continue
			}
			if n := count[[3]string{id, a, "to"}]; s.isA(class, s.from[a]) && !s.within(n, a, "to") {
				t.Fatalf("%s %s: %d associations %s", class, id, n, a)
			}
			if n := count[[3]string{id, a, "from"}]; s.isA(class, s.to[a]) && !s.within(n, a, "from") {
				t.Fatalf("%s %s: associated %d times by %s", class, id, n, a)
			}
		}
	}
}
