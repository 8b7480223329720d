package match

// nested reports whether the call that posted the operation was made inside another one.
func (o *Origin) nested() bool { return o.Thread != nil && o.Thread.nodes[o.Node].nested }

// unseen reports whether the operation was posted, or is matched, inside another call.
func (o *Operation) unseen() bool {
	return o.nested() || o.Partner != nil && o.Partner.nested() || o.Collective != nil && o.Collective.nested
}

// show shows the visitor the call that a thread is in, unless it was made inside another one: the
// visitor sees only outermost calls, and nothing of operations that have one side inside a call.
func (m *matcher) show(t *Thread, visit func(*Call)) {
	c := &t.call
	if !m.nested {
		visit(c)
		return
	}
	if t.nodes[c.Node].nested {
		return
	}
	posted, done := c.Posted, c.Done
	c.Posted, c.Done = seen(posted), seen(done)
	visit(c)
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
