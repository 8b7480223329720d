/* Message races: what rank 0 computes depends on the order in which messages arrive, on which
 * requests complete first, and on how often polls find nothing. For each part named on the command
 * line it prints a hash over all of this. "dies" ends a part with SIGKILL. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 12, MOST = 64 };

static int rank, size;
static MPI_Comm comm = MPI_COMM_WORLD;

typedef uint64_t hash;
static void mix(hash *h, uint64_t v) { *h = (*h ^ v) * 1099511628211ull; }

static void mix_message(hash *h, const MPI_Status *s, int v)
{
    int n;
    MPI_Get_count(s, MPI_INT, &n);
    mix(h, (uint64_t)s->MPI_SOURCE << 32 | (uint64_t)(uint32_t)s->MPI_TAG << 16 | (uint64_t)n << 8 | (uint64_t)v);
}

static void pause_at_random(void)
{
    usleep((useconds_t)(rand() % 300));
}

/* What every other rank does: it sends ROUNDS numbers with its tags. */
static void send_all(int tags)
{
    for (int i = 0; i < ROUNDS; i++) {
        pause_at_random();
        MPI_Send(&i, 1, MPI_INT, 0, tags > 1 ? (rank + i) % tags : 0, comm);
    }
}

static int messages(void) { return ROUNDS * (size - 1); }

static hash blocking(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v; i < messages(); i++) {
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
        mix_message(&h, &s, v);
    }
    return h;
}

/* Only one of source and tag is any. */
static hash half(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v; i < messages(); i++) {
        if (i < ROUNDS) MPI_Recv(&v, 1, MPI_INT, 1, MPI_ANY_TAG, comm, &s);
        else MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &s);
        mix_message(&h, &s, v);
    }
    return h;
}

/* Receives from any source, as many at a time as there are senders. */
static MPI_Request r[MOST];
static int b[MOST], posted;

static void post(int i)
{
    if (posted++ < messages()) MPI_Irecv(&b[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[i]);
}
static void post_all(void)
{
    posted = 0;
    for (int i = 0; i < size; i++) r[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < size - 1; i++) post(i);
}

static hash waitany(void)
{
    hash h = 1;
    MPI_Status s;
    int x;
    post_all();
    for (MPI_Waitany(size, r, &x, &s); x != MPI_UNDEFINED; MPI_Waitany(size, r, &x, &s)) {
        mix(&h, (uint64_t)x);
        mix_message(&h, &s, b[x]);
        post(x);
    }
    return h;
}

static hash testany(void)
{
    hash h = 1;
    MPI_Status s;
    post_all();
    for (int x = 0, found; x != MPI_UNDEFINED;) {
        MPI_Testany(size, r, &x, &found, &s);
        mix(&h, (uint64_t)found);
        if (!found) x = 0;
        else if (x != MPI_UNDEFINED) {
            mix(&h, (uint64_t)x);
            mix_message(&h, &s, b[x]);
            post(x);
        }
    }
    return h;
}

static hash some(int wait)
{
    hash h = 1;
    MPI_Status s[MOST];
    int x[MOST], n = 0;
    post_all();
    while (n != MPI_UNDEFINED) {
        if (wait) MPI_Waitsome(size, r, &n, x, s);
        else MPI_Testsome(size, r, &n, x, s);
        mix(&h, (uint64_t)(int64_t)n);
        for (int i = 0; i < n; i++) {
            mix(&h, (uint64_t)x[i]);
            mix_message(&h, &s[i], b[x[i]]);
            post(x[i]);
        }
    }
    return h;
}

static hash waitsome(void) { return some(1); }
static hash testsome(void) { return some(0); }

/* Statuses are ignored. */
static hash ignored(void)
{
    hash h = 1;
    int x[MOST], n = 0, found;
    post_all();
    for (int i = 0; i < messages() / 2; i++) {
        MPI_Waitany(size, r, &x[0], MPI_STATUS_IGNORE);
        mix(&h, (uint64_t)(b[x[0]] * 1000 + x[0]));
        post(x[0]);
    }
    while (n != MPI_UNDEFINED) {
        MPI_Waitsome(size, r, &n, x, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            mix(&h, (uint64_t)(b[x[i]] * 1000 + x[i]));
            post(x[i]);
        }
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    return h;
}

static hash test(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v, done; i < messages(); i++) {
        MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
        for (done = 0; !done; mix(&h, (uint64_t)done)) MPI_Test(&r[0], &done, &s);
        mix_message(&h, &s, v);
    }
    return h;
}

static hash testall(void)
{
    hash h = 1;
    MPI_Status s[MOST];
    for (int i = 0, done; i < ROUNDS; i++) {
        for (int k = 0; k < size - 1; k++) MPI_Irecv(&b[k], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[k]);
        for (done = 0; !done; mix(&h, (uint64_t)done)) MPI_Testall(size - 1, r, &done, s);
        for (int k = 0; k < size - 1; k++) mix_message(&h, &s[k], b[k]);
    }
    return h;
}

static hash getstatus(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v, done; i < messages(); i++) {
        MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
        for (done = 0; !done; mix(&h, (uint64_t)done)) MPI_Request_get_status(r[0], &done, &s);
        MPI_Wait(&r[0], &s);
        mix_message(&h, &s, v);
    }
    return h;
}

