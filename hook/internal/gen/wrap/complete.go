package main

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// request adds the slot word of a new request, and its entry in the map of
// requests once it has an id.
func (x *body) request(i int, q *signature.Param) {
	h := x.now(q)
	x.result(i, "", fmt.Sprintf("BK_KEY(%s) == BK_KEY(MPI_REQUEST_NULL) ? K(MPI_REQUEST_NULL) : EFG_NEW", h))
	bytes, flags := "0", "BK_ACTIVE"
	if x.p.Persistent {
		flags = "BK_PERSISTENT"
	}
	if x.p.Receives() {
		var wild string
		bytes, wild = x.posted()
		x.in("const uint64_t posted = %s;", bytes)
		bytes, flags = "posted", flags+" | BK_RECV"+wild
	}
	x.made = true
	x.then("if (made)")
	x.then("    bk_request_add(BK_KEY(%s), %s, made, b->t->slots, %s, %s);", h, q.Name, bytes, flags)
}

// of returns the parameter that a word belongs to, nil if the procedure has no such word.
func (x *body) of(word int) *signature.Param {
	if word == 0 {
		return nil
	}
	return &x.p.Params[x.p.Words[word].Param]
}

// posted is the number of bytes that a receive was posted for, and the flag for one without
// source and tag.
func (x *body) posted() (bytes, wild string) {
	r := &x.p.Roles
	count := x.value(x.of(r.Recv.Count))
	typ := x.value(x.of(r.Recv.Type))
	bytes = fmt.Sprintf("(uint64_t)%s * bk_type_size(b, %s)", count, typ)
	if q := x.of(r.Recv.Parts); q != nil {
		bytes += " * (uint64_t)" + x.value(q)
	}
	source, tag := x.of(r.Source), x.of(r.RecvTag)
	if source == nil {
		return bytes, " | BK_WILD" // of a matched message: the posting call does not have them
	}
	return bytes, fmt.Sprintf(" | bk_wild(%s, %s)", x.value(source), x.value(tag))
}

// which is the set of requests that a call completes or inspects, "" if none.
func (x *body) which() string { return x.p.Completes + x.p.Peeks }

// completion adds the statements for word i if calls that complete, start or free requests
// treat it specially.
func (x *body) completion(i int, q *signature.Param) bool {
	p := x.p
	special := x.which() != "" || p.Starts || (p.Frees && q.Kind == signature.Req)
	if !special {
		return false
	}
	switch {
	case q.Kind == signature.Req && q.Len == nil:
		x.in("bk_one one;")
		x.in("w[%d] = bk_one_begin(&one, BK_KEY(%s), %s);", i, x.value(q), x.address(q))
		x.settleOne(q)
	case q.Kind == signature.Req:
		x.in("bk_many many;")
		x.in("w[%d] = bk_many_begin(b, &many, %d, %s, %s);", i, i, q.Name, x.length(q.Len))
		x.settleMany()
	case q.Kind == signature.Status:
		x.statusOf(i, q)
	case q.Kind == signature.Statuses:
		x.statusesOf(i, q)
	case q.Kind == signature.Index && q.Len == nil:
		x.result(i, x.found(), "position < 0 ? K(MPI_UNDEFINED) : (uint64_t)position")
	case q.Kind == signature.Index:
		x.result(i, "npos > 0", fmt.Sprintf("bk_vec(b, %d, pos, npos)", i))
	default:
		return false
	}
	return true
}

// ok is the C condition that the call succeeded and found something.
func (x *body) ok() string {
	if f := x.found(); f != "" {
		return "rc == MPI_SUCCESS && " + f
	}
	return "rc == MPI_SUCCESS"
}

func (x *body) settleOne(q *signature.Param) {
	switch {
	case x.p.Starts:
		x.then("if (rc == MPI_SUCCESS && one.r.at >= 0) bk_request_start(one.r.at, one.r.serial);")
	case x.p.Frees:
		x.then("if (rc == MPI_SUCCESS && one.r.at >= 0) bk_request_free(one.r.at, one.r.serial);")
	case x.p.Completes != "":
		x.then("bk_one_end(&one, %s, rc != MPI_SUCCESS, BK_KEY(%s));", x.ok(), x.now(q))
	}
}

// settleMany declares the values of the outputs of the call and settles the requests. The
// declarations come first among the outputs.
func (x *body) settleMany() {
	const failed = "rc != MPI_SUCCESS"
	switch {
	case x.p.Starts:
		x.then("bk_many_start(b, &many, %s);", failed)
		return
	case x.which() == signature.CompletesAny:
		x.in("int64_t position = -1;")
		s := fmt.Sprintf("position = bk_position(b, &many, %s);", x.now(x.of(x.p.Roles.Index)))
		if f := x.found(); f != "" {
			s = fmt.Sprintf("if (%s) %s", f, s)
		}
		x.out = append(x.out, s)
	case x.which() == signature.CompletesSome:
		x.in("int64_t npos = 0;")
		x.in("const uint64_t *pos = NULL;")
		x.out = append(x.out,
			fmt.Sprintf("npos = %s;", x.now(x.of(x.p.Roles.Outcount))),
			fmt.Sprintf("pos = bk_positions(b, &many, %s, npos);", x.of(x.p.Roles.Indices).Name),
			"if (pos == NULL) npos = 0;")
	}
	if x.p.Peeks != "" {
		x.then("bk_many_peek_end(b, &many, %s);", failed)
		return
	}
	switch x.which() {
	case signature.CompletesAny:
		x.then("bk_many_end(b, &many, &(const uint64_t){ (uint64_t)position }, position >= 0, %s);", failed)
	case signature.CompletesSome:
		x.then("bk_many_end(b, &many, pos, npos, %s);", failed)
	default:
		n := "BK_ALL"
		if x.found() != "" {
			n = x.ok() + " ? BK_ALL : 0"
		}
		x.then("bk_many_end(b, &many, NULL, %s, %s);", n, failed)
	}
}

// statusOf is the status of a call that completes at most one request.
func (x *body) statusOf(i int, q *signature.Param) {
	name := q.Name + "_v"
	x.pass[x.p.Param(q.Name)] = name
	found := x.found()
	if found != "" {
		found += " && "
	}
	if x.which() == signature.CompletesOne {
		x.in("void *const %s = bk_one_status(b, &one, %s);", name, q.Name)
		x.statusResult(i, found+"one.recv", fmt.Sprintf("bk_receive_words(b, w + %d, %s, &one.r)", i, name))
		return
	}
	x.in("void *const %s = bk_many_status(b, &many, %s);", name, q.Name)
	x.statusResult(i, found+"bk_many_recv(&many, position)",
		fmt.Sprintf("bk_receive_words(b, w + %d, %s, &many.l->r[position])", i, name))
}

// statusesOf is the array of statuses of a call that completes several.
func (x *body) statusesOf(i int, q *signature.Param) {
	name := q.Name + "_v"
	x.pass[x.p.Param(q.Name)] = name
	x.in("void *const %s = bk_many_statuses(b, &many, %s);", name, q.Name)
	if x.which() == signature.CompletesSome {
		x.result(i, "npos > 0", fmt.Sprintf("bk_many_status_word(b, &many, %d, %s, pos, npos)", i, name))
		return
	}
	x.result(i, x.found(), fmt.Sprintf("bk_many_status_word(b, &many, %d, %s, NULL, many.n)", i, name))
}
