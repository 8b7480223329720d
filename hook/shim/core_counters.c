/* Counters: what the hardware and the kernel count of a thread, read at the start and the end of
 * each call. Per node there are their sums, minima, maxima and histograms: of the calls, and of
 * what was done between the call before and the call.
 *
 * Hardware events are read by rdpmc, from the page that perf events map, without any file
 * descriptor: the mapping keeps the event. Where the kernel does not allow that, a group of
 * events is read by read(2). What the kernel counts of each thread anyway (faults, switches,
 * processor time) comes from getrusage and clock_gettime, which containers allow, too. */
#define _GNU_SOURCE
#include "core_counters.h"
#include "core_internal.h"
#include "setting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Events that are counted together, if read(2) reads them. */
typedef struct group {
    int fd[EFG_MAX_COUNTERS];       /* the leader's is the first; high numbers */
    unsigned slot[EFG_MAX_COUNTERS];
    unsigned n;
    uint64_t id;                    /* of the leader: tells the descriptor from one that the program opened since */
} group;

struct efg_counters {
    unsigned n;
    uint32_t active;                /* bit i: counter i is read */
    unsigned npages, ngroups, nusage;
    bool of_kernel;                 /* there are some besides those of pages */
    struct {
        struct perf_event_mmap_page *page;
        unsigned slot;
    } pages[EFG_MAX_COUNTERS];
    group groups[EFG_MAX_COUNTERS];
    struct {
        unsigned slot;
        enum efg_usage what;
    } usage[EFG_MAX_COUNTERS];
    int clock;                      /* the slot of the thread's processor time; -1: none */
    uint64_t before[EFG_MAX_COUNTERS];  /* at the end of the call before */
    uint64_t start[EFG_MAX_COUNTERS];   /* at the start of the call */
    uint64_t end[EFG_MAX_COUNTERS];
};

/* ---- what to count ---- */

/* Reads an entry, NAME:UNIT:SOURCE:CONFIG, and returns what follows it; NULL if it is none. */
static const char *read_entry(const char *s, seg_counter *c)
{
    const char *unit = strchr(s, ':'), *source = unit != NULL ? strchr(unit + 1, ':') : NULL;
    if (source == NULL || unit == s || (size_t)(source - s) >= sizeof c->name)
        return NULL;
    char *end;
    memcpy(c->name, s, (size_t)(source - s));
    c->name[unit - s] = source > unit + 1 ? ' ' : '\0';
    c->source = (uint32_t)strtoul(source + 1, &end, 10);
    if (*end != ':')
        return NULL;
    c->config = strtoull(end + 1, &end, 0);
    return *end == '\0' || *end == ',' ? end : NULL;
}

bool counters_configure(seg_header *h)
{
    const char *s = efg_setting("EFG_COUNTERS");
    while (s != NULL && *s != '\0' && h->ncounters < EFG_MAX_COUNTERS) {
        seg_counter *c = &h->counters[h->ncounters];
        s = read_entry(s, c);
        if (s == NULL) {
            memset(c, 0, sizeof *c);
            break;
        }
        h->ncounters++;
        s += *s == ',';
    }
    return h->ncounters > 0;
}

