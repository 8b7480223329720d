/* Programs with bad days, each an argument: what a program may do to itself
 * while it is recorded. All feed the input; see input.h. */
#define _GNU_SOURCE
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long events;

static void fail(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
    _exit(9);
}

/* ---- ends ---- */

static void end_exit(void) { exit(7); }
static void end_quick(void) { _exit(7); }
static void end_abort(void) { abort(); }
static void end_segfault(void) { raise(SIGSEGV); }

static void end_exec(void)
{
    if (getenv("AGAIN") != NULL) {
        efg_end(EFG_END_FINALIZED);
        exit(0);
    }
    setenv("AGAIN", "1", 1);
    lseek(0, 0, SEEK_SET);
    execl("/proc/self/exe", "days", "exec", (char *)NULL);
    fail("exec");
}

/* ---- in a call ---- */

enum { IN_CALL = 30 };

static void kill_self(void) { raise(SIGKILL); }
static void exit_now(void) { exit(7); }

/* Feeds so many events, and has the end come in the middle of the next one. */
static void feed_until(void (*end)(void))
{
    for (size_t i = 0; i < nin;)
        i = in[i] == 1 ? define(i + 1) : add(i + 1, events++ == IN_CALL ? end : NULL);
}

static void killed_in_call(void) { feed_until(kill_self); }
static void exits_in_call(void) { feed_until(exit_now); }

/* ---- on the way ---- */

/* A child that goes on with the program's work, and leaves in an orderly way. */
static void fork_and_go_on(void)
{
    if (events++ % 50 != 7)
        return;
    pid_t child = fork();
    if (child == 0) {
        long before = refused;
        feed(NULL);
        efg_end(EFG_END_FINALIZED);
        exit(refused > before ? 5 : 6);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 5 << 8)
        fail("child");
}

/* A call in which the library calls back and the program forks there. */
static void fork_in_call(void)
{
    pid_t child = fork();
    if (child != 0) {
        int status;
        if (waitpid(child, &status, 0) != child || status != 0)
            fail("child");
        return;
    }
}

static void feed_forking_calls(void)
{
    pid_t parent = getpid();
    for (size_t i = 0; i < nin;) {
        bool now = in[i] == 2 && events++ % 50 == 9;
        i = in[i] == 1 ? define(i + 1) : add(i + 1, now ? fork_in_call : NULL);
        if (getpid() != parent) {   /* out of the call, some more, and out */
            for (int k = 0; k < 5 && i < nin && in[i] == 2; k++)
                i = add(i + 1, NULL);
            exit(0);
        }
    }
}

static void fork_and_exec(void)
{
    if (events++ % 100 == 7 && system("exit 3") != 3 << 8)
        fail("system");
}

/* Closes everything, and works with files of its own under those numbers. */
static void take_descriptors(void)
{
    struct stat st;
    if (events++ == 20)
        for (int fd = 0; fd < 64; fd++) {
            close(fd);
            if (open("/tmp", O_TMPFILE | O_RDWR, 0600) != fd || write(fd, "mine", 4) != 4)
                _exit(8);
        }
    for (int fd = 0; events > 20 && fd < 64; fd++)
        if (fstat(fd, &st) != 0 || st.st_size != 4)
            _exit(9);
}

static bool interrupting;

/* Stands before the C library's. On tmpfs, older kernels give up whenever a
 * signal comes, and a profiler's timer sends one every time. */
int posix_fallocate(int fd, off_t from, off_t bytes)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (interrupting && !sigismember(&blocked, SIGPROF))
        return EINTR;
    return syscall(SYS_fallocate, fd, 0, from, bytes) == 0 ? 0 : errno;
}

static void start_interrupting(void) { interrupting = true; }

static void go_elsewhere(void)
{
    if (chdir("/") != 0)
        fail("chdir");
}

/* Needs memory of its own; the limit is set by the parent. */
static void allocate(void)
{
    if (events++ != 100)
        return;
    void *p = malloc(40 << 20);
    if (p == NULL)
        fail("malloc");
    memset(p, 1, 40 << 20);
    free(p);
}

/* ---- the kernel's view ---- */

/* Prints the flags of the mappings of the segment. */
static void show_mapping(void)
{
    char line[4096];
    bool segment = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx", &from, &to) == 2)
            segment = strstr(line, ".seg") != NULL;
        if (segment && strncmp(line, "VmFlags:", 8) == 0)
            fputs(line, stdout);
    }
    if (f != NULL)
        fclose(f);
}

/* ---- threads ---- */

enum { THREADS = 4 };

static pthread_barrier_t barrier;

/* One call, which makes the thread's stream. */
static void *one_call(void *arg)
{
    add((size_t)(uintptr_t)arg, NULL);
    return NULL;
}

static void *feed_all(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&barrier);
    feed(NULL);
    return NULL;
}