static hash probe(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v; i < messages(); i++) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
        MPI_Recv(&v, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
        mix_message(&h, &s, v);
    }
    return h;
}

static hash iprobe(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v, found; i < messages(); i++) {
        for (found = 0; !found; mix(&h, (uint64_t)found)) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &s);
        MPI_Recv(&v, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
        mix_message(&h, &s, v);
    }
    return h;
}

/* How often polls find nothing does not matter. */
static hash polls(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v, x, found; i < messages(); i++) {
        found = 0;
        if (i % 4 == 3) {
            while (!found) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &s);
            MPI_Recv(&v, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
        } else {
            MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
            while (found == 0)
                if (i % 4 == 0) MPI_Test(&r[0], &found, &s);
                else if (i % 4 == 1) MPI_Testany(1, r, &x, &found, &s);
                else MPI_Testsome(1, r, &found, &x, &s);
        }
        mix_message(&h, &s, v);
    }
    return h;
}

static hash mprobe(void)
{
    hash h = 1;
    MPI_Status s;
    MPI_Message m;
    for (int i = 0, v; i < messages(); i++) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &m, &s);
        MPI_Mrecv(&v, 1, MPI_INT, &m, &s);
        mix_message(&h, &s, v);
    }
    return h;
}

static hash improbe(void)
{
    hash h = 1;
    MPI_Status s;
    MPI_Message m;
    for (int i = 0, v, found; i < messages(); i++) {
        for (found = 0; !found; mix(&h, (uint64_t)found)) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &m, &s);
        MPI_Imrecv(&v, 1, MPI_INT, &m, &r[0]);
        MPI_Wait(&r[0], &s);
        mix_message(&h, &s, v);
    }
    return h;
}

/* The requests are copied after they were made, started together and one by one, and freed. */
static hash persistent(void)
{
    hash h = 1;
    MPI_Status s;
    MPI_Request copy[MOST];
    int n = size - 1, left = messages(), x;
    for (int i = 0; i < n; i++) MPI_Recv_init(&b[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[i]);
    memcpy(copy, r, sizeof copy);
    MPI_Startall(n, copy);
    for (int started = n; left > 0; left--) {
        MPI_Waitany(n, r, &x, &s);
        mix(&h, (uint64_t)x);
        mix_message(&h, &s, b[x]);
        if (started < messages()) {
            MPI_Start(&copy[x]);
            started++;
        }
    }
    for (int i = 0; i < n; i++) MPI_Request_free(&copy[i]);
    return h;
}

static hash persistall(void)
{
    hash h = 1;
    MPI_Status s[MOST];
    int n = size - 1;
    for (int i = 0; i < n; i++) MPI_Recv_init(&b[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[i]);
    for (int i = 0, done; i < ROUNDS; i++) {
        MPI_Startall(n, r);
        if (i % 3 == 0) MPI_Waitall(n, r, s);
        if (i % 3 == 1) for (done = 0; !done; mix(&h, (uint64_t)done)) MPI_Testall(n, r, &done, s);
        if (i % 3 == 2) for (int k = 0; k < n; k++) MPI_Wait(&r[k], &s[k]);
        for (int k = 0; k < n; k++) mix_message(&h, &s[k], b[k]);
    }
    for (int i = 0; i < n; i++) MPI_Request_free(&r[i]);
    return h;
}

/* A receive of any source that is cancelled in the end is posted last. */
static hash cancelled(void)
{
    hash h = waitany();
    MPI_Status s;
    int v, flag;
    MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &s);
    MPI_Test_cancelled(&s, &flag);
    mix(&h, (uint64_t)flag);
    return h;
}

/* Each pair exchanges: rank 0 sends to a rank that waits, and receives from any. */
static hash sendrecv(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0; i < ROUNDS; i++)
        for (int to = 1, v; to < size; to++) {
            MPI_Sendrecv(&i, 1, MPI_INT, to, 5, &v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
            mix_message(&h, &s, v);
        }
    return h;
}
static void answer_all(void)
{
    for (int i = 0, v; i < ROUNDS; i++) {
        pause_at_random();
        MPI_Send(&i, 1, MPI_INT, 0, rank, comm);
        MPI_Recv(&v, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE);
    }
}

/* Two threads of rank 0 receive at the same time, each in a communicator of its own. */
static MPI_Comm own[2];
static hash of_thread[2];

static void *receive(void *arg)
{
    int k = *(int *)arg;
    MPI_Status s;
    hash h = 1;
    for (int i = 0, v; i < messages(); i++) {
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, own[k], &s);
        mix_message(&h, &s, v);
    }
    of_thread[k] = h;
    return NULL;
}

