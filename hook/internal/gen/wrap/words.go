package main

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// word adds the statements for word i.
func (x *body) word(i int) error {
	wd := x.p.Words[i]
	q := &x.p.Params[wd.Param]
	switch {
	case wd.Part == signature.High:
		x.in("bk_%s_words(w + %d, %s);", q.Kind, i, q.Name)
	case wd.Part == signature.Low:
		// The first word of a wide value stands for both.
	case !x.has(q):
		x.in("w[%d] = EFG_ABSENT;", i)
	case wd.Part != signature.Whole && wd.Part != signature.Source && q.Kind == signature.Status:
		// The first word of a status stands for all three.
	case x.completion(i, q):
	case q.Kind == signature.Status:
		x.statusResult(i, x.found(), fmt.Sprintf("bk_status_words(w + %d, %s)", i, x.status(q)))
	case q.Kind == signature.FStatus:
		x.result(i, x.found(), "bk_status_bytes("+x.status(q)+")")
	case q.Kind == signature.Statuses:
		return fmt.Errorf("an array of statuses outside of a completion")
	case !wd.Out:
		x.in("w[%d] = %s;", i, x.inputWord(i, q))
	default:
		return x.output(i, q)
	}
	return nil
}

// inputWord is the expression of an input word: integers and buffers are
// recorded as they are, whether significant or not.
func (x *body) inputWord(i int, q *signature.Param) string {
	expr := x.input(i, q)
	if q.Len == nil && (q.Kind.Integer() || q.Kind == signature.Buf) {
		return expr
	}
	return x.significant(q, expr)
}

// found is the condition under which a successful call has results: its flag, if it has one.
func (x *body) found() string {
	if q := x.of(x.p.Roles.Flag); q != nil {
		return x.now(q) + " != 0"
	}
	return ""
}

// status passes a private status if the program ignores it.
func (x *body) status(q *signature.Param) string {
	name := q.Name + "_v"
	i := x.p.Param(q.Name)
	if x.pass[i] == "" {
		x.pass[i] = name
		x.in("void *const %s = bk_status_ignored(b, %s) ? &b->status : %s;", name, q.Name, q.Name)
	}
	return name
}

// input is the expression of the word of an input argument.
func (x *body) input(i int, q *signature.Param) string {
	switch {
	case q.Len != nil:
		return x.array(i, q)
	case q.Kind.Integer():
		return intWord(q, x.value(q))
	case q.Kind == signature.Buf:
		return "bk_buffer(b, " + x.value(q) + ")"
	case q.Kind == signature.Str && x.fortran:
		return fmt.Sprintf("bk_fstring(%s, %s_len)", q.Name, q.Name)
	case q.Kind == signature.Str && x.p.Annotates():
		return fmt.Sprintf("bk_text(b, %s, %s_len)", q.Name, q.Name)
	case q.Kind == signature.Str:
		return "bk_string(" + q.Name + ")"
	case q.Kind == signature.Req:
		return fmt.Sprintf("bk_request_word(BK_KEY(%s), %s)", x.value(q), x.address(q))
	}
	return x.handleWord(q, x.value(q))
}

// address is the address of the program's variable of a request.
func (x *body) address(q *signature.Param) string {
	if !x.fortran && q.Dir == signature.In && q.Len == nil {
		return "NULL" // passed by value: the variable is unknown
	}
	return q.Name
}

// handleWord is the expression of the word of an existing handle.
func (x *body) handleWord(q *signature.Param, value string) string {
	if o := handles[q.Kind].object; o != "" {
		return fmt.Sprintf("bk_object_word(%s, BK_KEY(%s))", o, value)
	}
	switch q.Kind {
	case signature.Comm, signature.Type, signature.Op:
		return fmt.Sprintf("bk_%s_word(b, %s)", q.Kind, value)
	}
	return fmt.Sprintf("bk_%s_word(%s)", q.Kind, value)
}

