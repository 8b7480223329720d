package main

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// forcing is how a replay forces the outcome of a call: by a C function that reports whether it
// has made the call.
type forcing struct {
	call string
	pass map[string]string // what is passed on in place of parameters, if it has not
	// locals are declared for these.
	locals []string
	again  string // whether a call that was not made is made once more
}

// force determines x.forced: what a replay calls, nil for procedures whose outcome is not open.
func (x *body) force() {
	r := &x.p.Roles
	switch {
	case x.p.Class != signature.Event:
	case r.Source != 0 && !x.p.Persistent:
		x.forced = x.forcedSource()
	case r.Source != 0 && r.Recv.Parts == 0:
		x.prepares()
	case x.p.Starts && x.p.Vector(r.Requests):
		x.forced = &forcing{call: "bk_replay_start_all(b, &many, &rc)"}
	case x.p.Starts:
		x.forced = &forcing{call: fmt.Sprintf("bk_replay_start_one(b, %s, &rc)", x.value(x.of(r.Requests)))}
	case x.p.Completes == signature.CompletesAll:
		x.forced = &forcing{call: fmt.Sprintf("bk_replay_all(b, &many, %s, %s, &rc)", x.name(r.Flag), x.passedOf(r.Statuses))}
	case x.onOne() != "":
		x.forced = x.forcedOne(x.onOne())
	case x.p.Completes == signature.CompletesAny:
		x.forced = &forcing{call: fmt.Sprintf("bk_replay_any(b, &many, %s, %s, %s, &rc)", x.name(r.Index), x.name(r.Flag), x.passedOf(r.StatusSource))}
	case x.p.OnlyFlag():
		flag := x.name(r.Flag)
		x.forced = &forcing{
			call:   fmt.Sprintf("bk_replay_poll(&polled, %s, &rc)", flag),
			locals: []string{"bk_waiting polled = { .b = b };"},
			again:  fmt.Sprintf("bk_replay_again(&polled, %s, rc)", flag),
		}
	case x.p.Completes == signature.CompletesSome:
		x.forced = &forcing{call: fmt.Sprintf("bk_replay_some(b, &many, %t, %s, %s, %s, &rc)", x.p.Poll, x.name(r.Outcount), x.name(r.Indices), x.passedOf(r.Statuses))}
	}
}

// onOne is what the call does to its only request; "" if it has none.
func (x *body) onOne() string {
	switch {
	case x.p.Completes == signature.CompletesOne && x.p.Poll:
		return "BK_TESTS"
	case x.p.Completes == signature.CompletesOne:
		return "BK_WAITS"
	case x.p.Peeks == signature.CompletesOne:
		return "BK_PEEKS"
	case x.p.Cancels:
		return "BK_CANCELS"
	case x.p.FreesRequest():
		return "BK_FREES"
	}
	return ""
}

// forcedOne forces the outcome of a call on one request, or makes the call on the request that
// takes its place.
func (x *body) forcedOne(how string) *forcing {
	q, status := x.of(x.p.Roles.Requests), "NULL"
	if s := x.p.Roles.StatusSource; s != 0 {
		status = x.passedOf(s)
	}
	return &forcing{call: fmt.Sprintf("bk_replay_one(b, %s, %s, %s, %s, %s, &rc)", how, x.value(q), x.address(q), x.name(x.p.Roles.Flag), status)}
}

// prepares notes a persistent receive of any source or tag.
func (x *body) prepares() {
	r := &x.p.Roles
	buffer := x.of(r.Recv.Buffer)
	descriptor := "NULL"
	if x.fortran {
		descriptor = "BK_HOW_TS(how) ? " + buffer.Name + " : NULL"
	}
	x.then("if (bk_unlikely(b->turn != NULL) && rc == MPI_SUCCESS)")
	x.then("    bk_replay_prepared(b, %s, %s, %s, %s, %s, (int)%s, (int)%s, %s);", x.now(x.of(r.Request)), x.value(buffer),
		descriptor, x.value(x.of(r.Recv.Count)), x.value(x.of(r.Recv.Type)), x.value(x.of(r.Source)), x.value(x.of(r.RecvTag)), x.comm())
}

// name is the name of the parameter of a word, NULL if the procedure has no such word.
func (x *body) name(word int) string {
	if word == 0 {
		return "NULL"
	}
	return x.of(word).Name
}

// passedOf is what is passed on for the parameter of a word.
func (x *body) passedOf(word int) string { return x.passed(x.p.Words[word].Param) }

// forcedSource forces source and tag of a receive or probe.
func (x *body) forcedSource() *forcing {
	r := &x.p.Roles
	how := "BK_RECEIVES"
	switch {
	case r.Request != 0 || r.Dest != 0:
		how = "BK_POSTS"
	case x.p.Poll:
		how = "BK_POLLS"
	}
	f := &forcing{pass: map[string]string{}}
	for _, w := range []int{r.Source, r.RecvTag} {
		q := x.of(w)
		own := q.Name + "_r"
		f.locals = append(f.locals, fmt.Sprintf("int %s = (int)%s;", own, x.value(q)))
		if f.pass[q.Name] = own; x.fortran {
			f.pass[q.Name] = "&" + own
		}
	}
	f.call = fmt.Sprintf("bk_replay_source(b, %s, %s, &%s_r, &%s_r, %s, &rc)", x.comm(), how, x.name(r.Source), x.name(r.RecvTag), x.name(r.Flag))
	return f
}

// callText is the C code that makes the call with these arguments; names are those of the parameters.
func (x *body) callText(names, args []string) string {
	call := "real(" + list(args) + ");"
	switch {
	case x.fortran && (x.p.NoIerror || x.p.NoReturn):
		return call
	case x.forced == nil && x.fortran:
		return call + "\n    const int rc = *ierr;"
	case x.forced == nil:
		return "const int rc = " + call
	}
	return x.forcedText(call, names, args)
}

// forcedText is callText for a call whose outcome a replay forces.
func (x *body) forcedText(call string, names, args []string) string {
	result := func(call string) string {
		if x.fortran {
			return call + "\n"
		}
		return "rc = " + call + "\n"
	}
	forced := make([]string, len(args))
	for i := range args {
		if forced[i] = args[i]; x.forced.pass[names[i]] != "" {
			forced[i] = x.forced.pass[names[i]]
		}
	}
	var b strings.Builder
	b.WriteString("int rc;\n    if (bk_likely(b->turn == NULL)) {\n        " + result(call))
	if x.fortran {
		b.WriteString("        rc = *ierr;\n")
	}
	b.WriteString("    } else {\n")
	for _, l := range x.forced.locals {
		b.WriteString("        " + l + "\n")
	}
	b.WriteString("        if (!" + x.forced.call + ") ")
	switch {
	case x.forced.again != "":
		b.WriteString("do {\n            " + result("real("+list(forced)+");"))
		if x.fortran {
			b.WriteString("            rc = *ierr;\n")
		}
		b.WriteString("        } while (" + x.forced.again + ");\n")
		if x.fortran {
			b.WriteString("        *ierr = rc;\n")
		}
		b.WriteString("    }")
	case x.fortran:
		b.WriteString("{\n            " + "real(" + list(forced) + ");\n            rc = *ierr;\n        }\n        *ierr = rc;\n    }")
	default:
		b.WriteString(result("real("+list(forced)+");") + "    }")
	}
	return b.String()
}