static void mark(unsigned slot, uint32_t bits)
{
    uint32_t *state = &efg_header->counters[slot].state;
    if ((__atomic_load_n(state, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(state, bits, __ATOMIC_RELAXED);
}

static void failed(unsigned slot, int err)
{
    efg_header->counters[slot].error = (uint32_t)err;
    mark(slot, EFG_COUNTER_FAILED);
}

/* ---- opening ---- */

static int open_event(const seg_counter *c, int leader, bool kernel)
{
    struct perf_event_attr a = {
        .type = c->source, .size = sizeof a, .config = c->config, .exclude_kernel = !kernel, .exclude_hv = 1,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* Moves a descriptor to a high number: programs count on getting low ones, and select needs them. */
static int move_up(int fd)
{
    struct rlimit r;
    int least = getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < 1 << 16 ? (int)r.rlim_cur / 4 * 3 : 1 << 15;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, least), err = errno;
    close(fd);
    errno = err;
    return high;
}

/* Opens the event of a slot in the group, if it fits in there. errno value. */
static int join(group *g, unsigned slot)
{
    const seg_counter *c = &efg_header->counters[slot];
    int leader = g->n > 0 ? g->fd[0] : -1;
    int fd = open_event(c, leader, c->source == PERF_TYPE_SOFTWARE);
    if (fd >= 0)
        fd = move_up(fd);
    if (fd < 0)
        return errno;
    g->fd[g->n] = fd;
    g->slot[g->n++] = slot;
    return 0;
}

/* Joins the last group, or a new one if the hardware cannot count so many at once. */
static int add_event(efg_counters *c, unsigned slot)
{
    group *last = c->ngroups > 0 ? &c->groups[c->ngroups - 1] : NULL;
    if (last != NULL) {
        int err = join(last, slot);
        if (err != EINVAL && err != ENOSPC)
            return err;
    }
    group *g = &c->groups[c->ngroups];
    int err = join(g, slot);
    if (err == 0)
        c->ngroups++;
    return err;
}

static void add(efg_counters *c, unsigned slot)
{
    const seg_counter *counter = &efg_header->counters[slot];
    int err = 0;
    switch (counter->source) {
    case EFG_FROM_USAGE:
        c->usage[c->nusage].slot = slot;
        c->usage[c->nusage++].what = (enum efg_usage)counter->config;
        break;
    case EFG_FROM_CLOCK:
        c->clock = (int)slot;
        break;
    default:
        err = add_event(c, slot);
    }
    if (err != 0) {
        failed(slot, err);
        return;
    }
    c->active |= 1u << slot;
    mark(slot, EFG_COUNTER_READ);
}

/* Maps the pages of a group's events. Reports whether all can be read without the kernel; otherwise
 * none is mapped. */
static bool map_pages(efg_counters *c, const group *g)
{
    unsigned first = c->npages;
    for (unsigned i = 0; i < g->n; i++) {
        struct perf_event_mmap_page *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, g->fd[i], 0);
        if (p != MAP_FAILED) {
            c->pages[c->npages].page = p;
            c->pages[c->npages++].slot = g->slot[i];
            if (counter_page_readable(p))
                continue;
        }
        while (c->npages > first)
            munmap(c->pages[--c->npages].page, PAGE);
        return false;
    }
    return true;
}

static void close_group(group *g)
{
    for (unsigned i = 0; i < g->n; i++)
        close(g->fd[i]);
    g->n = 0;
}

/* Reads groups by their pages where that is possible: these need no descriptors. */
static void prefer_pages(efg_counters *c)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < c->ngroups; i++) {
        group *g = &c->groups[i];
        if (map_pages(c, g)) {
            close_group(g);
        } else {
            ioctl(g->fd[0], PERF_EVENT_IOC_ID, &g->id);
            c->groups[kept++] = *g;
        }
    }
    c->ngroups = kept;
}

/* ---- reading ---- */

/* The group cannot be read any more: the program closed its descriptors, perhaps uses the numbers. */
static void lose_group(efg_counters *c, group *g)
{
    for (unsigned i = 0; i < g->n; i++) {
        c->active &= ~(1u << g->slot[i]);
        failed(g->slot[i], EBADF);
    }
    g->n = 0;
}

static bool is_ours(const group *g)
{
    uint64_t id = 0;
    return g->n > 0 && ioctl(g->fd[0], PERF_EVENT_IOC_ID, &id) == 0 && id == g->id;
}

static void read_group(efg_counters *c, group *g, uint64_t *to)
{
    uint64_t b[3 + EFG_MAX_COUNTERS];   /* number, time enabled, time running, values */
    ssize_t want = (ssize_t)((3 + g->n) * sizeof *b);
    if (g->n == 0)
        return;
    if (!is_ours(g) || read(g->fd[0], b, sizeof b) != want) {
        lose_group(c, g);
        return;
    }
    for (unsigned i = 0; i < g->n; i++) {
        to[g->slot[i]] = b[3 + i];
        if (unlikely(b[1] != b[2]))
            mark(g->slot[i], EFG_COUNTER_MULTIPLEXED);
    }
}

static uint64_t usage_of(const struct rusage *r, enum efg_usage what)
{
    switch (what) {
    case EFG_MINOR_FAULTS: return (uint64_t)r->ru_minflt;
    case EFG_MAJOR_FAULTS: return (uint64_t)r->ru_majflt;
    case EFG_FAULTS:       return (uint64_t)(r->ru_minflt + r->ru_majflt);
    case EFG_SWITCHES:     return (uint64_t)(r->ru_nvcsw + r->ru_nivcsw);
    case EFG_MAX_RSS:      return (uint64_t)r->ru_maxrss;
    }
    return 0;
}

static void read_usage(const efg_counters *c, uint64_t *to)
{
    struct rusage r;
    if (getrusage(RUSAGE_THREAD, &r) != 0)
        return;
    for (unsigned i = 0; i < c->nusage; i++)
        to[c->usage[i].slot] = usage_of(&r, c->usage[i].what);
}

static uint64_t thread_clock(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Those that the kernel must be asked for. */
static __attribute__((noinline)) void read_from_kernel(efg_counters *c, uint64_t *to)
{
    int saved = errno;
    for (unsigned i = 0; i < c->ngroups; i++)
        read_group(c, &c->groups[i], to);
    if (c->nusage > 0)
        read_usage(c, to);
    if (c->clock >= 0)
        to[c->clock] = thread_clock();
    errno = saved;
}

/* Counters that cannot be read keep the value in to. */
static inline void read_all(efg_counters *c, uint64_t *to)
{
    for (unsigned i = 0; i < c->npages; i++) {
        bool all;
        to[c->pages[i].slot] = counter_page_read(c->pages[i].page, &all);
        if (unlikely(!all))
            mark(c->pages[i].slot, EFG_COUNTER_MULTIPLEXED);
    }
    if (c->of_kernel)
        read_from_kernel(c, to);
}

efg_counters *counters_open(void)
{
    efg_counters *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    int saved = errno;
    c->n = efg_header->ncounters;
    c->clock = -1;
    for (unsigned i = 0; i < c->n; i++)
        add(c, i);
    prefer_pages(c);
    c->of_kernel = c->ngroups + c->nusage > 0 || c->clock >= 0;
    read_all(c, c->before);
    errno = saved;
    return c;
}

void counters_close(efg_counters *c)
{
    if (c == NULL)
        return;
    for (unsigned i = 0; i < c->npages; i++)
        munmap(c->pages[i].page, PAGE);
    for (unsigned i = 0; i < c->ngroups; i++)
        if (is_ours(&c->groups[i]))
            close_group(&c->groups[i]);
    free(c);
}

void counters_forked(efg_counters *c)
{
    for (unsigned i = 0; c != NULL && i < c->ngroups; i++)
        if (is_ours(&c->groups[i]))
            close_group(&c->groups[i]);
}

uint64_t efg_counted_begin(efg_stream *t)
{
    efg_counters *c = t->counters;
    if (likely(c != NULL))
        read_all(c, c->start);
    return efg_ticks();
}

uint64_t efg_counted_end(efg_stream *t)
{
    uint64_t now = efg_ticks();
    efg_counters *c = t->counters;
    if (likely(c != NULL))
        read_all(c, c->end);
    return now;
}

uint64_t efg_counted_instant(efg_stream *t)
{
    efg_counters *c = t->counters;
    if (likely(c != NULL)) {
        read_all(c, c->start);
        memcpy(c->end, c->start, sizeof c->end);
    }
    return efg_ticks();
}

/* ---- counting ---- */

static inline void tally(seg_tally *t, uint64_t v)
{
    unsigned bin = v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
    uint32_t *n = &t->bins[bin < SEG_TALLY_BINS ? bin : SEG_TALLY_BINS - 1];
    t->sum += v;
    if (unlikely(v < t->min))
        t->min = v;
    if (unlikely(v > t->max))
        t->max = v;
    *n += *n != UINT32_MAX;
}

void counters_init_node(seg_node_counter *s)
{
    for (unsigned i = 0; i < efg_header->ncounters; i++)
        s[i].call.min = s[i].before.min = ~(uint64_t)0;
}

/* A value that went back was reset by someone else: it counts as unchanged. */
static inline uint64_t passed(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

/* What a counter counted between the call before and the newest call, and in that. Both stay the same until
 * the call is counted. */
static inline uint64_t before_call(const efg_counters *c, unsigned i) { return passed(c->before[i], c->start[i]); }

/* A call that did not return has an end before its start. */
static inline uint64_t in_call(const efg_counters *c, unsigned i) { return passed(c->start[i], c->end[i]); }

unsigned counters_values(const efg_counters *c, uint64_t *before, uint64_t *call)
{
    if (c == NULL)
        return 0;
    for (unsigned i = 0; i < c->n; i++) {
        before[i] = before_call(c, i);
        call[i] = in_call(c, i);
    }
    return c->active;
}

void counters_count(efg_counters *c, seg_node_counter *s)
{
    if (c == NULL)
        return;
    for (unsigned i = 0; i < c->n; i++) {
        if (unlikely(!(c->active >> i & 1)))
            continue;
        tally(&s[i].before, before_call(c, i));
        tally(&s[i].call, in_call(c, i));
        c->before[i] = c->end[i] < c->start[i] ? c->start[i] : c->end[i];
        s[i].count++;
    }
}
