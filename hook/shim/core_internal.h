/* Declarations shared by the recorder's files. */
#ifndef EFG_CORE_INTERNAL_H
#define EFG_CORE_INTERNAL_H

#include "efg_core.h"
#include "gen/efg_layout.h"

#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- core_segment.c: the mapped file ---- */

extern char *efg_base;             /* start of the segment; refs count from here */
extern seg_header *efg_header;     /* == efg_base, NULL before efg_segment_open */

static inline void *efg_ptr(uint32_t ref) { return efg_base + (uint64_t)ref * SEG_REF_UNIT; }
static inline uint32_t efg_ref(const void *p)
{
    return (uint32_t)((uint64_t)((const char *)p - efg_base) / SEG_REF_UNIT);
}

/* Creates and maps the file DIR/HOST.PID.TIME.seg. 0, or -1 with *why set. */
int efg_segment_open(const char *dir, const char **why);

/* Tells a daemon, to which fd is a connection, that the segment exists, and
 * closes fd. Does not wait for anything. */
void efg_segment_register(int fd);

/* Zeroed space, aligned to align (a power of two, at least SEG_REF_UNIT). NULL:
 * no more space, recording has stopped (header full). Any thread. */
void *efg_alloc(size_t bytes, size_t align);

/* In a forked child: replaces the segment by private memory, empty and full, so
 * that nothing the child does reaches its parent's file. */
void efg_segment_leave(void);

/* Reports whether little space is left: the file system is nearly full, or the file takes half of
 * what the address space or RLIMIT_FSIZE allows it. */
bool efg_space_low(void);

/* Marks the segment as full; later allocations fail immediately. */
void efg_segment_full(int err);

/* Orders the stores that fill a record before the store that publishes it. x86-64
 * keeps stores in order; the compiler must do so, too. */
#define efg_publish_barrier() atomic_thread_fence(memory_order_release)

/* ---- core_table.c: private tables that grow ---- */

/* Allocates zeroed memory, NULL if there is none; frees it, with the size with
 * which it was allocated. p may be NULL if that is 0. */
void *efg_table_new(size_t bytes);
void efg_table_free(void *p, size_t bytes);

/* A test-and-set lock for the slow paths; held for a few instructions or one
 * file extension. */
typedef atomic_flag efg_lock_t;
void efg_lock(efg_lock_t *l);
void efg_unlock(efg_lock_t *l);

/* ---- core_seq.c: folded sequences ---- */

typedef struct seq seq;   /* private half of a seg_seq */

/* A new empty sequence; delta: store differences. NULL when out of space. */
seg_seq *seq_new(bool delta);
/* Appends v. 0, or -1 when out of space (the sequence keeps its values). */
int seq_push(seg_seq *s, uint64_t v);
/* The value that the running repeat expects next; false if there is none. */
bool seq_predict(const seg_seq *s, uint64_t *v);

/* Prefetches what appending v will change, if v is the next value. */
void seq_fetch(const seg_seq *s, uint64_t v);

/* ---- core_defs.c: definitions ---- */

/* Number of the definition of an identity word (its place in the list), or -1. */
int64_t efg_def_index(uint64_t word);

/* ---- gen/schema.c: the words of procedures (signature) ---- */

enum efg_word_kind { EFG_W_SCALAR, EFG_W_IDENT, EFG_W_VEC, EFG_W_SLOT };

typedef struct efg_schema {
    uint8_t n;                      /* number of words, including the three of the site */
    uint8_t slot;                   /* the slot word; 0: none */
    uint8_t poll;                   /* the word that is 0 if nothing was found; 0: not a poll */
    uint32_t results;               /* bits of the words that the call returns */
    uint8_t kind[EFG_MAX_WORDS];
} efg_schema;

extern const efg_schema efg_schemas[];
extern const unsigned efg_nschemas;

#define EFG_OP(header)     ((unsigned)(header) & 0xffff)
#define EFG_NWORDS(header) ((unsigned)((header) >> 24) & 0xff)
#define EFG_DEPTH_SHIFT 21          /* in a header: number of calls around the call; */
#define EFG_DEEPEST 7               /* or more */
#define EFG_COUNTED        ((uint64_t)1 << 19) /* in a header: of polls that are only counted */

