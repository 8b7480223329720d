/* Receives completed one at a time, with everything that a status can say:
 * changing sizes, short and empty messages, wildcards, MPI_PROC_NULL, types of
 * size zero, cancelled receives, other threads: posted ROUNDS */
#include "check.h"

#include <pthread.h>

enum { MOST = 60, WAYS = 4 };

static int rank, left, right, buf[MOST], out[MOST];

/* Completes a receive in one of the ways; the status may be ignored. */
static void complete(int way, MPI_Request *r, MPI_Status *status)
{
    int index, flag = 0;
    switch (way) {
    case 0: MPI_Wait(r, status); break;
    case 1: while (!flag) MPI_Test(r, &flag, status); break;
    case 2: MPI_Waitany(1, r, &index, status); break;
    default: while (!flag) MPI_Testany(1, r, &index, &flag, status); break;
    }
    CHECK(*r == MPI_REQUEST_NULL);
}

/* count elements arrive, room were posted. */
static void message(int way, int room, int count, int source, int tag, int ignore)
{
    MPI_Request r;
    MPI_Status st;
    MPI_Irecv(buf, room, MPI_INT, source, tag, MPI_COMM_WORLD, &r);
    MPI_Send(out, count, MPI_INT, right, 5, MPI_COMM_WORLD);
    complete(way, &r, ignore ? MPI_STATUS_IGNORE : &st);
    if (!ignore) {
        int n;
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK(st.MPI_SOURCE == left && st.MPI_TAG == 5 && n == count);
    }
}

static void all_kinds(int way, int i)
{
    int room = i * 7 % MOST, count = room - (i % 3 ? 0 : i % (room + 1)), ignore = i % 2;
    message(way, room, room, left, 5, ignore);
    message(way, room, count, left, 5, ignore);
    message(way, room, 0, left, 5, ignore);
    message(way, room, room, MPI_ANY_SOURCE, 5, ignore);
    message(way, room, count, left, MPI_ANY_TAG, ignore);
    message(way, room, count, MPI_ANY_SOURCE, MPI_ANY_TAG, ignore);
}

static void nowhere(int way, int i)
{
    MPI_Request r;
    MPI_Status st;
    MPI_Irecv(buf, i % 3, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r);
    complete(way, &r, i % 2 ? MPI_STATUS_IGNORE : &st);
}

static void nothing(int way)
{
    MPI_Datatype empty;
    MPI_Request r;
    MPI_Status st;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Irecv(buf, 3, empty, left, 5, MPI_COMM_WORLD, &r);
    MPI_Send(out, 2, empty, right, 5, MPI_COMM_WORLD);
    complete(way, &r, &st);
    MPI_Type_free(&empty);
}

static void cancelled(int way, int room)
{
    MPI_Request r;
    MPI_Status st;
    int gone;
    MPI_Irecv(buf, room, MPI_INT, left, 99, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    complete(way, &r, &st);
    MPI_Test_cancelled(&st, &gone);
    CHECK(gone);
}

static void persistent(int way, int i)
{
    MPI_Request r;
    MPI_Status st;
    int index;
    MPI_Recv_init(buf, i % MOST, MPI_INT, left, 5, MPI_COMM_WORLD, &r);
    for (int k = 0; k < 3; k++) {
        MPI_Start(&r);
        MPI_Send(out, k == 1 ? 0 : i % MOST, MPI_INT, right, 5, MPI_COMM_WORLD);
        if (way % 2) MPI_Wait(&r, &st);
        else MPI_Waitany(1, &r, &index, &st);
    }
    MPI_Request_free(&r);
}

static void *other_thread(void *arg)
{
    complete(0, arg, MPI_STATUS_IGNORE);
    return NULL;
}

static void elsewhere(int i)
{
    MPI_Request r;
    pthread_t t;
    MPI_Irecv(buf, i % MOST, MPI_INT, left, 5, MPI_COMM_WORLD, &r);
    MPI_Send(out, i % MOST, MPI_INT, right, 5, MPI_COMM_WORLD);
    CHECK(pthread_create(&t, NULL, other_thread, &r) == 0);
    pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
    int rounds = number_arg(argc, argv, 1, 12), size, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 0; i < rounds; i++) {
        for (int way = 0; way < WAYS; way++) {
            all_kinds(way, i);
            nowhere(way, i);
            nothing(way);
            cancelled(way, i % 2);
            persistent(way, i);
        }
        elsewhere(i);
    }
    say_ok("posted", rounds);
    MPI_Finalize();
    return 0;
}
