/* Threads and the life of the recorder: what wrappers call. The recorder of a
 * thread is its stream; nothing on the path of a recorded call is shared
 * between threads. */
#define _GNU_SOURCE
#include "core_clock.h"
#include "core_fast.h"
#include "core_place.h"
#include "core_stream.h"
#include "setting.h"
#include "xxh64.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_PLACES = 256, MAX_PATH = 1000 };

__thread struct efg_tls efg_tls __attribute__((tls_model("initial-exec")));
void *const *efg_real[2];
unsigned char efg_timing;

static efg_lock_t streams_lock = ATOMIC_FLAG_INIT;
static stream *streams[4096];   /* by thread ordinal; ids have 12 bits for it */
static seg_stream *last_stream;
static pthread_key_t thread_key;
static uint32_t options;
static bool count_polls;
static unsigned path_depth;     /* of call paths; 0: they are not recorded */
static pid_t owner;

/* ---- streams ---- */

/* Numbers the stream and adds it to the list; streams_lock is held. */
static void link_stream(stream *s)
{
    uint32_t n = efg_header->nstreams;
    s->seg->thread = s->pub.thread = n;
    streams[n] = s;
    efg_publish_barrier();
    if (last_stream == NULL)
        efg_header->streams = efg_ref(s->seg);
    else
        last_stream->next = efg_ref(s->seg);
    last_stream = s->seg;
    efg_header->nstreams = n + 1;
}

/* A new stream, or NULL: too many threads, or no space. */
static stream *make_stream(void)
{
    stream *s = NULL;
    efg_lock(&streams_lock);
    if (efg_header->nstreams < sizeof streams / sizeof *streams
        && (s = calloc(1, sizeof *s)) != NULL) {
        if ((s->seg = efg_alloc(sizeof *s->seg, 64)) != NULL
            && (s->graph = graph_new(s->seg, efg_timing != EFG_UNTIMED, efg_header->time_mode == 2)) != NULL) {
            link_stream(s);
        } else {
            free(s);
            s = NULL;
        }
    }
    efg_unlock(&streams_lock);
    return s;
}

static stream *open_stream(void)
{
    stream *s = make_stream();
    if (s == NULL) {
        efg_tls.failed = true;
        return NULL;
    }
    s->outermost = s;
    s->pub.w = s->seg->words;
    s->pub.call_tick = &s->seg->call_tick;
    s->counts = s->special = count_polls;
    s->pub.counters = efg_timing == EFG_TALLIED ? counters_open() : NULL;
    s->pub.paths = path_depth != 0 ? efg_paths_new(path_depth) : NULL;
    s->seg->tid = (uint64_t)syscall(SYS_gettid);
    s->last_end = s->graph->clock = s->seg->first_tick = efg_ticks();
    efg_tls.s = &s->pub;
    pthread_setspecific(thread_key, s);
    return s;
}

static void thread_ends(void *arg)
{
    stream *s = arg;
    if (getpid() == owner && s->seg->state == EFG_END_OPEN)
        s->seg->state = EFG_END_THREAD;
    efg_tls.s = NULL;
    efg_tls.nested = NULL;
    if (getpid() == owner) {
        counters_close(s->pub.counters);
        s->pub.counters = NULL;
    }
}

bool efg_enter_by_pmpi(void)
{
    if (atomic_load_explicit(&efg_off, memory_order_relaxed))
        return false;
    if (efg_tls.s != NULL)
        efg_tls.aside = efg_tls.s;
    efg_tls.s = NULL;
    efg_tls.by_pmpi = true;
    return true;
}

/* The wrapper has the stream, and does not know by which name it was called. */
static void begin_by_pmpi(efg_stream *t)
{
    efg_tls.real = efg_real[1];
    t->places_aside = t->places_size;
    t->places_size = 0;
    t->by_pmpi = true;
}

/* The wrapper has got the function to call, and requests the callsite. */
static void end_by_pmpi(efg_stream *t)
{
    efg_tls.real = efg_real[0];
    t->places_size = t->places_aside;
    t->by_pmpi = false;
    t->w[0] |= EFG_BY_PMPI;
}

