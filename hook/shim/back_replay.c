/* Following a recording: which call comes next, and what becomes of a thread that
 * makes another one. */
#define _GNU_SOURCE
#include "back_replay_state.h"
#include "back_substitute.h"
#include "back_world.h"
#include "setting.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ABORT_DELAY = 200000 };    /* us */

rpl_header *bk_replay_file;
static int replay_world, replay_rank = -1;    /* rank in that world */
static int run_rank = -1;                     /* in messages: in the run */

static const void *in_file(uint64_t offset, uint64_t size)
{
    uint64_t all = bk_replay_file->size;
    return offset <= all && size <= all - offset ? (const char *)bk_replay_file + offset : NULL;
}

static const char *text(uint64_t offset)
{
    const char *s = in_file(offset, 1);
    return s != NULL ? s : "";
}

/* ---- begin ---- */

/* Maps the file; NULL with the reason. */
static rpl_header *map_file(const char *path, const char **why)
{
    struct stat st;
    rpl_header *h = MAP_FAILED;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    *why = "cannot be read";
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof *h)
        h = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (h == MAP_FAILED) return NULL;
    *why = "is not a file of a replay";
    uint64_t size = (uint64_t)st.st_size;
    if (h->magic == RPL_MAGIC && h->size == size && ((const char *)h)[size - 1] == '\0'
        && h->worlds * sizeof(rpl_world) + h->streams * sizeof(rpl_stream) <= size - sizeof *h)
        return h;
    munmap(h, size);
    return NULL;
}

/* Reports whether a recorded world had this many ranks. */
static bool has_size(const rpl_header *h, int size)
{
    for (int w = 0; w < (int)h->worlds; w++)
        if (bk_world(h, w)->size == (uint32_t)size) return true;
    return false;
}

void bk_replay_start(bk_thread *b, int rank, int size)
{
    const char *path = efg_setting("EFG_REPLAY"), *why;
    if (path == NULL || *path == '\0' || bk_replay_file != NULL) return;
    rpl_header *h = map_file(path, &why);
    if (h != NULL && (replay_world = bk_world_of(h, rank, size)) < 0) {
        why = has_size(h, size) ? "is of a run of fewer programs" : "is of a run of another number of ranks";
        h = NULL;
    }
    if (h == NULL) {
        fprintf(stderr, "efg: replay: rank %d goes on free: %s %s\n", rank, path, why);
        return;
    }
    bk_replay_file = h;
    replay_rank = rank;
    run_rank = (int)bk_world(h, replay_world)->first + rank;
    bk_replay_thread(b);
}

/* A copy of the file's row whose outcomes are read when they are first needed. */
static bk_turn *open_rows(const rpl_stream *s)
{
    const rpl_row *rows = in_file(s->rows, (uint64_t)s->row_count * sizeof *rows);
    bk_turn *t = rows != NULL ? calloc(s->row_count + 1, sizeof *t) : NULL;
    for (uint32_t i = 0; t != NULL && i < s->row_count; i++) {
        t[i].row = &rows[i];
        t[i].call = rows[i].call;
        t[i].site = rows[i].site;
        t[i].open = rows[i].value_count != 0;
        unsigned n = t[i].call >> 24 & 0xff;
        t[i].words = in_file(rows[i].words, n * sizeof *t[i].words);
        bool compares = bk_replay_file->options & RPL_OPTION_PLACES && t[i].words != NULL && n <= EFG_MAX_WORDS;
        t[i].compared = compares ? rows[i].compared & (((uint64_t)1 << n) - 1) : 0;
    }
    return t;
}

/* The turn of a call whose outcome is not recorded, and of a poll that found nothing where only the
 * number of these was recorded. */
static bk_turn any_outcome = { .fixed = RPL_FREE }, found_nothing = { .fixed = RPL_NOTHING };

/* The thread goes on free. */
static void close_replay(bk_thread *b)
{
    bk_replay *r = b->replay;
    b->turn = &any_outcome;
    b->replay = NULL;
    for (uint32_t i = 0; i < r->s->row_count; i++) free(r->turns[i].values);
    free(r->turns);
    free(r);
}

static bool next_call(bk_replay *r) { return bk_seq_next(&r->calls, &r->next) && r->next < r->s->row_count; }

