/* The recorder: MPI-independent half of the hook. It takes events as words
 * (docs/internals.md) and keeps the event flow graph in the segment, a mapped
 * file that is readable at every moment (internal/segment/FORMAT.md).
 *
 * Use, in a wrapper, by the outermost MPI call of a thread (for calls inside of it see
 * efg_enter_nested):
 *
 *     efg_stream *t = efg_enter();            NULL: nested, switched off, ...
 *     if (!t) return real(...);
 *     uint64_t *w = t->w;                     fill w[0..n), inputs first
 *     efg_call_begin(t);
 *     rc = real(...);
 *     efg_call_end(t);
 *     ...                                     fill the output words
 *     id = efg_record(t);
 *     efg_leave(t);
 */
#ifndef EFG_CORE_H
#define EFG_CORE_H

#include "core_clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* None of this is for other libraries: no indirection through the global offset
 * table. */
#pragma GCC visibility push(hidden)

#define EFG_MAX_WORDS 32
#define EFG_CONST(k)  ((uint64_t)1 << 63 | (uint64_t)(k))   /* MPI constant number k */
#define EFG_ABSENT    EFG_CONST(0)
#define EFG_IS_CONST(w) ((w) >> 62 == 2)
#define EFG_NEW       (~(uint64_t)0 >> 1)                   /* in a slot word: requests a slot */
#define EFG_ID_BIT    ((uint64_t)1 << 62)
#define EFG_BY_PMPI   ((uint64_t)1 << 20)                   /* in a header: called by its PMPI_ name */
#define EFG_IDENT(h)  ((h) & (((uint64_t)1 << 62) - 1))     /* identity word of a hash */

/* Content of an array word of the event being formed. */
typedef struct efg_vecref {
    const uint64_t *data;   /* must stay valid until efg_record returns */
    uint32_t len, word;     /* elements; index into w */
} efg_vecref;

/* A callsite: where a call returns to, and its word. */
typedef struct efg_place {
    const void *address;
    uint64_t word;
} efg_place;

/* The slots of a node's objects. */
typedef struct efg_slots {
    uint64_t *used;         /* bitmap of those in use */
    uint32_t words;         /* of the bitmap */
    uint32_t full;          /* its first words, all of whose slots are in use */
} efg_slots;

/* The part of a thread's recorder that wrappers use. */
typedef struct efg_stream {
    uint64_t *w;            /* words of the event being formed; stored in the segment */
    uint32_t nvec;          /* vec words filled so far; efg_record resets it */
    uint32_t thread;        /* ordinal of the thread */
    uint64_t t0, t1;        /* start and end of the call, clock ticks */
    uint64_t *call_tick;    /* t0 while the call is in progress, for readers; or 0 */
    uint64_t id;            /* of the object that the event makes, or 0 */
    efg_slots *slots;       /* the slots that the slot of the newest object is from */
    uint32_t depth;         /* number of recorded calls around the calls of this stream: 0 for a thread's */
    void *user;             /* the back end's per-thread state */
    efg_place *places;      /* callsites seen; open addressing */
    uint32_t places_size;   /* a power of two, or 0 */
    uint32_t places_used;
    uint32_t places_aside;  /* places_size, while that is 0 for a call by a PMPI_ name */
    bool by_pmpi;           /* a call by a PMPI_ name is being entered */
    bool counted;           /* the last event was a poll that is only counted */
    struct efg_paths *paths;    /* of calls, if they are recorded: then places is empty; or NULL */
    struct efg_counters *counters;  /* of the outermost, with EFG_TALLIED: what calls inside count is in theirs; or NULL */
    struct efg_tools *tools;    /* what is known about libraries preloaded before this one; or NULL */
    struct efg_stream *inner;   /* the thread's next stream, for calls inside those of this one; or NULL */
    char *outer;            /* with a depth: frame of the wrapper of the call around the present one */
    efg_vecref vec[EFG_MAX_WORDS];
} efg_stream;

enum { EFG_JOB_SIZE = 128 };    /* of a launch's name, with the NUL */

/* What the back end reports at the start. Called once per process, at the first
 * MPI call (rank -1, size 0) and again when rank and size are known. */
typedef struct efg_process_info {
    int32_t rank, size;
    uint64_t world;         /* equal in all processes of one MPI_COMM_WORLD */
    const char *family;     /* "openmpi", "mpich" */
    const char *version;    /* library version string */
    const void *front;      /* an address in the library that was preloaded */
    const char *job;        /* identifies the launch on all machines; or "", NULL */
    uint32_t machines;      /* of the world: 0 unknown, 1, 2 several */
    int32_t thread_multiple;
} efg_process_info;