efg_stream *efg_first_call(void *frame)
{
    bool by_pmpi = efg_tls.by_pmpi;
    stream *s = (stream *)efg_tls.aside;
    efg_tls.aside = NULL;
    efg_tls.by_pmpi = false;
    if (s == NULL)
        s = efg_tls.failed ? NULL : open_stream();
    if (s == NULL) {
        __atomic_fetch_add(&efg_header->dropped, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    efg_tls.s = &s->pub;
    efg_tls.real = efg_real[0];
    efg_tls.guard = frame;
    if (by_pmpi)
        begin_by_pmpi(&s->pub);
    return &s->pub;
}

/* ---- the call ---- */

/* Counts the times of the call at p. */
static inline int count_times(const stream *s, const seg_node *p)
{
    const efg_stream *t = &s->pub;
    return graph_times(p, t->t1 - t->t0, t->t0 - s->last_end);
}

/* Counts everything that is known of the call at p, besides the event. */
static int count_all(const stream *s, const seg_node *p)
{
    if (efg_timing == EFG_TALLIED)
        counters_count(s->pub.counters, node_counters(p));
    return count_times(s, p);
}

static void stop(stream *s)
{
    s->outermost->stopped = s->outermost->special = true;
}

static unsigned poll_word(uint64_t header)
{
    unsigned op = EFG_OP(header);
    return op < efg_nschemas ? efg_schemas[op].poll : 0;
}

bool efg_is_poll(uint64_t header) { return poll_word(header) != 0; }

static bool found_nothing(const uint64_t *w)
{
    unsigned poll = poll_word(w[0]);
    return poll != 0 && w[0] >> 32 == 0 && w[poll] == 0;
}

static void count_poll(stream *s)
{
    const seg_node *p = graph_count(s->graph, &s->pub);
    if (p == NULL || (efg_timing != EFG_UNTIMED && count_all(s, p) != 0))
        stop(s);
    if (p == NULL)
        s->seg->dropped++;
    else if (efg_timing != EFG_UNTIMED)
        s->last_end = s->seg->last_tick = s->pub.t1;
}

/* For a special stream: reports whether the event was handled without adding it. A
 * poll with calls inside is not only counted, because theirs precede its event. */
static __attribute__((noinline)) bool put_aside(stream *s)
{
    bool encloses = nested_record(s), stopped = s->outermost->stopped;
    s->special = s->counts || stopped || s->pub.depth != 0;
    s->pub.counted = !stopped && s->counts && !encloses && found_nothing(s->pub.w);
    if (s->pub.counted)
        count_poll(s);
    else if (stopped)
        s->seg->dropped++;
    return s->pub.counted || stopped;
}

static __attribute__((noinline)) void add_counted(stream *s)
{
    if (count_all(s, s->graph->cur) != 0)
        stop(s);
    s->last_end = s->seg->last_tick = s->pub.t1;
}

static __attribute__((noinline)) void lose(stream *s)
{
    stop(s);
    s->seg->dropped++;
    s->pub.id = 0;
}

uint64_t efg_record(efg_stream *t)
{
    stream *s = (stream *)t;
    t->id = 0;
    *t->call_tick = 0;      /* first: a published event must not also be the call in progress */
    efg_publish_barrier();
    if (likely(!s->special) || !put_aside(s)) {
        if (unlikely(graph_add(s->graph, t) != 0)) {
            lose(s);
        } else if (likely(efg_timing == EFG_TIMED)) {
            if (unlikely(count_times(s, s->graph->cur) != 0))
                stop(s);
            s->last_end = s->seg->last_tick = t->t1;
        } else if (efg_timing == EFG_TALLIED) {
            add_counted(s);
        }
    }
    t->nvec = 0;
    return t->id;
}

uint64_t efg_events(const efg_stream *t) { return ((const stream *)t)->seg->events; }

void efg_slot_free(uint64_t id)
{
    unsigned thread = (unsigned)(id >> 50) & 0xfff;
    if (id >> 62 == 1 && streams[thread] != NULL)
        graph_slot_free(streams[thread]->graph, id);
}

static int grow_places(efg_stream *t)
{
    uint32_t size = t->places_size == 0 ? FIRST_PLACES : 2 * t->places_size;
    efg_place *table = efg_table_new(size * sizeof *table);
    if (table == NULL)
        return -1;
    for (uint32_t i = 0; i < t->places_size; i++)
        if (t->places[i].address != NULL)
            *efg_place_slot(table, size, t->places[i].address) = t->places[i];
    efg_table_free(t->places, t->places_size * sizeof *table);
    t->places = table;
    t->places_size = size;
    return 0;
}

/* The word of the place, which the table contains afterwards. */
static uint64_t place_word(efg_stream *t, const void *address)
{
    if (t->places_size != 0) {
        const efg_place *p = efg_place_slot(t->places, t->places_size, address);
        if (p->address != NULL)
            return p->word;
    }
    uint64_t word = efg_place_word(address);
    if (2 * t->places_used >= t->places_size && grow_places(t) != 0)
        return word;
    *efg_place_slot(t->places, t->places_size, address) = (efg_place){address, word};
    t->places_used++;
    return word;
}

static inline uint64_t path_word(efg_stream *t, const void *address)
{
    bool by_tool;
    uint64_t word = efg_path_word(t->paths, address, efg_tls.guard, &by_tool);
    if (unlikely(by_tool))
        t->w[0] &= ~EFG_BY_PMPI;            /* the name by which the tool was called is unknown */
    return word;
}

uint64_t efg_function_word(efg_stream *t, const void *function)
{
    return t->paths != NULL ? efg_place_word(function) : place_word(t, function);
}

uint64_t efg_new_site(efg_stream *t, const void *address)
{
    if (unlikely(t->by_pmpi))
        end_by_pmpi(t);
    if (t->paths != NULL)
        return path_word(t, address);
    if (!efg_in_tool(address))
        return place_word(t, address);
    const void *program = efg_behind_tools(t, efg_tls.guard, address);
    if (program == NULL)
        return efg_place_word(address);     /* a call of the tool's own */
    t->w[0] &= ~EFG_BY_PMPI;                /* the name by which the tool was called is unknown */
    return place_word(t, program);
}

uint64_t efg_vec_word(efg_stream *t, unsigned word, const uint64_t *data, uint32_t len)
{
    efg_vec_refer(t, word, data, len);
    return EFG_IDENT(xxh64(data, len * sizeof *data));
}

/* ---- the process ---- */

/* The child may be in the middle of a call, if the fork happened in a callback. */
static void forked_child(void)
{
    atomic_store(&efg_off, 1);
    efg_segment_leave();
    if (efg_timing == EFG_TALLIED)
        efg_timing = EFG_TIMED;
    for (size_t i = 0; i < sizeof streams / sizeof *streams && streams[i] != NULL; i++) {
        stop(streams[i]);
        counters_forked(streams[i]->pub.counters);
    }
}

static void say(const char *what, const char *why)
{
    fprintf(stderr, "efg: %s: %s\n", what, why);
}

static uint32_t read_options(void)
{
    const char *q = efg_setting("EFG_QUERIES"), *b = efg_setting("EFG_BUFFERS"), *p = efg_setting("EFG_POLLS");
    const char *c = efg_setting("EFG_CALLPATH");
    long depth = c != NULL ? strtol(c, NULL, 10) : 0;
    path_depth = depth > 0 && depth <= MAX_PATH ? (unsigned)depth : 0;
    count_polls = p != NULL && strcmp(p, "totals") == 0;
    return (q != NULL && *q == '1' ? 1u : 0) | (b != NULL && *b == '1' ? 2u : 0)
           | (count_polls ? 16u : 0) | path_depth << 16;
}

static uint32_t demote_bound(void)
{
    const char *d = efg_setting("EFG_DEMOTE");
    long n = d != NULL ? strtol(d, NULL, 10) : 0;
    return n >= 2 && n <= 255 ? (uint32_t)n : 8;
}

/* "off", "stats" (the default), or "trace=", the error that intervals may have in the run file, in
 * parts of 10,000, and perhaps a comma and how many bytes the times of each event may take. */
static void read_time_mode(seg_header *h)
{
    const char *mode = efg_setting("EFG_TIME");
    efg_timing = mode == NULL || strcmp(mode, "off") != 0 ? EFG_TIMED : EFG_UNTIMED;
    h->time_mode = efg_timing;
    char *rest = "";
    long error = mode != NULL && strncmp(mode, "trace=", 6) == 0 ? strtol(mode + 6, &rest, 10) : -1;
    if (error == 0 || (error >= 10 && error <= 2500)) {
        h->time_mode = 2;
        h->time_error = (uint32_t)error;
        h->time_budget = *rest == ',' ? strtoull(rest + 1, NULL, 10) : 0;
        trace_budget(h->time_budget);
    }
}

static void start_clock(seg_header *h)
{
    read_time_mode(h);
    if (efg_timing == EFG_TIMED && counters_configure(h))
        efg_timing = EFG_TALLIED;
    const char *values = efg_setting("EFG_COUNTER_VALUES");
    if (efg_timing == EFG_TALLIED && h->time_mode == 2 && values != NULL && *values == '1') {
        h->values = 1;
        trace_values();
    }
    if (efg_timing != EFG_UNTIMED)
        h->tick_mult = efg_clock_calibrate();
    efg_clock_anchor();
}

/* Reports a new segment: to the daemon of the spool, which also finds it by
 * itself; or, if none listens, to the service for all users, which starts one. */
static void tell_daemon(void)
{
    int saved = errno, fd = efg_connect(efg_spool);
    if (fd < 0 && (errno == ECONNREFUSED || errno == ENOENT) && *efg_service != '\0')
        fd = efg_connect(efg_service);
    if (fd >= 0)
        efg_segment_register(fd);
    errno = saved;
}

int efg_start(const efg_process_info *info)
{
    static bool tried;
    const char *dir = efg_setting("EFG_DIR"), *why = "EFG_DIR is not set";
    if (efg_header != NULL || tried)
        return efg_header != NULL ? 0 : -1;
    tried = true;
    options = read_options();
    if (dir == NULL || efg_segment_open(dir, &why) != 0) {
        say("this process is not recorded", why);
        return -1;
    }
    owner = getpid();
    efg_header->demote = demote_bound();
    efg_find_tools(info->front);
    start_clock(efg_header);
    efg_set_process(info);
    if (pthread_key_create(&thread_key, thread_ends) != 0
        || pthread_atfork(NULL, NULL, forked_child) != 0) {
        say("this process is not recorded", "no thread key");
        return -1;
    }
    if (*efg_spool != '\0')
        tell_daemon();
    atomic_store(&efg_off, 0);
    return 0;
}

static void copy_text(uint8_t *to, size_t size, const char *from)
{
    size_t n = from != NULL ? strnlen(from, size - 1) : 0;
    memset(to, 0, size);
    memcpy(to, from != NULL ? from : "", n);
}

_Static_assert(sizeof ((seg_header *)0)->job == EFG_JOB_SIZE, "job");

void efg_set_process(const efg_process_info *info)
{
    seg_header *h = efg_header;
    if (h == NULL)
        return;
    h->rank = info->rank;
    h->size = (uint32_t)info->size;
    h->world = info->world;
    h->machines = info->machines;
    copy_text(h->job, sizeof h->job, info->job);
    copy_text(h->family, sizeof h->family, info->family);
    copy_text(h->mpi, sizeof h->mpi, info->version);
    efg_slots_shared = info->thread_multiple != 0;
    h->options = options | (efg_clock_is_tsc ? 8u : 0) | (efg_slots_shared ? 4u : 0);
}

void efg_end(enum efg_end how)
{
    seg_header *h = efg_header;
    if (h == NULL || getpid() != owner)
        return;
    efg_clock_anchor();
    efg_publish_barrier();
    if (h->state == EFG_END_OPEN || how == EFG_END_FINALIZED)
        h->state = how;
}

static _Atomic bool may_exit;

void efg_may_exit(bool yes) { may_exit = yes; }

int efg_option_queries(void) { return options & 1; }
int efg_option_buffers(void) { return (options & 2) != 0; }

__attribute__((constructor)) static void library_opens(void) { efg_clock_open(); }

__attribute__((destructor)) static void library_closes(void)
{
    if (efg_header != NULL && efg_header->state == EFG_END_OPEN)
        efg_end(may_exit ? EFG_END_FINALIZED : EFG_END_EXIT);
}
