/* Calls inside calls: those that the program's callbacks make (reduction
 * operations, functions for attributes, error handlers, generalized requests).
 *
 * Each depth of a thread has a stream of its own, because the wrappers around hold
 * the words and arrays of their events while MPI is called. The events are added to
 * one graph when the calls return: those inside precede the one around them. */
#include "core_stream.h"
#include "gen/constants.h"

#include <stdlib.h>

static stream *thread_stream(void)
{
    return (stream *)(efg_tls.s != NULL ? efg_tls.s : efg_tls.aside);
}

static stream *innermost(void)
{
    return efg_tls.nested != NULL ? (stream *)efg_tls.nested : thread_stream();
}

static stream *around(const stream *s)
{
    stream *o = s->outermost;
    while (o->pub.inner != &s->pub)
        o = (stream *)o->pub.inner;
    return o;
}

/* Whether the call of the stream is with MPI: its words are complete, and not recorded yet. */
static bool in_mpi(const stream *s) { return *s->pub.call_tick != 0; }

/* ---- entering and leaving ---- */

/* A stream for nested calls. Its words are in the segment, for readers, or here if there is no space. */
typedef struct level {
    stream s;
    seg_inner *shown, own;
} level;

/* Where the segment refers to what is shown of the calls inside those of s; NULL if these are not shown. */
static uint32_t *shown_inside(stream *s)
{
    if (s->pub.depth == 0)
        return &s->seg->inner;
    level *l = (level *)s;
    return l->shown != &l->own ? &l->shown->inner : NULL;
}

/* The stream for calls inside those of s; NULL when out of memory. */
static stream *inner_stream(stream *s)
{
    if (s->pub.inner != NULL)
        return (stream *)s->pub.inner;
    level *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    l->s = (stream){.seg = s->seg, .graph = s->graph, .outermost = s->outermost, .counts = s->counts, .special = true};
    uint32_t *ref = shown_inside(s);
    l->shown = ref != NULL ? efg_alloc(sizeof *l->shown, 64) : NULL;
    if (l->shown != NULL) {
        efg_publish_barrier();
        *ref = efg_ref(l->shown);
    } else {
        l->shown = &l->own;
    }
    l->s.pub.w = l->shown->words;
    l->s.pub.call_tick = &l->shown->call_tick;
    l->s.pub.thread = s->pub.thread;
    l->s.pub.depth = s->pub.depth + 1;
    l->s.pub.paths = s->pub.paths;
    s->pub.inner = &l->s.pub;
    return &l->s;
}

void efg_leave_nested(efg_stream *t)
{
    stream *o = around((stream *)t);
    efg_tls.guard = t->outer;
    efg_tls.nested = o->pub.depth != 0 ? &o->pub : NULL;
}

static efg_stream *enter_inside(stream *o, void *frame)
{
    stream *s = inner_stream(o);
    if (s == NULL) {
        o->seg->dropped++;
        return NULL;
    }
    if (!o->encloses)
        o->clock = o->graph->clock;
    o->encloses = o->special = true;
    if (s->last_end < o->pub.t0)
        s->last_end = o->pub.t0;
    s->pub.outer = efg_tls.guard;
    efg_tls.guard = frame;
    efg_tls.nested = &s->pub;
    return &s->pub;
}

const void *efg_nested_from(const void *frame, const void *site)
{
    stream *s = thread_stream();
    return s != NULL && efg_in_tool(site) ? efg_behind_tools(&s->pub, frame, site) : site;
}

/* ---- calls that do not return ---- */

/* When calls are nested, the call's wrapper is up the stack. A longjmp may have removed it, and
 * what is there now looks the same. Only if the stack cannot be unwound so far, it is believed to be there. */
static bool is_up_the_stack(const char *wrapper, void *frame)
{
    stream *s = thread_stream();
    uintptr_t end = (uintptr_t)wrapper + 2 * sizeof(uintptr_t);
    if ((char *)frame >= wrapper)
        return false;
    if (s->rules == NULL && (s->rules = calloc(1, sizeof *s->rules)) == NULL)
        return true;
    efg_frame f = efg_caller_frame(frame);
    while (f.sp < end)
        if (efg_unwind(&f, s->rules) != EFG_UP)
            return true;
    return f.sp == end;
}

/* Records the call of a stream as one that did not return, if it is with MPI. When it was left
 * is unknown: it counts as in MPI until the last call inside it. Arrays may have been on the stack. */
static void record_left(stream *s)
{
    efg_stream *t = &s->pub;
    unsigned n = EFG_NWORDS(t->w[0]), op = EFG_OP(t->w[0]);
    t->nvec = 0;
    if (!in_mpi(s) || op >= efg_nschemas)
        return;
    const efg_schema *k = &efg_schemas[op];
    for (unsigned i = 3; i < n; i++)
        if (k->results >> i & 1 || k->kind[i] == EFG_W_VEC)
            t->w[i] = EFG_ABSENT;
    t->w[0] |= (uint64_t)EFG_K_EFG_NOT_RETURNED << 32;
    t->t1 = s->encloses && t->t0 < s->seg->last_tick ? s->seg->last_tick : t->t0;
    efg_record(t);
}

/* Leaves the innermost wrapper, which is not on the stack any more. */
static void leave_gone(stream *s)
{
    record_left(s);
    efg_leave(&s->pub);
}

efg_stream *efg_enter_nested(void *frame)
{
    if (atomic_load_explicit(&efg_off, memory_order_relaxed))
        return NULL;
    while (efg_tls.guard != NULL && !is_up_the_stack(efg_tls.guard, frame))
        leave_gone(innermost());
    if (efg_tls.guard == NULL)
        return efg_enter_at(frame);
    stream *o = innermost();
    if (efg_tls.by_pmpi) {      /* the front did not know that the call is nested */
        efg_tls.s = efg_tls.aside;
        efg_tls.aside = NULL;
        efg_tls.by_pmpi = false;
        return NULL;
    }
    return in_mpi(o) ? enter_inside(o, frame) : NULL;
}

/* ---- recording ---- */

bool nested_record(stream *s)
{
    bool encloses = s->encloses;
    uint64_t depth = s->pub.depth < EFG_DEEPEST ? s->pub.depth : EFG_DEEPEST;
    while (efg_tls.nested != NULL && efg_tls.nested->depth > s->pub.depth)
        leave_gone((stream *)efg_tls.nested);
    s->pub.w[0] |= depth << EFG_DEPTH_SHIFT;
    s->encloses = false;
    if (encloses && depth < EFG_DEEPEST)
        s->graph->clock = s->clock;
    return encloses;
}
