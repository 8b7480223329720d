package reconstruct

// NodeText is the human-readable form of a node.
type NodeText struct {
	Op   string
	Args []string // "dest=3", or "-> flag=1" for results; "tag=*" if it varies
	Site string
}

// Describe returns the text of a node of Streams[i].
func (p *Process) Describe(i, node int) NodeText {
	s := p.streams[i]
	e := &Event{stream: s, node: &s.nodes[node], number: node, track: newTracker(s, false)}
	t := NodeText{Op: e.Op(), Site: e.names().Callsite(e.node.words[1])}
	args, outs := e.node.fields()
	for _, f := range append(args, outs...) {
		arrow := ""
		if f.out && f.word != e.node.request {
			arrow = "-> "
		}
		if !e.node.constant(&f) {
			t.Args = append(t.Args, arrow+f.name+"=*")
			continue
		}
		if f.form == requestVector {
			e.track.array, e.track.constant = e.vec(f.word)
		}
		if b := e.appendField([]byte{'('}, &f, textStyle); len(b) > 1 {
			t.Args = append(t.Args, arrow+string(b[1:]))
		}
	}
	if e.Failed() {
		t.Args = append(t.Args, "-> error="+ErrorName(e.node.header.ErrorClass()))
	}
	return t
}
