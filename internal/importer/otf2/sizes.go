package otf2

import "github.com/efg-tools/efg/signature"

// collective sets the words that the record of a collective call tells.
func (p *process) collective(r *record) {
	w, roles := &p.words, &p.words.Proc.Roles
	if !w.Proc.Collective() || w.Proc.ObjectKind() != signature.Comm {
		p.reader.skipped.outside++
		return
	}
	p.setComm(r.fields[1])
	w.Set(roles.Root, p.peer(r.fields[1], r.fields[2]))
	n := uint64(p.reader.comms[r.fields[1]].size)
	if w.Proc.Shape == signature.NoData || n == 0 {
		return
	}
	send, recv := p.blocks(w.Proc, r.fields[3], r.fields[4], n)
	// Where both are the same words, the last one that is known counts.
	for _, x := range []struct {
		d *signature.Payload
		n uint64
	}{{&roles.Recv, recv}, {&roles.Send, send}} {
		if x.n != signature.Absent {
			w.SetBytes(x.d, x.n)
		}
	}
}

// blocks are the sizes of what a caller sends to, or receives from, one member, by what it sends
// and receives in all; absent where that does not follow.
//
// efg counts what a caller contributes and gets. Score-P counts what it exchanges with each member,
// itself included: the root of a broadcast sends n times as much as each member receives. MPI_IN_PLACE
// leaves the own part out, which cannot be seen if the rest is a multiple of n, too.
func (p *process) blocks(proc *signature.Proc, sent, received, n uint64) (send, recv uint64) {
	absent := signature.Absent
	share := func(total uint64) uint64 {
		if total%n != 0 {
			return absent
		}
		return total / n
	}
	a := &proc.Roles
	switch reduces := proc.Reduces(); proc.Shape {
	case signature.OneToAll:
		switch {
		case !a.Send.Blocks: // MPI_Bcast
			if received == 0 {
				received = sent
			}
			return received, received
		case sent == 0:
			return absent, received
		case received == 0: // in place
			return share(sent), absent
		}
		return received, received
	case signature.AllToOne:
		switch {
		case reduces && sent == 0 && received > 0, sent == 0 && received > 0: // in place
			return absent, share(received)
		case reduces:
			return sent, sent
		case received == 0:
			return sent, absent
		}
		return sent, sent
	case signature.AllToAll:
		switch {
		case !p.reader.own && !a.Send.Blocks:
			sent = share(sent)
		case a.Send.Blocks:
			sent = share(sent)
		}
		switch {
		case reduces:
			return sent, sent
		case proc.Vector(a.Recv.Count):
			return sent, absent
		}
		return share(received), share(received)
	case signature.Prefix:
		if p.reader.own {
			return sent, sent
		}
	}
	return absent, absent
}