static void feed_in_threads(void)
{
    pthread_t t[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, feed_all, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

static void many_threads(void)
{
    size_t i = 0;
    while (in[i] == 1)
        i = define(i + 1);
    for (int n = 0; n < 4100; n++) {
        pthread_t t;
        if (pthread_create(&t, NULL, one_call, (void *)(uintptr_t)(i + 1)) != 0)
            fail("thread");
        pthread_join(t, NULL);
    }
}

/* ---- slots ---- */

enum { LIVE = 1 << 20, BATCH = 64 };

/* words of the input's only event, with a new object in word `slot` */
static uint64_t new_object(unsigned slot)
{
    efg_stream *t = efg_enter();
    if (t == NULL)
        fail("no stream");
    memcpy(t->w, in + 2, in[1] * 8);
    t->w[slot] = EFG_NEW;
    efg_call_begin(t);
    uint64_t id = efg_record(t);
    efg_leave(t);
    return id;
}

/* A million live objects; then those in the middle come and go. */
static void live_slots(void)
{
    unsigned slot = (unsigned)strtoul(getenv("SLOT"), NULL, 10);
    for (uint64_t k = 0; k < LIVE; k++)
        if ((new_object(slot) & 0xffffff) != k)
            fail("not the lowest slot");
    for (uint64_t k = 1000; k < 2000; k++) {
        efg_slot_free(EFG_ID_BIT | k);
        efg_slot_free(EFG_ID_BIT | (k - 500));
        if ((new_object(slot) & 0xffffff) != k - 500 || (new_object(slot) & 0xffffff) != k)
            fail("not the lowest slot");
    }
}

static _Atomic uint64_t mailbox[BATCH];

static void *free_mail(void *arg)
{
    (void)arg;
    for (int n = 0; n < 20000;) {
        for (int k = 0; k < BATCH; k++) {
            uint64_t id = atomic_exchange(&mailbox[k], 0);
            if (id != 0) {
                efg_slot_free(id);
                n++;
            }
        }
        sched_yield();
    }
    return NULL;
}

/* One thread makes objects, another frees them. */
static void pass_slots(void)
{
    pthread_t t;
    unsigned slot = (unsigned)strtoul(getenv("SLOT"), NULL, 10);
    pthread_create(&t, NULL, free_mail, NULL);
    for (int n = 0; n < 20000; n++) {
        uint64_t id = new_object(slot), none = 0;
        for (int k = n; !atomic_compare_exchange_strong(&mailbox[k % BATCH], &none, id); k++, none = 0)
            if (k % BATCH == 0)
                sched_yield();
    }
    pthread_join(t, NULL);
}

/* ---- all ---- */

static const struct day {
    const char *name;
    void (*before)(void), (*after_event)(void), (*instead)(void), (*end)(void);
} days[] = {
    {"exit", NULL, NULL, NULL, end_exit},
    {"quick", NULL, NULL, NULL, end_quick},
    {"abort", NULL, NULL, NULL, end_abort},
    {"segfault", NULL, NULL, NULL, end_segfault},
    {"killed in a call", NULL, NULL, killed_in_call, NULL},
    {"exits in a call", NULL, NULL, exits_in_call, NULL},
    {"exec", NULL, NULL, NULL, end_exec},
    {"fork", NULL, fork_and_go_on, NULL, NULL},
    {"callback", NULL, NULL, feed_forking_calls, NULL},
    {"system", NULL, fork_and_exec, NULL, NULL},
    {"descriptors", NULL, take_descriptors, NULL, NULL},
    {"signals", start_interrupting, NULL, NULL, NULL},
    {"chdir", go_elsewhere, NULL, NULL, NULL},
    {"memory", NULL, allocate, NULL, NULL},
    {"mapping", NULL, NULL, NULL, show_mapping},
    {"threads", NULL, NULL, feed_in_threads, NULL},
    {"many", NULL, NULL, many_threads, NULL},
    {"slots", NULL, NULL, live_slots, NULL},
    {"mail", NULL, NULL, pass_slots, NULL},
    {"plain", NULL, NULL, NULL, NULL},
    {"tight", NULL, NULL, NULL, NULL},
};

static void pass_through(const struct day *d)
{
    if (d->before != NULL)
        d->before();
    if (d->instead != NULL)
        d->instead();
    else
        feed(d->after_event);
    if (d->end != NULL)
        d->end();
}

/* Leaves hardly any address space. */
static void set_limit(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%lu", &pages) != 1)
        fail("statm");
    fclose(f);
    struct rlimit r = {pages * 4096 + (100 << 10), RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &r) != 0)
        fail("setrlimit");
}

int main(int argc, char **argv)
{
    read_input();
    if (argc > 1 && strcmp(argv[1], "tight") == 0)
        set_limit();
    /* A program that cannot be recorded goes on. */
    int recorded = start();
    for (size_t k = 0; argc > 1 && k < sizeof days / sizeof *days; k++)
        if (strcmp(argv[1], days[k].name) == 0)
            pass_through(&days[k]);
    efg_end(EFG_END_FINALIZED);
    printf("recorded %d refused %ld\n", recorded, refused);
    return 0;
}
