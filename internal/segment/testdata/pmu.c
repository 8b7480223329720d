/* Counts with hardware counters that it makes itself: what perf events map is a page of a file in memory, and
 * rdpmc is a function. Counters have 48 bits and pass their limit; between readings, and while one is
 * being read, the thread is moved to other processors.
 * Prints what it counted: for each counter the sum in calls, and before them.
 * Arguments: how many events; then "limited" (two counters share the hardware), "slow" (no rdpmc, nor read), "refused"
 * (EACCES), "few" (one counter at a time), "small" (counters do not pass their limit, however many events there are), "real" (those of the machine; touches pages), "closed" (the same, and
 * the program closes all descriptors in the middle, and opens others). */

#include "core_internal.h"
#include "mockpmu.h"

#include <stdio.h>
#include <string.h>

enum { MAX = 8, WIDTH = MOCKED_WIDTH };

static struct perf_event_mmap_page *page[MAX];
static uint64_t value[MAX];     /* of the event so far */
static uint64_t hardware[MAX];  /* of the counter, as rdpmc reads it */
static unsigned events, moves;
static const char *mode = "";

/* The kernel takes the thread off its processor, and puts it on one whose counter has another value. */
static void move(unsigned i)
{
    struct perf_event_mmap_page *p = page[i];
    p->lock++;
    hardware[i] = (value[i] * 0x9E3779B97F4A7C15u + moves++) & (((uint64_t)1 << WIDTH) - 1);
    int64_t signed_value = (int64_t)(hardware[i] << (64 - WIDTH)) >> (64 - WIDTH);
    p->index = moves % 7 == 0 ? 0 : 1 + i;  /* sometimes nothing counts it for now */
    p->offset = p->index != 0 ? (int64_t)value[i] - signed_value : (int64_t)value[i];
    p->time_enabled += 10;
    p->time_running += strcmp(mode, "limited") == 0 && i == 1 && moves > 100 ? 5 : 10;
    p->lock++;
}

static void count(unsigned i, uint64_t n)
{
    value[i] += n;
    if (page[i]->index == 0)
        page[i]->offset += (int64_t)n;
    else
        hardware[i] = (hardware[i] + n) & (((uint64_t)1 << WIDTH) - 1);
}

uint64_t pmu_read(uint32_t counter)
{
    uint64_t v = hardware[counter];
    if (++moves % 5 == 0)
        move(counter);          /* before the reader has looked whether that happened */
    return v;
}

static int is_real(void) { return strcmp(mode, "real") == 0 || strcmp(mode, "closed") == 0; }

static void touch(size_t pages)
{
    char *p = mmap(NULL, pages * 4096 + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)p)[i * 4096] = 1;
    munmap(p, pages * 4096 + 1);
}

static int lowest(void)
{
    int fd = dup(2);
    close(fd);
    return fd;
}

/* Puts a pipe where descriptors were. */
static int replace_all(void)
{
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "a", 1) != 1)
        abort();
    for (int fd = 100; fd < 70000; fd++)
        if (dup2(fd, fd) == fd)
            dup2(ends[0], fd);
    return ends[0];
}

static int mocked(int group)
{
    if (is_real())
        return -1;
    if (strcmp(mode, "refused") == 0)
        return EACCES;
    return strcmp(mode, "few") == 0 && group != -1 ? EINVAL : 0;
}

static void mocked_page(struct perf_event_mmap_page *p)
{
    p->cap_user_rdpmc = strcmp(mode, "slow") != 0;
    page[events] = p;
    move(events++);
}

static unsigned open_files(void)
{
    unsigned n = 0;
    for (int fd = 3; fd < 70000; fd++)
        n += dup2(fd, fd) == fd;
    return n;
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    mode = argc > 2 ? argv[2] : "";
    int small = strcmp(mode, "small") == 0;
    efg_process_info info = {.size = 1, .family = "test", .version = ""};
    if (efg_start(&info) != 0)
        return 1;
    unsigned files = open_files();
    int low = lowest(), left = -1;
    uint64_t calls[MAX] = {0}, before[MAX] = {0};
    for (unsigned long k = 0; k < n; k++) {
        efg_stream *t = efg_enter();
        if (t == NULL || lowest() - (left >= 0 ? 2 : 0) != low)
            return 1;
        if (strcmp(mode, "closed") == 0 && k == n / 2)
            left = replace_all();
        if (is_real())
            touch(k % 10);
        for (unsigned i = 0; i < events; i++) {
            uint64_t v = (k * 7919 + i) % 1000 * (k % 50 == 3 && !small ? 1000000007 : 1);
            if (k % 3 == 0)
                move(i);
            count(i, v);
            before[i] += v;
        }
        t->w[0] = 1 | 3u << 24;
        t->w[1] = k % 4;
        t->w[2] = EFG_ABSENT;
        efg_call_begin(t);
        for (unsigned i = 0; i < events; i++) {
            uint64_t v = k * 31 % 77 + i;
            count(i, v);
            calls[i] += v;
        }
        efg_call_end(t);
        efg_record(t);
        efg_leave(t);
    }
    char c;
    if (left >= 0 && (read(left, &c, 1) != 1 || c != 'a'))
        return 1;
    if (!is_real() && strcmp(mode, "slow") != 0 && open_files() != files) {
        fprintf(stderr, "%u descriptors more\n", open_files() - files);
        return 1;
    }
    for (unsigned i = 0; i < events; i++)
        printf("%llu %llu\n", (unsigned long long)calls[i], (unsigned long long)before[i]);
    efg_end(EFG_END_FINALIZED);
    return 0;
}
