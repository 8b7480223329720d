/* Replay: the calls of a thread compared with those of a recording, and the
 * outcomes that MPI left open forced as recorded (internal/replay/FORMAT.md).
 *
 * bk_begin takes each call of a thread that replays through bk_special, which
 * sets bk_thread.turn if an outcome of the call was recorded. Wrappers of calls
 * that have one then ask the functions below, which may make the call. */
#ifndef EFG_BACK_REPLAY_H
#define EFG_BACK_REPLAY_H

#include "back_complete.h"

#include <time.h>

#pragma GCC visibility push(hidden)

/* After the process learned its rank; maps the file of the replay, if there is one. */
void bk_replay_start(bk_thread *b, int rank, int size);
/* A new thread. */
void bk_replay_thread(bk_thread *b);
void bk_replay_thread_ends(bk_thread *b);
/* The call whose words begin in w. */
void bk_replay_call(bk_thread *b, const uint64_t *w, const void *site);

/* Forces source and tag of a receive or probe. With a flag it is a poll: true if
 * it finds nothing and so need not be made. */
enum bk_replay_receive { BK_POSTS, BK_RECEIVES, BK_POLLS };
bool bk_replay_source(bk_thread *b, MPI_Comm comm, enum bk_replay_receive how, int *source, int *tag,
                      void *flag, int *rc);
/* A persistent receive was made. descriptor: of the array at buf, or NULL. */
void bk_replay_prepared(bk_thread *b, MPI_Request request, const void *buf, const void *descriptor, int64_t count,
                        MPI_Datatype type, int source, int tag, MPI_Comm comm);
/* Waiting in a call. */
typedef struct bk_waiting {
    bk_thread *b;
    unsigned turns;
    time_t since;            /* 0: not known yet; -1: reported */
    bool until_found;        /* the recorded poll found something */
} bk_waiting;
/* A poll of other things than requests that complete. If it returns false, the call
 * is made until bk_replay_again does. */
bool bk_replay_poll(bk_waiting *x, void *flag, int *rc);
bool bk_replay_again(bk_waiting *x, const void *flag, int rc);
/* The others return true if they have made the call, with its result in rc. */
bool bk_replay_any(bk_thread *b, const bk_many *m, void *index, void *flag, void *status, int *rc);
bool bk_replay_some(bk_thread *b, const bk_many *m, bool polls, void *outcount, void *indices,
                    void *statuses, int *rc);
bool bk_replay_all(bk_thread *b, const bk_many *m, void *flag, void *statuses, int *rc);
bool bk_replay_start_all(bk_thread *b, const bk_many *m, int *rc);
bool bk_replay_start_one(bk_thread *b, MPI_Request request, int *rc);
/* var is the program's variable. */
enum bk_replay_one { BK_WAITS, BK_TESTS, BK_PEEKS, BK_CANCELS, BK_FREES };
bool bk_replay_one(bk_thread *b, enum bk_replay_one how, MPI_Request request, void *var, void *flag,
                   void *status, int *rc);

#pragma GCC visibility pop

#endif