void bk_replay_thread(bk_thread *b)
{
    rpl_stream *s = bk_replay_file != NULL ? bk_world_stream(bk_replay_file, replay_world, replay_rank, b->t->thread) : NULL;
    if (s == NULL || s->state != 0) return;
    const uint8_t *code = in_file(s->calls, s->calls_size);
    bk_replay *r = code != NULL ? calloc(1, sizeof *r) : NULL;
    bk_turn *turns = r != NULL ? open_rows(s) : NULL;
    if (turns == NULL) {
        free(r);
        return;
    }
    r->s = s;
    r->turns = turns;
    bk_seq_open(&r->calls, code, s->calls_size, s->events);
    s->state = RPL_FOLLOWS;
    b->replay = r;
    b->special |= BK_REPLAYS;
    /* The calls before this one: MPI_Init. */
    uint64_t before = efg_events(b->t);
    bool more = next_call(r);
    for (; more && s->followed < before; s->followed++) more = next_call(r);
    r->ended = !more;
}

void bk_replay_thread_ends(bk_thread *b)
{
    if (b->replay != NULL) close_replay(b);
}

/* ---- the end ---- */

bool bk_replay_free(void)
{
    return __atomic_load_n(&bk_replay_file->state, __ATOMIC_RELAXED) == RPL_STATE_FREE;
}

/* Names the call that a thread makes. */
static void name_call(bk_replay *r, const uint64_t *w, const void *site, char *to, size_t size)
{
    uint64_t op = w[0] & 0xffff;
    for (uint32_t i = 0; i < r->s->row_count; i++) {
        const rpl_row *row = r->turns[i].row;
        if (row->call == w[0] && row->site == w[1]) {
            snprintf(to, size, "%s", text(row->text));
            return;
        }
    }
    const uint64_t *names = in_file(bk_replay_file->name_table, bk_replay_file->names * sizeof *names);
    const char *name = names != NULL && op < bk_replay_file->names ? text(names[op]) : "?";
    Dl_info info;
    if (site != NULL && dladdr(site, &info) != 0 && info.dli_fname != NULL) {
        const char *slash = strrchr(info.dli_fname, '/');
        snprintf(to, size, "%s at %s+0x%lx", name, slash != NULL ? slash + 1 : info.dli_fname,
                 (unsigned long)((const char *)site - (const char *)info.dli_fbase));
    } else {
        snprintf(to, size, "%s", name);
    }
}

static void stop_here(void)
{
    fprintf(stderr, "efg: replay: rank %d is stopped: process %ld; attach a debugger, or continue it with kill -CONT %ld\n",
            run_rank, (long)getpid(), (long)getpid());
    kill(getpid(), SIGSTOP);
}

static void print_note(const bk_thread *b, const char *what, const char *then)
{
    fprintf(stderr, "efg: replay: rank %d, thread %u, call %llu: %s%s\n", run_rank, b->t->thread,
            (unsigned long long)b->replay->s->followed, what, then);
}