/* ---- core_tools.c: libraries preloaded before this one ---- */

/* Finds them; front is an address in the front. */
void efg_find_tools(const void *front);
/* Reports whether the address is in one of them. */
bool efg_in_tool(const void *address);
/* Reports whether threads start there, or functions for the start and the end of a
 * process are called from there. */
bool efg_in_system(const void *address);
/* The return address of the program's call that first reached such a library:
 * frame is that of the wrapper, address its return address, in a tool. NULL if
 * unknown, or if the tool calls by itself, on a thread of its own or when the
 * process begins or ends. */
const void *efg_behind_tools(efg_stream *t, const void *frame, const void *address);

/* ---- core_unwind.c: a call up the stack ---- */

enum { EFG_KEPT = 6 };              /* registers that calls preserve: %rbp, %rbx, %r12 to %r15 */

/* The words of the stack that determine where unwinding leads; n may exceed cap. */
typedef struct efg_reads {
    const uintptr_t **word;
    uint32_t n, cap;
} efg_reads;

typedef struct efg_frame {
    uintptr_t pc, sp;               /* where a function continues, and with which stack pointer */
    const uintptr_t *from[EFG_KEPT];    /* where its registers are stored; NULL: unknown */
    uintptr_t low, high;            /* the part of the stack that may be read */
    efg_reads *reads;               /* or NULL */
} efg_frame;

/* How to unwind from an address. Bits are of registers. */
typedef struct efg_rule {
    uint8_t reg;                    /* number of a register; 0: unknown */
    bool stored;                    /* the caller's stack pointer is not at reg + frame, but stored there */
    bool outermost;                 /* there is no caller */
    uint8_t saved, lost, from_bp;   /* saved: at the caller's stack pointer, or at %rbp, + at; lost: unknown */
    int32_t frame;                  /* from reg to where the caller's stack pointer will be */
    int32_t at[EFG_KEPT];
} efg_rule;

/* The rules of recent addresses by their hash; initially zero. */
typedef struct efg_rules { uintptr_t pc[256]; efg_rule rule[256]; } efg_rules;

typedef enum efg_step { EFG_LOST, EFG_UP, EFG_OUTERMOST } efg_step;

/* The function to which the wrapper with this frame address returns. */
efg_frame efg_caller_frame(const void *frame);
/* Moves to the function's caller, unless it has none or it is unknown how. */
efg_step efg_unwind(efg_frame *f, efg_rules *rules);

/* ---- core_path.c: call paths ---- */

typedef struct efg_paths efg_paths;

/* What is known about a thread's call paths: these have up to depth callsites.
 * NULL when out of memory. */
efg_paths *efg_paths_new(unsigned depth);

/* Word of the call path of the call that returns to the address. frame is that of
 * its wrapper. Sets *by_tool if the address is in a library preloaded before this
 * one, and the path is that of the program's call of that library. */
uint64_t efg_path_word(efg_paths *p, const void *address, const void *frame, bool *by_tool);

/* ---- core_graph.c: nodes, edges, branch runs ---- */

typedef struct index_entry index_entry;
typedef struct sites sites;

enum { GRAPH_HINTS = 512 };

/* Private tables of a stream. */
typedef struct graph {
    seg_stream *s;
    seg_node *cur;              /* node of the last event */
    uint64_t hash;              /* rolling, of the events so far */
    bool times;
    uintptr_t at, at_end;       /* where the times of the next event go, if not beyond the end;
                                 * at is 0 if they are not recorded (any more) */
    uint64_t clock;             /* end of the last event that has times, ticks */
    seg_chunk *chunk;           /* of times, the newest; or NULL */
    seg_node *tail;             /* newest node */
    uint32_t nnodes, cap;
    uint32_t *nodes;            /* refs, by number */
    index_entry *index;         /* nodes by signature; size 2*cap */
    seg_node *hint[GRAPH_HINTS][2]; /* newest nodes of a callsite and object; or NULL */
    sites *sites;
    efg_lock_t slots_lock;
} graph;

