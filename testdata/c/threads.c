/* Several threads in MPI at once; requests completed by another thread than
 * the one that issued them: threads ROUNDS */
#include "check.h"

#include <pthread.h>

enum { T = 3, K = 4 };

typedef struct job {
    int id, rounds;
    MPI_Comm comm;
} job;

/* Requests passed from even to odd jobs. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int full;
    MPI_Request r[K];
} box = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, { 0 } };

static int rank, size;

static void ring(const job *j)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < j->rounds; i++) {
        int out = 100 * j->id + i, in = -1;
        MPI_Request r[2];
        MPI_Irecv(&in, 1, MPI_INT, left, j->id, j->comm, &r[0]);
        MPI_Isend(&out, 1, MPI_INT, right, j->id, j->comm, &r[1]);
        if (i % 2) {
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        } else {
            MPI_Wait(&r[1], MPI_STATUS_IGNORE);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        }
        CHECK(in == out);
        if (i % 8 == 0)
            MPI_Barrier(j->comm);
    }
}

static void *worker(void *arg)
{
    ring(arg);
    return NULL;
}

static void *issuer(void *arg)
{
    const job *j = arg;
    static int out[K];
    for (int i = 0; i < j->rounds; i++) {
        pthread_mutex_lock(&box.lock);
        while (box.full)
            pthread_cond_wait(&box.changed, &box.lock);
        for (int k = 0; k < K; k++)
            MPI_Isend(&out[k], 1, MPI_INT, (rank + 1) % size, k, j->comm, &box.r[k]);
        box.full = 1;
        pthread_cond_broadcast(&box.changed);
        pthread_mutex_unlock(&box.lock);
    }
    return NULL;
}

static void *completer(void *arg)
{
    const job *j = arg;
    for (int i = 0; i < j->rounds; i++) {
        int in;
        for (int k = 0; k < K; k++)
            MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, k, j->comm, MPI_STATUS_IGNORE);
        pthread_mutex_lock(&box.lock);
        while (!box.full)
            pthread_cond_wait(&box.changed, &box.lock);
        MPI_Waitall(K, box.r, MPI_STATUSES_IGNORE);
        box.full = 0;
        pthread_cond_broadcast(&box.changed);
        pthread_mutex_unlock(&box.lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    void *(*const body[T + 2])(void *) = { worker, worker, worker, issuer, completer };
    job jobs[T + 2];
    pthread_t thread[T + 2];
    MPI_Comm pair;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = number_arg(argc, argv, 1, 20);
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    for (int i = 0; i < T + 2; i++) {
        jobs[i] = (job){ i, rounds, pair };
        if (i < T)
            MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comm);
    }
    for (int i = 0; i < T + 2; i++)
        CHECK(pthread_create(&thread[i], NULL, body[i], &jobs[i]) == 0);
    for (int i = 0; i < T + 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < T; i++)
        MPI_Comm_free(&jobs[i].comm);
    MPI_Comm_free(&pair);
    say_ok("threads", rounds);
    MPI_Finalize();
    return 0;
}