void bk_replay_note(const bk_thread *b, const char *format, ...)
{
    char what[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    print_note(b, what, "");
}

void bk_replay_leave(bk_thread *b, const char *format, ...)
{
    char what[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    bk_replay *r = b->replay;
    uint32_t options = bk_replay_file->options;
    bool halt = options & (RPL_OPTION_STOP | RPL_OPTION_ABORT), first = true;
    if (!halt)
        first = __atomic_exchange_n(&bk_replay_file->state, RPL_STATE_FREE, __ATOMIC_RELAXED) != RPL_STATE_FREE;
    r->s->state = RPL_DIVERGED;
    if (first)
        print_note(b, what, options & RPL_OPTION_ABORT ? "; aborted" : options & RPL_OPTION_STOP ? "" : "; the run goes on free");
    close_replay(b);
    if (options & RPL_OPTION_ABORT) {
        usleep(ABORT_DELAY);      /* launchers drop what they have not passed on */
        int world = 0;
        PMPI_Initialized(&world);
        if (world) PMPI_Abort(MPI_COMM_WORLD, 1);
        abort();    /* with sessions alone: the launcher ends the others */
    }
    if (options & RPL_OPTION_STOP) stop_here();
}

static bk_cold void diverged(bk_thread *b, const uint64_t *w, const void *site)
{
    char now[512];
    bk_replay *r = b->replay;
    name_call(r, w, site, now, sizeof now);
    bk_replay_leave(b, "recorded was %s, the program calls %s", bk_turn_name(&r->turns[r->next]), now);
}

/* The thread has made all recorded calls. */
static bk_cold void at_end(bk_thread *b, const uint64_t *w, const void *site)
{
    bk_replay *r = b->replay;
    char now[512];
    if (r->s->whole) {
        name_call(r, w, site, now, sizeof now);
        bk_replay_leave(b, "all recorded calls are made, the program calls %s", now);
        return;
    }
    r->s->state = RPL_ENDED;
    close_replay(b);
    if (bk_replay_file->options & RPL_OPTION_STOP_AT_END) {
        fprintf(stderr, "efg: replay: rank %d is at the end of its recording\n", run_rank);
        stop_here();
    }
}

/* ---- each call ---- */

/* The arguments of the call before this one, whose words are still there from w[3] on: a thread that
 * passes others goes on following. */
static bk_cold void other_argument(bk_thread *b, const bk_turn *t, const uint64_t *w, int i)
{
    uint64_t was = t->words[i];
    const uint64_t *names = in_file(t->row->names, (t->call >> 24 & 0xff) * sizeof *names);
    const char *name = names != NULL ? text(names[i]) : "?";
    char values[100] = "";
    if (was + ((uint64_t)1 << 40) < (uint64_t)1 << 41 && w[i] + ((uint64_t)1 << 40) < (uint64_t)1 << 41)
        snprintf(values, sizeof values, ": %lld, now %lld", (long long)was, (long long)w[i]);
    b->replay->warned = true;
    b->replay->s->followed--;
    if (bk_replay_file->options & (RPL_OPTION_STOP | RPL_OPTION_ABORT))
        bk_replay_leave(b, "recorded was another %s of %s%s", name, bk_turn_name(t), values);
    else
        bk_replay_note(b, "recorded was another %s of %s%s", name, bk_turn_name(t), values);
    if (b->replay != NULL) b->replay->s->followed++;
}

static inline void check_arguments(bk_thread *b, const bk_turn *t, const uint64_t *w)
{
    uint64_t left = t->compared;
    for (; left != 0; left &= left - 1) {
        int i = __builtin_ctzll(left);
        if (bk_likely(w[i] == t->words[i])) continue;
        other_argument(b, t, w, i);
        return;
    }
}

static bk_cold void freed(bk_thread *b)
{
    b->replay->s->state = RPL_FREED;
    close_replay(b);
}

static inline bool same_call(const bk_turn *t, const uint64_t *w)
{
    if (bk_likely(t->call == w[0] && t->site == w[1])) return true;
    return !(bk_replay_file->options & RPL_OPTION_PLACES) && ((t->call ^ w[0]) & 0xffff) == 0;
}

static bool is_uncounted(const uint64_t *w)
{
    return bk_replay_file->options & RPL_OPTION_TOTALS && efg_is_poll(w[0]);
}

void bk_replay_call(bk_thread *b, const uint64_t *w, const void *site)
{
    bk_replay *r = b->replay;
    b->turn = bk_substitutes != 0 ? &any_outcome : NULL;
    if (r == NULL) {
        if (bk_substitutes == 0) b->special &= (uint8_t)~BK_REPLAYS;
        return;
    }
    if (bk_unlikely(bk_replay_free())) {
        freed(b);
        return;
    }
    if (r->before != NULL && !r->warned) check_arguments(b, r->before, w);
    if (bk_unlikely(b->replay == NULL)) return;
    if (bk_unlikely(r->ended)) {
        at_end(b, w, site);
        return;
    }
    bk_turn *t = &r->turns[r->next];
    r->before = NULL;
    if (bk_unlikely(!same_call(t, w))) {
        if (is_uncounted(w)) b->turn = &found_nothing;
        else diverged(b, w, site);
        return;
    }
    r->s->followed++;
    r->before = t;
    if (t->open) {
        b->turn = t;
        r->s->forced++;
    }
    r->ended = !next_call(r);
}

/* ---- outcomes ---- */

const char *bk_turn_name(const bk_turn *t) { return t->row != NULL ? text(t->row->text) : ""; }

uint64_t bk_turn_value(bk_turn *t)
{
    uint64_t v;
    const rpl_row *row = t->row;
    if (row == NULL) return t->fixed;
    if (bk_unlikely(t->values == NULL)) {
        const uint8_t *code = in_file(row->values, row->values_size);
        if (code == NULL || (t->values = malloc(sizeof *t->values)) == NULL) return RPL_FREE;
        bk_seq_open(t->values, code, row->values_size, row->value_count);
    }
    return bk_seq_next(t->values, &v) ? v : RPL_FREE;
}
