/* What the generated wrappers consist of, besides the words: the frame of a
 * recorded call. */
#ifndef EFG_BACK_RUN_H
#define EFG_BACK_RUN_H

#include "back_annotation.h"
#include "back_comm.h"
#include "back_complete.h"
#include "back_group.h"
#include "back_object.h"
#include "back_replay.h"
#include "back_topology.h"
#include "back_type.h"
#include "back_vec.h"
#include "back_win.h"
#include "gen/slots.h"
#include "gen/procs.h"

#pragma GCC visibility push(hidden)

/* The first word of an event, except for the error class. */
#define BK_HEADER(proc, lang, large, n) \
    ((uint64_t)(proc) | (uint64_t)(lang) << 16 | (uint64_t)(large) << 18 | (uint64_t)(n) << 24)

/* How a Fortran entry point was called: its slot and what differs between the
 * variants of one procedure. */
#define BK_HOW(slot, lang, large, ts) \
    ((unsigned)(slot) | (unsigned)(lang) << 16 | (unsigned)(large) << 18 | (unsigned)(ts) << 19)
#define BK_HOW_SLOT(how)  ((how) & 0xffff)
#define BK_HOW_LANG(how)  ((how) >> 16 & 3)
#define BK_HOW_LARGE(how) ((how) >> 18 & 1)
#define BK_HOW_TS(how)    ((how) >> 19 & 1)

/* bk_enter, while another wrapper of the thread appears to be active. */
bk_thread *bk_enter_nested(void *frame, const void *site);

/* The thread's state if this call, which returns to site, is to be recorded,
 * otherwise NULL. */
static inline bk_thread *bk_enter(void *frame, const void *site)
{
    efg_stream *t = efg_enter_at(frame);
    if (bk_unlikely(t == NULL)) return bk_enter_nested(frame, site);
    bk_thread *b = bk_thread_of(t);
    if (bk_unlikely(b == NULL)) efg_leave(t);
    return b;
}

/* What bk_thread.special says is done. */
void bk_before(bk_thread *b, const uint64_t *w, const void *site);

/* Starts an event: header, callsite, no object. Returns its words. Inlined in all wrappers:
 * compilers would do so in some of them only. */
static inline __attribute__((always_inline)) uint64_t *bk_begin(bk_thread *b, unsigned lang, uint64_t header, const void *site)
{
    efg_stream *t = b->t;
    uint64_t *w = t->w;
    t->nvec = 0;             /* an error handler may have left the last call */
    b->lang = lang;
    w[0] = header;
    w[1] = efg_site_word(t, site);
    w[2] = 0;
    if (b->special) bk_before(b, w, site);
    return w;
}

static inline void bk_failed(uint64_t *w, int rc)
{
    w[0] |= bk_error_class(rc) << 32;
}

/* A default INTEGER of a Fortran call. */
#define BK_F(p) (*(const MPI_Fint *)(p))

/* A Fortran integer of a parameter that is 4 or 8 bytes wide. */
static inline int64_t bk_fint(const void *p, int width)
{
    return width == 8 ? *(const int64_t *)p : *(const int32_t *)p;
}

/* A choice buffer of a Fortran call. */
static inline const void *bk_fbuf(const void *p, unsigned how)
{
    return BK_HOW_TS(how) ? bk_descriptor_base(p) : p;
}

static inline bool bk_is_leaf(bk_thread *b, MPI_Comm comm, int root)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c != NULL && (c->remote < 0 || root >= 0);
}
static inline bool bk_takes_part(bk_thread *b, MPI_Comm comm, int root)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c != NULL && (c->remote < 0 || root != MPI_PROC_NULL);
}
static inline int64_t bk_min(int64_t x, int64_t y) { return x < y ? x : y; }

#ifdef BK_NO_PMPI_Session_f2c
#define PMPI_Session_f2c(f) ((MPI_Session)(uintptr_t)(f))
#endif

bool bk_leads(bk_thread *b, MPI_Comm comm, int leader);
bool bk_leads_group(MPI_Group group, int leader);

/* A handle that a call frees: released in its map before the call, because
 * another thread may get the same handle immediately; restored if the call fails. */
typedef struct bk_taken {
    bk_map *map;
    bk_entry e;
    bool taken;
} bk_taken;

void bk_take(bk_taken *k, bk_map *map, uint64_t key);
void bk_taken_end(const bk_taken *k, bool failed);

/* The library's start and end. */
void bk_started(bk_thread *b, bool failed);      /* after MPI_Init */
void bk_started_threads(bk_thread *b, bool failed, int provided);
void bk_session_started(MPI_Session session, bool failed);
void bk_before_session(void);
void bk_session_ended(bool failed);
void bk_finalized(bool failed);

/* A wrapper in the table that the linker collects, of all files. Functions are
 * identified by their distance from it: a process would have to relocate
 * pointers, and to keep the relocations and all pointers in memory, for the few
 * that it uses. */
typedef struct bk_wrapper {
    int32_t fn;
    uint16_t slot, query;    /* query: only with --queries */
} bk_wrapper;

extern const bk_wrapper __start_efg_wrappers[] __attribute__((visibility("hidden")));
extern const bk_wrapper __stop_efg_wrappers[] __attribute__((visibility("hidden")));

/* A function that is named only by BK_WRAPPER. */
#define BK_ENTRY static __attribute__((used))

/* Enters a function in the table; the slot's number and query are numerals. */
#define BK_WRAPPER(slot, query, fn)                                             \
    __asm__(".pushsection efg_wrappers, \"a\", @progbits\n\t.balign 4\n\t"        \
            ".long " #fn " - .\n\t.short " #slot ", " #query "\n\t.popsection");

#pragma GCC visibility pop

#endif
