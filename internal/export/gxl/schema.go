package gxl

// gxlSchema is where the classes of GXL schemas are, as the documents of GXL 1.0
// refer to them. It is a name: nothing is read from there.
const gxlSchema = "http://www.gupro.de/GXL/gxl-1.0.gxl#"

// schemaNode begins a node of a schema.
func (p *printer) schemaNode(id, class string) {
	p.raw(`<node id="`, id, `"><type xlink:href="`, gxlSchema, class, `"/>`)
}

func (p *printer) schemaEdge(from, to, class string) {
	p.raw(`<edge from="`, from, `" to="`, to, `"><type xlink:href="`, gxlSchema, class, "\"/></edge>\n")
}

// schema writes the metamodel as a GXL schema.
func (p *printer) schema() {
	p.raw("<graph id=\"MTF\">\n<type xlink:href=\"", gxlSchema, "gxl-1.0\"/>\n")
	for _, d := range []domain{domBool, domInt, domString, domSeq} {
		p.schemaNode("domain."+string(d), string(d))
		p.endNode()
	}
	p.schemaClass(&traceClass, "GraphClass")
	for i := range classes {
		p.schemaClass(&classes[i], "NodeClass")
		p.schemaEdge(traceClass.name, classes[i].name, "contains")
	}
	for i := range associations {
		p.schemaAssociation(&associations[i])
	}
	p.raw("</graph>\n")
}

func (p *printer) schemaClass(c *class, kind string) {
	p.schemaNode(c.name, kind)
	p.text("name", c.name)
	if kind == "NodeClass" {
		p.bool("isabstract", c.abstract)
	}
	p.endNode()
	if c.parent != "" {
		p.schemaEdge(c.name, c.parent, "isA")
	}
	for _, a := range c.attrs {
		id := c.name + "-" + a.name
		p.schemaNode(id, "AttributeClass")
		p.text("name", a.name)
		p.endNode()
		p.schemaEdge(c.name, id, "hasAttribute")
		p.schemaEdge(id, "domain."+string(a.domain), "hasDomain")
	}
}

func (p *printer) schemaAssociation(a *association) {
	p.schemaNode(a.name, "EdgeClass")
	p.text("name", a.name)
	p.bool("isabstract", false)
	p.bool("isdirected", true)
	p.endNode()
	p.schemaEdge(traceClass.name, a.name, "contains")
	p.schemaEnd(a.name, a.from, "from", a.fromLimit)
	p.schemaEnd(a.name, a.to, "to", a.toLimit)
}

// schemaEnd writes one end of an association.
func (p *printer) schemaEnd(from, to, class string, limits [2]int) {
	p.raw(`<edge from="`, from, `" to="`, to, `"><type xlink:href="`, gxlSchema, class, `"/>`)
	p.raw(`<attr name="limits"><tup><int>`, itoa(limits[0]), `</int><int>`, itoa(limits[1]), `</int></tup></attr>`)
	p.bool("isordered", false)
	p.raw("</edge>\n")
}