enum efg_def_kind {         /* efg.DefKind */
    EFG_DEF_UNKNOWN, EFG_DEF_STRING, EFG_DEF_VEC, EFG_DEF_TYPE, EFG_DEF_GROUP, EFG_DEF_OP, EFG_DEF_COMM,
    EFG_DEF_WIN, EFG_DEF_FILE, EFG_DEF_SITE, EFG_DEF_MODULE, EFG_DEF_REGION
};

enum efg_end { EFG_END_OPEN, EFG_END_THREAD, EFG_END_FINALIZED, EFG_END_EXIT };

/* A thread's part of the recorder. */
struct efg_tls {
    char *guard;            /* frame of the innermost active wrapper */
    efg_stream *s;
    efg_stream *nested;     /* the stream of that wrapper, if it is inside another one; otherwise NULL */
    void *const *real;      /* with s: the functions to which calls are passed on, by slot */
    bool failed;            /* no stream is available */
    bool by_pmpi;           /* the next wrapper is entered for a PMPI_ name; then s is */
    efg_stream *aside;      /* NULL, and the thread's stream, if it has one, is here */
};

extern __thread struct efg_tls efg_tls __attribute__((tls_model("initial-exec")));
extern atomic_int efg_off;  /* 1: not recording in this process (any more) */
/* What is recorded of when calls are made. */
enum efg_timing { EFG_UNTIMED, EFG_TIMED, EFG_TALLIED /* times and counters */ };
extern unsigned char efg_timing;

efg_stream *efg_first_call(void *frame);    /* efg_enter_at's rare case */

/* For the outermost call of this thread returns its stream (created at the first
 * call), otherwise NULL. frame is __builtin_frame_address(0) of the wrapper. */
static inline efg_stream *efg_enter_at(void *frame)
{
    if (__builtin_expect(atomic_load_explicit(&efg_off, memory_order_relaxed), 0)
        || __builtin_expect(efg_tls.guard != NULL, 0))
        return NULL;
    if (__builtin_expect(efg_tls.s == NULL, 0))
        return efg_first_call(frame);
    efg_tls.guard = frame;
    return efg_tls.s;
}
#define efg_enter() efg_enter_at(__builtin_frame_address(0))

/* The same for a call of the program while a wrapper appears to be active (the
 * guard is set). Inside of that wrapper's call to MPI it is a nested call, with a
 * stream of its own; so is its event, which precedes that of the call around it.
 * But an error handler may have left MPI with longjmp or a C++ exception: then the
 * calls that were left are recorded first, as calls that did not return. */
efg_stream *efg_enter_nested(void *frame);

/* Where such a call, whose wrapper returns to site, comes from if site is in a library preloaded
 * before this one: the call of that library. NULL if unknown. Otherwise it is site. */
const void *efg_nested_from(const void *frame, const void *site);

void efg_leave_nested(efg_stream *t);

static inline void efg_leave(efg_stream *t)
{
    if (__builtin_expect(t->depth != 0, 0))
        efg_leave_nested(t);
    else
        efg_tls.guard = NULL;
}

/* The MPI library's functions, for calls by MPI_ names and by PMPI_ names. Must
 * be set before the first call. */
extern void *const *efg_real[2];

/* Announces that this thread enters the next wrapper for a call by the PMPI_
 * name. False: nothing is recorded. Calls by MPI_ names, which must be fast, do
 * not check for this: the wrapper finds no stream, and later no callsite, and the
 * slow paths for these handle it. */
bool efg_enter_by_pmpi(void);

/* Read the counters and the clock (core_counters.c). */
uint64_t efg_counted_begin(efg_stream *t);
uint64_t efg_counted_end(efg_stream *t);
uint64_t efg_counted_instant(efg_stream *t);

/* Publishes the words filled so far as the call in progress; reads the clock. */
static inline void efg_call_begin(efg_stream *t)
{
    uint64_t now = 1;
    if (__builtin_expect(efg_timing == EFG_TIMED, 1))
        now = efg_ticks();
    else if (efg_timing == EFG_TALLIED)
        now = efg_counted_begin(t);
    t->t0 = now;
    atomic_thread_fence(memory_order_release);
    *t->call_tick = now;
}