graph *graph_new(seg_stream *s, bool times, bool trace);

/* Adds the event that a wrapper has put into its stream: w, vec, nvec. A slot
 * word that is EFG_NEW becomes the lowest free slot of the event's node; id, 0
 * before, is then the new object's id word, and slots are the node's. Returns 0,
 * or -1 when out of space: the event is not recorded then, those before it stay.
 * graph_add is in core_fast.h; it handles only the most frequent case and leaves
 * the rest to: */
int graph_turn(graph *g, efg_stream *e);
int graph_add_masked(graph *g, seg_node *p, efg_stream *e);

/* Counts the event, a failed poll, at a separate node, which is not part of the
 * sequence: its Run is their number. Returns the node, NULL when out of space. */
seg_node *graph_count(graph *g, efg_stream *e);

/* Releases the slot of an id of this stream. Any thread, if efg_slots_shared. */
void graph_slot_free(graph *g, uint64_t id);

/* ---- core_times.c ---- */

/* Increments a bin of the calls and one of the gaps, where one of the low bytes
 * becomes 128 or 0. -1: there is no space for later increments; this one is
 * counted. */
int times_carry(seg_node_stats *t, unsigned dur, unsigned gap);

/* graph_times, of times one of which is more than a second. */
int times_long(seg_node_stats *t, uint64_t dur, uint64_t gap);

/* ---- core_trace.c ---- */

/* Sets how many bytes the times of each event may take in the process; 0: any number. To be
 * called before the first stream is made. */
void trace_budget(uint64_t bytes);

/* Records what the counters counted with the times of each event. To be called before the first stream is
 * made. */
void trace_values(void);

/* Publishes an event at p, as graph_publish in core_fast.h does, with its times; or, when the budget
 * is used up, ends the times of the stream. -1 when out of space: the event is not published. */
int trace_publish(graph *g, const efg_stream *e, seg_node *p, uint64_t hash);

/* ---- core_counters.c ---- */

enum { EFG_MAX_COUNTERS = SEG_MAX_COUNTERS };

/* A thread's counters, efg_stream's. All functions accept NULL: none. */
typedef struct efg_counters efg_counters;

/* Puts what is to be counted into the segment's header. False: nothing. */
bool counters_configure(seg_header *h);
/* Begins to count this thread. Counters that do not work are marked in the header. NULL when out of
 * memory. */
efg_counters *counters_open(void);
void counters_close(efg_counters *c);
/* In a forked child, where nothing is mapped: closes descriptors. */
void counters_forked(efg_counters *c);
/* Prepares a new node's counters; counts the newest event there. */
void counters_init_node(seg_node_counter *s);
void counters_count(efg_counters *c, seg_node_counter *s);
/* What counters_count will count of the newest event. Returns which counters have values, as bits; the others'
 * mean nothing. */
unsigned counters_values(const efg_counters *c, uint64_t *before, uint64_t *call);

/* ---- core_site.c: which words of a site are demoted ---- */

sites *sites_new(void);

/* Mask of the demoted words for events like w. 0 on success. */
int sites_mask(sites *t, const uint64_t *w, uint64_t *mask);

/* Must be called before a node for w is made. Returns 1 if the site was full and
 * has demoted a word (its nodes are dead; request the mask again), 0 if there was
 * room, -1 when out of memory. */
int sites_make_room(sites *t, const uint64_t *w);
int sites_add_node(sites *t, const uint64_t *w, seg_node *node);

static inline uint64_t *node_words(const seg_node *p) { return (uint64_t *)(p + 1); }

static inline seg_node_stats *node_stats(const seg_node *p)
{
    return (seg_node_stats *)(node_words(p) + p->n);
}

/* Only with efg_timing EFG_TALLIED. */
static inline seg_node_counter *node_counters(const seg_node *p)
{
    return (seg_node_counter *)(node_stats(p) + 1);
}

#pragma GCC visibility pop

#endif