static hash threads(void)
{
    pthread_t second;
    int k[2] = { 0, 1 };
    MPI_Comm_dup(comm, &own[0]);
    MPI_Comm_dup(comm, &own[1]);
    if (rank == 0) {
        pthread_create(&second, NULL, receive, &k[1]);
        receive(&k[0]);
        pthread_join(second, NULL);
    } else {
        for (int i = 0; i < ROUNDS; i++) {
            pause_at_random();
            MPI_Send(&i, 1, MPI_INT, 0, rank, own[i % 2]);
            MPI_Send(&i, 1, MPI_INT, 0, rank, own[1 - i % 2]);
        }
    }
    MPI_Comm_free(&own[0]);
    MPI_Comm_free(&own[1]);
    return of_thread[0] * 31 + of_thread[1];
}

/* One thread posts the receives, another one completes them. */
static pthread_barrier_t handed;
static hash of_handed;

static void *complete_all(void *arg)
{
    MPI_Status s[MOST];
    int n = size - 1, x;
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&handed);
        if (i % 3 == 0) MPI_Waitall(n, r, s);
        for (int k = 0, done = 0; k < n && i % 3 == 1; k++, done = 0)
            for (; !done; mix(&of_handed, (uint64_t)done)) MPI_Test(&r[k], &done, &s[k]);
        for (int k = 0; k < n && i % 3 == 2; k++) {
            MPI_Waitany(n, r, &x, &s[k]);
            mix(&of_handed, (uint64_t)x);
        }
        for (int k = 0; k < n; k++) mix_message(&of_handed, &s[k], b[k]);
        pthread_barrier_wait(&handed);
    }
    return NULL;
}

static hash handover(void)
{
    pthread_t other;
    if (rank != 0) {
        send_all(3);
        return 0;
    }
    of_handed = 1;
    pthread_barrier_init(&handed, NULL, 2);
    pthread_create(&other, NULL, complete_all, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < size - 1; k++) MPI_Irecv(&b[k], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[k]);
        pthread_barrier_wait(&handed);
        pthread_barrier_wait(&handed);
    }
    pthread_join(other, NULL);
    pthread_barrier_destroy(&handed);
    return of_handed;
}

/* Rank 0 is killed in the middle, and prints what it knows before. */
static hash dies(void)
{
    hash h = 1;
    MPI_Status s;
    for (int i = 0, v; i < messages() / 2; i++) {
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
        mix_message(&h, &s, v);
    }
    printf("dies %016llx\n", (unsigned long long)h);
    fflush(stdout);
    if (getenv("RACES_LIVE") == NULL) raise(SIGKILL);
    for (int i = messages() / 2, v; i < messages(); i++)
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
    return h;
}

/* Partitions arrive one after another. How often polls find nothing is part of the hash. */
enum { PARTITIONS = 4 };

static hash arrived(void)
{
    hash h = 1;
#if MPI_VERSION >= 4
    static int in[PARTITIONS];
    MPI_Request q;
    MPI_Precv_init(in, PARTITIONS, 1, MPI_INT, 1, 7, comm, MPI_INFO_NULL, &q);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Start(&q);
        for (int k = 0; k < PARTITIONS; k++) {
            int flag = 0, failed = 0;
            for (MPI_Parrived(q, k, &flag); !flag; MPI_Parrived(q, k, &flag), failed++) usleep(20);
            mix(&h, (uint64_t)failed);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&q);
#endif
    return h;
}

