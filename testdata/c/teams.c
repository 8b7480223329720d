/* Threads that share objects: communicators, datatypes, groups, windows, files and persistent requests that one makes and
 * others use, collectives that they call in turn, a thread that ends and one that does not.
 * usage: teams DIR [serialized] */
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { T = 3, ROUNDS = 5 };

static int rank, size, serialized;
static const char *dir;
static pthread_barrier_t all;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static MPI_Comm comm[T];
static MPI_Datatype pair;
static MPI_Group world;
static MPI_Win win;
static MPI_File file;
static MPI_Request kept[2];
static int memory[T], in, out;

static void wait_for_turn(int k)
{
    pthread_mutex_lock(&one);
    while (turn % T != k)
        pthread_cond_wait(&changed, &one);
}

static void pass_turn(void)
{
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&one);
}

/* Each in its turn: a collective of all ranks, and a communicator of its own. */
static void in_turn(int k)
{
    int sum, mine = k;
    wait_for_turn(k);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == k * size);
    if (k == 0) {
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
    }
    if (k == 1) {
        MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        char path[4096];
        snprintf(path, sizeof path, "%s/teams", dir);
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    }
    if (k == 2) {
        MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 70, MPI_COMM_WORLD, &kept[0]);
        MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 70, MPI_COMM_WORLD, &kept[1]);
    }
    pass_turn();
}

/* A datatype that each thread makes for itself, and one that thread 0 has made. */
static void send_types(int k)
{
    int data[4] = { rank, k, 0, 0 };
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Datatype own;
        MPI_Type_vector(2, 1, 2, MPI_INT, &own);
        MPI_Type_commit(&own);
        MPI_Sendrecv(data, 1, i % 2 ? own : pair, (rank + 1) % size, i, data, 1, i % 2 ? own : pair, (rank + size - 1) % size, i,
                     comm[k], MPI_STATUS_IGNORE);
        MPI_Type_free(&own);
    }
}

/* Thread 2 made the requests; each round another thread starts and completes them. */
static void persistent(int k)
{
    for (int i = 0; i < 2 * T; i++) {
        wait_for_turn(k);
        out = turn;
        MPI_Startall(2, kept);
        MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
        CHECK(in == out);
        pass_turn();
    }
}

static void shared(int k)
{
    wait_for_turn(k);
    if (k == 0) MPI_Win_fence(0, win);
    int value = 10 * rank + k;
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, k, 1, MPI_INT, win);
    if (k == T - 1) MPI_Win_fence(0, win);
    MPI_File_write_at(file, (MPI_Offset)sizeof value * (T * rank + k), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    pass_turn();
}

static void work(int k)
{
    in_turn(k);
    pthread_barrier_wait(&all);
    if (serialized) {
        wait_for_turn(k);
        send_types(k);
        pass_turn();
    } else {
        send_types(k);
    }
    pthread_barrier_wait(&all);
    persistent(k);
    shared(k);
    pthread_barrier_wait(&all);
}

static void *ends(void *arg)
{
    work(*(int *)arg);
    return NULL;
}

static void *stays(void *arg)
{
    work(*(int *)arg);
    for (;;)
        pause();
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, number[T] = { 0, 1, 2 };
    pthread_t thread[T];
    CHECK(argc > 1);
    dir = argv[1];
    serialized = argc > 2 && strcmp(argv[2], "serialized") == 0;
    MPI_Init_thread(&argc, &argv, serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided >= MPI_THREAD_SERIALIZED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_barrier_init(&all, NULL, T);
    CHECK(pthread_create(&thread[1], NULL, ends, &number[1]) == 0);
    CHECK(pthread_create(&thread[2], NULL, stays, &number[2]) == 0);
    work(0);
    pthread_join(thread[1], NULL);
    MPI_Win_free(&win);
    MPI_File_close(&file);
    MPI_Type_free(&pair);
    MPI_Group_free(&world);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&kept[i]);
    for (int i = 0; i < T; i++)
        MPI_Comm_free(&comm[i]);
    say_ok("teams", T);
    MPI_Finalize();
    return 0;
}
