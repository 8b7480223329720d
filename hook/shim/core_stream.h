/* The recorder of a thread, for the files that record its calls. */
#ifndef EFG_CORE_STREAM_H
#define EFG_CORE_STREAM_H

#include "core_internal.h"

#pragma GCC visibility push(hidden)

/* A thread has one for its outermost calls, and one for each depth at which it made
 * calls inside others: these share the graph and its place in the segment. */
typedef struct stream {
    efg_stream pub;             /* first: wrappers hold a pointer to it */
    seg_stream *seg;
    graph *graph;
    struct stream *outermost;   /* of the thread */
    efg_rules *rules;           /* for unwinding the stack, of the outermost; or NULL */
    bool stopped;               /* out of space; of the outermost */
    bool counts;                /* failed polls are only counted */
    bool special;               /* either of these, or calls are made inside others */
    bool encloses;              /* calls were made inside the present one */
    uint64_t last_end;          /* ticks */
    uint64_t clock;             /* with encloses: the end of the last event of the graph before these calls */
} stream;

/* ---- core_nested.c ---- */

/* Before an event of the stream is recorded: what calls inside of it require.
 * Reports whether there were any. */
bool nested_record(stream *s);

#pragma GCC visibility pop

#endif
