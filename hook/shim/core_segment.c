/* The segment: creating, mapping and growing the file. Layout:
 * internal/segment/FORMAT.md. Nothing here runs on the path of a recorded call
 * unless a new node, edge or chunk is needed.
 *
 * Address space is reserved once; the file grows into it. Space is allocated with
 * posix_fallocate before it is mapped, because a store into a page that a full
 * tmpfs cannot provide raises SIGBUS. Signals are blocked meanwhile: those of a
 * timer would interrupt the allocation repeatedly. No descriptor stays open: a
 * program may close all descriptors and open its own, which must not be written
 * to. */
#define _GNU_SOURCE
#include "core_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

char *efg_base;
seg_header *efg_header;
atomic_int efg_off = 1;

static char segment_path[PATH_MAX];
static uint64_t reserved;
static efg_lock_t alloc_lock = ATOMIC_FLAG_INIT;

enum { GROW_MIN = 64 << 10, GROW_MAX = 16 << 20, RESERVE_MIN = 256 << 10, PAGE = 4096 };

/* A file system with less space left, if that is also less than a quarter of it, is nearly full. */
#define LOW_SPACE ((uint64_t)1 << 30)

void efg_lock(efg_lock_t *l)
{
    while (atomic_flag_test_and_set_explicit(l, memory_order_acquire))
        sched_yield();
}

void efg_unlock(efg_lock_t *l) { atomic_flag_clear_explicit(l, memory_order_release); }

/* How much address space to reserve: practically unlimited, but a small part of
 * RLIMIT_AS if that is set, because the program needs the rest. */
static uint64_t reservation(void)
{
    struct rlimit r;
    uint64_t want = (uint64_t)64 << 30;
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur / 32 < want)
        want = r.rlim_cur / 32;
    if (want < RESERVE_MIN * 4)
        want = RESERVE_MIN * 4;
    return want & ~(uint64_t)(PAGE - 1);
}

static int reserve(void)
{
    for (uint64_t want = reservation(); want >= RESERVE_MIN; want = want / 2 & ~(uint64_t)(PAGE - 1)) {
        void *p = mmap(NULL, want, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) {
            efg_base = p;
            reserved = want;
            return 0;
        }
    }
    return -1;
}

/* Reports whether a file of this size would exceed RLIMIT_FSIZE (and raise
 * SIGXFSZ). */
static bool over_file_limit(uint64_t size)
{
    struct rlimit r;
    return getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && size > r.rlim_cur;
}

/* Adds bytes (a multiple of PAGE) at the end of the file and maps them. errno
 * value. */
static int extend(int fd, uint64_t from, uint64_t bytes)
{
    if (from + bytes > reserved)
        return ENOMEM;
    if (over_file_limit(from + bytes))
        return EFBIG;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = posix_fallocate(fd, (off_t)from, (off_t)bytes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err != 0)
        return err;
    void *p = mmap(efg_base + from, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, (off_t)from);
    if (p == MAP_FAILED)
        return errno;
    madvise(p, bytes, MADV_DONTDUMP);
    return 0;
}

bool efg_space_low(void)
{
    uint64_t size = efg_header->mapped;
    struct statvfs fs;
    int saved = errno;
    bool low = size > reserved / 2 || over_file_limit(size * 2);
    if (!low && statvfs(segment_path, &fs) == 0) {
        uint64_t left = (uint64_t)fs.f_bavail * fs.f_frsize;
        low = left < LOW_SPACE && left < (uint64_t)fs.f_blocks * fs.f_frsize / 4;
    }
    errno = saved;
    return low;
}

void efg_segment_full(int err)
{
    if (efg_header->full == 0)
        efg_header->full = (uint32_t)err;
}

/* Extends by *bytes or, if that does not fit, by the minimum that is needed. */
static int extend_or_less(int fd, uint64_t from, uint64_t *bytes, uint64_t least)
{
    int err = extend(fd, from, *bytes);
    if (err != 0 && *bytes > least) {
        *bytes = least;
        err = extend(fd, from, least);
    }
    return err;
}