static void send_partitions(void)
{
#if MPI_VERSION >= 4
    static int out[PARTITIONS];
    MPI_Request q;
    if (rank != 1) return;
    MPI_Psend_init(out, PARTITIONS, 1, MPI_INT, 0, 7, comm, MPI_INFO_NULL, &q);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Start(&q);
        for (int k = 0; k < PARTITIONS; k++) {
            pause_at_random();
            MPI_Pready(k, q);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&q);
#endif
}

/* The epoch in which the others access a window ends at some time. */
static hash tested(void)
{
    hash h = 1;
    static int memory[MOST];
    int others[MOST];
    MPI_Win win;
    MPI_Group all, group;
    for (int i = 1; i < size; i++) others[i - 1] = i;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, size - 1, others, &group);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win);
    for (int i = 0; i < ROUNDS; i++) {
        int flag = 0, failed = 0;
        MPI_Win_post(group, 0, win);
        for (MPI_Win_test(win, &flag); !flag; MPI_Win_test(win, &flag), failed++) usleep(20);
        mix(&h, (uint64_t)failed);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    return h;
}

static void put_all(void)
{
    const int zero = 0;
    MPI_Win win;
    MPI_Group all, group;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &zero, &group);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_start(group, 0, win);
        pause_at_random();
        MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static const struct {
    const char *name;
    hash (*receives)(void);
    int tags;                /* that senders use; 0: they answer */
    void (*sends)(void);     /* what they do instead */
} parts[] = {
    { "blocking", blocking, 3, NULL }, { "half", half, 1, NULL }, { "waitany", waitany, 3, NULL }, { "testany", testany, 3, NULL },
    { "waitsome", waitsome, 3, NULL }, { "testsome", testsome, 3, NULL }, { "ignored", ignored, 1, NULL }, { "test", test, 3, NULL },
    { "testall", testall, 3, NULL }, { "getstatus", getstatus, 3, NULL }, { "probe", probe, 3, NULL }, { "iprobe", iprobe, 3, NULL },
    { "mprobe", mprobe, 3, NULL }, { "improbe", improbe, 3, NULL }, { "persistent", persistent, 3, NULL }, { "persistall", persistall, 3, NULL },
    { "cancelled", cancelled, 3, NULL }, { "sendrecv", sendrecv, 0, NULL }, { "polls", polls, 3, NULL }, { "dies", dies, 3, NULL },
    { "arrived", arrived, 0, send_partitions }, { "tested", tested, 0, put_all },
};

static void run(const char *name)
{
    hash h = 0;
    int n = (int)(sizeof parts / sizeof *parts), numbers[9] = { 0 };
    const char *count = getenv("RACES_COUNT"), *late = getenv("RACES_LATE");
    if (late != NULL && rank == 1) sleep((unsigned)atoi(late));
    if (strcmp(name, "bcast") == 0) {
        MPI_Bcast(numbers, count != NULL ? atoi(count) : 1, MPI_INT, 0, comm);
    } else if (strcmp(name, "threads") == 0) {
        h = threads();
    } else if (strcmp(name, "handover") == 0) {
        h = handover();
    } else {
        for (int i = 0; i < n; i++) {
            if (strcmp(parts[i].name, name) != 0) continue;
            if (rank == 0) h = parts[i].receives();
            else if (parts[i].sends != NULL) parts[i].sends();
            else if (parts[i].tags == 0) answer_all();
            else send_all(parts[i].tags);
        }
    }
    MPI_Barrier(comm);
    if (rank == 0) printf("%s %016llx\n", name, (unsigned long long)h);
}

int main(int argc, char **argv)
{
    struct timespec now;
    int level, wants = MPI_THREAD_SINGLE;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "threads") == 0 || strcmp(argv[i], "handover") == 0) wants = MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, wants, &level);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    clock_gettime(CLOCK_MONOTONIC, &now);
    srand((unsigned)(now.tv_nsec ^ getpid() * 7919));
    for (int i = 1; i < argc; i++) run(argv[i]);
    MPI_Finalize();
    return 0;
}