static inline void efg_call_end(efg_stream *t)
{
    if (__builtin_expect(efg_timing == EFG_TIMED, 1))
        t->t1 = efg_ticks();
    else if (efg_timing == EFG_TALLIED)
        t->t1 = efg_counted_end(t);
}

/* The time of an event that takes none. */
static inline void efg_instant(efg_stream *t)
{
    uint64_t now = 1;
    if (__builtin_expect(efg_timing == EFG_TIMED, 1))
        now = efg_ticks();
    else if (efg_timing == EFG_TALLIED)
        now = efg_counted_instant(t);
    t->t0 = t->t1 = now;
}

/* Adds the event t->w to the graph. If its slot word is EFG_NEW, takes the
 * lowest free slot of the node. Returns the id word of the new object (or 0 if
 * the event has no slot word, or the word was not EFG_NEW). */
uint64_t efg_record(efg_stream *t);

/* Reports whether an event with this header may be a poll that found nothing. */
bool efg_is_poll(uint64_t header);

/* The number of the thread's events so far. */
uint64_t efg_events(const efg_stream *t);

/* Releases a slot. Any thread may call it. */
void efg_slot_free(uint64_t id);
extern bool efg_slots_shared;   /* several threads may do so at once */

/* The same, if the slots that it is from are known (from efg_stream's slots). */
static inline void efg_slot_return(efg_slots *s, uint64_t id)
{
    uint32_t slot = (uint32_t)id & 0xffffff;
    if (__builtin_expect(efg_slots_shared, 0)) {
        efg_slot_free(id);
        return;
    }
    s->used[slot / 64] &= ~((uint64_t)1 << slot % 64);
    if (slot / 64 < s->full)
        s->full = slot / 64;
}

/* Identity words. These functions make sure that the definition is in the
 * segment. */
uint64_t efg_new_site(efg_stream *t, const void *return_address);   /* efg_site_word's rare case */

static inline efg_place *efg_place_slot(efg_place *table, uint32_t size, const void *address)
{
    uint32_t i = (uint32_t)((uint64_t)(uintptr_t)address * 0x9E3779B185EBCA87ull >> 40) & (size - 1);
    while (table[i].address != address && table[i].address != NULL)
        i = (i + 1) & (size - 1);
    return &table[i];
}

static inline uint64_t efg_site_word(efg_stream *t, const void *return_address)
{
    if (__builtin_expect(t->places_size != 0, 1)) {
        const efg_place *p = efg_place_slot(t->places, t->places_size, return_address);
        if (__builtin_expect(p->address != NULL, 1))
            return p->word;
    }
    return efg_new_site(t, return_address);
}

/* Word of a function's address, as if a call returned there. */
uint64_t efg_function_word(efg_stream *t, const void *function);

/* The wrapper with this frame returns to address: where the function there returns to; address, if
 * that is unknown. */
const void *efg_callers_caller(efg_stream *t, const void *frame, const void *address);

uint64_t efg_string_word(const char *s, size_t len);
uint64_t efg_def(enum efg_def_kind kind, uint64_t word, const uint64_t *words, uint32_t n,
                 const void *data, uint32_t nbytes);   /* returns word; no-op if it is defined */

/* Word of an array; keeps the content for efg_record. word is the index into w.
 * data must stay valid until efg_record returns. */
uint64_t efg_vec_word(efg_stream *t, unsigned word, const uint64_t *data, uint32_t len);

/* The same for an array whose word is known. */
static inline void efg_vec_refer(efg_stream *t, unsigned word, const uint64_t *data, uint32_t len)
{
    t->vec[t->nvec++] = (efg_vecref){data, len, word};
}

/* XXH64, seed 0, of n words. */
uint64_t efg_hash(const uint64_t *w, size_t n);

/* Process start and end. efg_start returns 0, or -1 when recording is off (the
 * reason has been reported on stderr, once). */
int  efg_start(const efg_process_info *info);

/* In a forked child, which is not recorded: notes in the segment of its parent that it calls MPI, and by
 * what name. Makes system calls the first time. */
void efg_fork_calls(const char *symbol);
void efg_set_process(const efg_process_info *info);
void efg_end(enum efg_end how);
void efg_may_exit(bool yes);     /* exiting now ends it as MPI_Finalize would */
int  efg_option_queries(void);   /* record local queries */
int  efg_option_buffers(void);   /* record buffer addresses */
/* Word of a buffer address under --buffers: region<<48 | offset. */
uint64_t efg_buffer_word(const void *p);

#pragma GCC visibility pop

#endif