/* Grows the file so that at least need more bytes fit. */
static int grow(uint64_t need)
{
    need = (need + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    uint64_t step = efg_header->mapped / 8 & ~(uint64_t)(PAGE - 1);
    step = step < GROW_MIN ? GROW_MIN : step > GROW_MAX ? GROW_MAX : step;
    if (step < need)
        step = need;
    int saved = errno, err = 0;
    int fd = open(segment_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        err = errno;
    } else {
        err = extend_or_less(fd, efg_header->mapped, &step, need);
        close(fd);
    }
    errno = saved;
    if (err != 0) {
        efg_segment_full(err);
        return -1;
    }
    efg_header->mapped += step;
    return 0;
}

void *efg_alloc(size_t bytes, size_t align)
{
    void *p = NULL;
    efg_lock(&alloc_lock);
    seg_header *h = efg_header;
    uint64_t from = (h->used + align - 1) & ~(uint64_t)(align - 1);
    uint64_t end = from + ((bytes + SEG_REF_UNIT - 1) & ~(uint64_t)(SEG_REF_UNIT - 1));
    if (h->full == 0 && (end <= h->mapped || grow(end - h->mapped) == 0)) {
        h->used = end;
        p = efg_base + from;
    }
    efg_unlock(&alloc_lock);
    return p;
}

/* ---- opening ---- */

static uint64_t now_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void read_command(seg_header *h)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, h->command, sizeof h->command);
    close(fd);
    h->command_len = n > 0 ? (uint32_t)n : 0;
}

static void fill_header(seg_header *h, uint64_t mapped, const char *host)
{
    h->layout_hash = EFG_LAYOUT_HASH;
    h->version = SEG_VERSION;
    h->header_size = SEG_HEADER_SIZE;
    h->pid = (uint32_t)getpid();
    h->rank = -1;
    h->mapped = mapped;
    h->used = SEG_HEADER_SIZE;
    h->start_real = now_ns(CLOCK_REALTIME);
    memcpy(h->host, host, strlen(host));
    read_command(h);
    efg_publish_barrier();
    h->magic = SEG_MAGIC;
}

static int failed(const char *what, int err, const char **why)
{
    static char text[PATH_MAX + 128];
    snprintf(text, sizeof text, "%s %s: %s", what, segment_path, strerror(err));
    if (efg_base != NULL)
        munmap(efg_base, reserved);
    efg_base = NULL;
    *why = text;
    return -1;
}

/* Names the file by an absolute path: the program may change its directory. */
static int name_segment(const char *dir, const char *host)
{
    char here[PATH_MAX] = "";
    if (*dir != '/' && getcwd(here, sizeof here) == NULL)
        return -1;
    int n = snprintf(segment_path, sizeof segment_path, "%s%s%s/%s.%d.%llx.seg", here,
                     *here != '\0' ? "/" : "", dir, host, (int)getpid(),
                     (unsigned long long)now_ns(CLOCK_REALTIME));
    return n > 0 && (size_t)n < sizeof segment_path ? 0 : -1;
}

int efg_segment_open(const char *dir, const char **why)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    if (name_segment(dir, host) != 0) {
        *why = "the name in EFG_DIR is too long";
        return -1;
    }
    if (reserve() != 0) {
        *why = "no address space for the segment";
        return -1;
    }
    int fd = open(segment_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed("cannot create", errno, why);
    uint64_t bytes = GROW_MIN;
    int err = extend_or_less(fd, 0, &bytes, SEG_HEADER_SIZE * 4);
    close(fd);
    if (err != 0) {
        unlink(segment_path);
        return failed("no space for", err, why);
    }
    efg_header = (seg_header *)efg_base;
    fill_header(efg_header, bytes, host);
    return 0;
}

void efg_segment_register(int fd)
{
    send(fd, segment_path, strlen(segment_path), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

void efg_fork_calls(const char *symbol)
{
    static pid_t noted;
    pid_t self = getpid();
    if (noted == self)
        return;
    noted = self;
    int fd = open(segment_path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    seg_header *h = mmap(NULL, SEG_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (h == MAP_FAILED)
        return;
    if (__atomic_fetch_add(&h->forks, 1, __ATOMIC_RELAXED) == 0) {
        strncpy((char *)h->fork_call, symbol, sizeof h->fork_call - 1);
        __atomic_store_n(&h->fork_pid, (uint32_t)self, __ATOMIC_RELEASE);
    }
    munmap(h, SEG_HEADER_SIZE);
}

void efg_segment_leave(void)
{
    if (efg_header == NULL)
        return;
    void *p = mmap(efg_base, efg_header->mapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED)
        efg_header->full = ECHILD;
}
