package match

// nested reports whether the call that posted the operation was made inside another one.
func (o *Origin) nested() bool { return o.Thread != nil && o.Thread.nodes[o.Node].nested }

// unseen reports whether the operation was posted, or is matched, inside another call.
func (o *Operation) unseen() bool {
	return o.nested() || o.Partner != nil && o.Partner.nested() || o.Collective != nil && o.Collective.nested
}

// separate separates the visitors that see what is inside calls from the others.
func (m *matcher) separate() {
	list, ok := m.visitor.(Visitors)
	if !ok {
		list = Visitors{m.visitor}
	}
	var outer Visitors
	for _, v := range list {
		if x, ok := v.(InnerVisitor); ok {
			m.inner = append(m.inner, x)
		} else {
			outer = append(outer, v)
		}
	}
	m.visitor = outer
}

// show shows visitors the call that a thread is in. Unless they are InnerVisitors, they see only outermost
// calls, and nothing of operations that have one side inside a call.
func (m *matcher) show(t *Thread, visit func(Visitor, *Call)) {
	c := &t.call
	for _, v := range m.inner {
		visit(v, c)
	}
	if !m.nested {
		visit(m.visitor, c)
		return
	}
	if t.nodes[c.Node].nested {
		return
	}
	posted, done := c.Posted, c.Done
	c.Posted, c.Done = seen(posted), seen(done)
	visit(m.visitor, c)
	c.Posted, c.Done = posted, done
}

// seen returns the operations of a list that visitors see.
func seen(list []*Operation) []*Operation {
	for i, o := range list {
		if !o.unseen() {
			continue
		}
		kept := append([]*Operation(nil), list[:i]...)
		for _, o := range list[i+1:] {
			if !o.unseen() {
				kept = append(kept, o)
			}
		}
		return kept
	}
	return list
}

// Inner reports whether the call was made inside another one.
func (c *Call) Inner() bool { return c.Thread.nodes[c.Node].nested }