// array is the expression of the word of an array. It is evaluated when the array is valid:
// before the call for inputs, after it for outputs.
func (x *body) array(i int, q *signature.Param) string {
	n := x.length(q.Len)
	switch q.Kind {
	case signature.Type, signature.Info:
		made := ""
		if q.Dir == signature.Out {
			made = "new_"
		}
		return fmt.Sprintf("bk_vec_%s%s(b, %d, %s, %s)", made, q.Kind, i, q.Name, n)
	case signature.Str:
		if x.fortran {
			return fmt.Sprintf("bk_vec_fstrings(b, %d, %s, %s, %s_len)", i, q.Name, n, q.Name)
		}
		return fmt.Sprintf("bk_vec_strings(b, %d, %s, %s)", i, q.Name, n)
	case signature.Weights, signature.ErrCodes:
		f := map[signature.Kind]string{signature.Weights: "bk_weights", signature.ErrCodes: "bk_errcodes"}[q.Kind]
		return fmt.Sprintf("%s(b, %s) ? %s(b, %s) : bk_vec_num(b, %d, %s, %s, 4)", f, q.Name, f, q.Name, i, q.Name, n)
	}
	if f := mapFunction(q); f != "" {
		return fmt.Sprintf("bk_vec_map(b, %d, %s, %s, %s)", i, q.Name, n, f)
	}
	return fmt.Sprintf("bk_vec_num(b, %d, %s, %s, %s)", i, q.Name, n, x.width(q))
}

// output adds the statements for a result word.
func (x *body) output(i int, q *signature.Param) error {
	found := x.found()
	if i == x.p.Roles.Flag {
		found = ""
	}
	switch {
	case q.Len != nil:
		expr := x.array(i, q)
		if c := x.cond(q); c != "" {
			expr = fmt.Sprintf("%s ? (%s) : EFG_ABSENT", c, expr)
		}
		x.result(i, found, expr)
	case q.Kind.Integer():
		x.result(i, found, intWord(q, x.now(q)))
	case q.Kind == signature.Req:
		x.request(i, q)
	case handles[q.Kind].object != "":
		x.newObject(i, q, found)
	default:
		expr, err := x.newNamed(q)
		if err != nil {
			return err
		}
		x.result(i, found, expr)
	}
	return nil
}

// newObject is the slot word of a new local object.
func (x *body) newObject(i int, q *signature.Param, found string) {
	o := handles[q.Kind].object
	x.result(i, found, fmt.Sprintf("bk_object_out(%s, BK_KEY(%s), %t)", o, x.now(q), x.p.Existing))
	x.made = true
	x.then("if (made) bk_object_set(%s, BK_KEY(%s), made);", o, x.now(q))
}

// newNamed is the word of a new object that is named by its content.
func (x *body) newNamed(q *signature.Param) (string, error) {
	h := x.now(q)
	switch q.Kind {
	case signature.Comm:
		if x.p.Ctor == "" {
			return "", fmt.Errorf("no ctor")
		}
		return fmt.Sprintf("bk_comm_new(b, %s, %s, EFG_K_%s, %s)", h, x.comm(), x.p.Ctor, x.commTag()), nil
	case signature.Win:
		if x.p.Ctor == "" {
			return "", fmt.Errorf("no ctor")
		}
		return fmt.Sprintf("bk_win_new(b, %s, %s, EFG_K_%s)", h, x.comm(), x.p.Ctor), nil
	case signature.File:
		return fmt.Sprintf("bk_file_new(b, %s, %s, w[%d])", h, x.comm(), x.wordOf("filename")), nil
	case signature.Group:
		return fmt.Sprintf("bk_group_new(%s)", h), nil
	case signature.Type:
		return fmt.Sprintf("bk_type_new(b, %s)", h), nil
	case signature.Op:
		return fmt.Sprintf("bk_op_new(b, %s, %s, %s != 0)", h, "user_fn", x.value(x.named("commute"))), nil
	}
	return "", fmt.Errorf("a new object of kind %s", q.Kind)
}

// commTag is what identifies a new communicator besides its parent and members.
func (x *body) commTag() string {
	if q := x.named("stringtag"); q != nil {
		return fmt.Sprintf("w[%d]", x.wordOf(q.Name))
	}
	if q := x.param(func(q *signature.Param) bool { return q.Kind == signature.Tag }); q != nil {
		return "(uint64_t)(int64_t)" + x.value(q)
	}
	return "0"
}
