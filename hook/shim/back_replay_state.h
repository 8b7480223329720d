/* The state of a replay: of the process, and of each thread. */
#ifndef EFG_BACK_REPLAY_STATE_H
#define EFG_BACK_REPLAY_STATE_H

#include "back_replay.h"
#include "back_seq.h"
#include "gen/replay_layout.h"

#pragma GCC visibility push(hidden)

/* A node of the recording, whose calls may have open outcomes. */
typedef struct bk_turn {
    uint64_t call, site;     /* of row */
    bool open;
    uint64_t compared;       /* words of arguments; 0 if none are compared */
    const uint64_t *words;   /* those recorded */
    bk_seq *values;          /* NULL until the first is needed */
    const rpl_row *row;      /* or NULL */
    uint64_t fixed;          /* then the outcome */
} bk_turn;

typedef struct bk_replay {
    rpl_stream *s;
    bk_turn *turns;
    bk_seq calls;
    uint64_t next;           /* number of the next call's row */
    bool ended;              /* there is no next call */
    bool warned;             /* of an argument */
    const bk_turn *before;   /* of the call before this one; or NULL */
} bk_replay;

extern rpl_header *bk_replay_file;

/* Reports whether a process has left the recording. */
bool bk_replay_free(void);
/* Prints a line about the call that the thread makes. */
void bk_replay_note(const bk_thread *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The thread leaves the recording: what happened. */
void bk_replay_leave(bk_thread *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next value of the outcome of the row's calls. */
uint64_t bk_turn_value(bk_turn *t);
const char *bk_turn_name(const bk_turn *t);

#pragma GCC visibility pop

#endif
