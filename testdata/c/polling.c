/* Every way of polling, with messages that arrive late: polling ROUNDS */
#include "check.h"

#include <sched.h>

enum { K = 6 };

static int rank, size, value[K];
static MPI_Request r[K];

static void post_receives(void)
{
    for (int i = 0; i < K; i++)
        MPI_Irecv(&value[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &r[i]);
}

static void send_all(int to)
{
    for (int i = K - 1; i >= 0; i--) {
        int v = 100 * rank + i;
        MPI_Send(&v, 1, MPI_INT, to, i, MPI_COMM_WORLD);
        sched_yield();
    }
}

static int by_test(void)
{
    int flag, polls = 0;
    for (int i = 0; i < K; i++) {
        MPI_Status st;
        do {
            MPI_Test(&r[i], &flag, i % 2 ? &st : MPI_STATUS_IGNORE);
            sched_yield();
            polls++;
        } while (!flag);
        CHECK(r[i] == MPI_REQUEST_NULL && (i % 2 == 0 || st.MPI_TAG == i));
    }
    return polls;
}

static int by_testany(void)
{
    int done = 0, polls = 0;
    while (done < K) {
        int index, flag;
        MPI_Status st;
        MPI_Testany(K, r, &index, &flag, &st);
        polls++;
        sched_yield();
        if (!flag)
            continue;
        CHECK(index != MPI_UNDEFINED && st.MPI_TAG == index);
        done++;
    }
    int index, flag;
    MPI_Testany(K, r, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && index == MPI_UNDEFINED);
    return polls;
}

static int by_testsome(void)
{
    int done = 0, polls = 0, n, index[K];
    MPI_Status st[K];
    while (done < K) {
        MPI_Testsome(K, r, &n, index, polls % 2 ? st : MPI_STATUSES_IGNORE);
        polls++;
        sched_yield();
        for (int i = 0; i < n; i++)
            CHECK(r[index[i]] == MPI_REQUEST_NULL);
        done += n;
    }
    MPI_Testsome(K, r, &n, index, st);
    CHECK(n == MPI_UNDEFINED);
    return polls;
}

static int by_testall(void)
{
    int flag, polls = 0;
    MPI_Status st[K];
    do {
        MPI_Testall(K, r, &flag, st);
        polls++;
        sched_yield();
    } while (!flag);
    for (int i = 0; i < K; i++)
        CHECK(st[i].MPI_TAG == i);
    return polls;
}

static int by_status(void)
{
    int polls = 0;
    for (int i = 0; i < K; i++) {
        int flag;
        MPI_Status st;
        do {
            MPI_Request_get_status(r[i], &flag, &st);
            polls++;
            sched_yield();
        } while (!flag);
        CHECK(r[i] != MPI_REQUEST_NULL && st.MPI_TAG == i);
    }
    MPI_Waitall(K, r, MPI_STATUSES_IGNORE);
    return polls;
}

static int by_iprobe(void)
{
    int polls = 0;
    for (int i = 0; i < K; i++) {
        int flag;
        MPI_Status st;
        do {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
            polls++;
            sched_yield();
        } while (!flag);
        CHECK(st.MPI_TAG >= 0 && st.MPI_TAG < K);
        MPI_Recv(&value[st.MPI_TAG], 1, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    return polls;
}

static int by_improbe(void)
{
    int polls = 0;
    for (int i = 0; i < K; i++) {
        int flag, at;
        MPI_Status st;
        MPI_Message m;
        MPI_Request q;
        do {
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &st);
            polls++;
            sched_yield();
        } while (!flag);
        at = st.MPI_TAG;
        if (i % 2) {
            MPI_Mrecv(&value[at], 1, MPI_INT, &m, &st);
        } else {
            MPI_Imrecv(&value[at], 1, MPI_INT, &m, &q);
            MPI_Wait(&q, &st);
        }
        CHECK(m == MPI_MESSAGE_NULL && st.MPI_TAG == at);
    }
    return polls;
}

int main(int argc, char **argv)
{
    int (*const ways[])(void) = { by_test, by_testany, by_testsome, by_testall, by_status,
                                  by_iprobe, by_improbe };
    const int n = sizeof ways / sizeof *ways;
    int polls = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = number_arg(argc, argv, 1, 14);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < rounds; i++) {
        if (i % n < 5)
            post_receives();
        send_all(to);
        polls += ways[i % n]();
        for (int k = 0; k < K; k++)
            CHECK(value[k] == 100 * from + k);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(polls >= rounds);
    say_ok("polling", rounds);
    MPI_Finalize();
    return 0;
}
