/* Master and workers with wildcard receives: farm TASKS */
#include "check.h"

enum { TAG_WORK = 1, TAG_RESULT, TAG_STOP };

static double master(int tasks, int workers)
{
    double sum = 0, result[2];
    int next = 0, active = 0;
    MPI_Status st;
    for (int w = 1; w <= workers; w++) {
        int tag = next < tasks ? TAG_WORK : TAG_STOP;
        MPI_Send(&next, 1, MPI_INT, w, tag, MPI_COMM_WORLD);
        active += tag == TAG_WORK;
        next += tag == TAG_WORK;
    }
    while (active > 0) {
        int n;
        MPI_Recv(result, 2, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_DOUBLE, &n);
        CHECK(st.MPI_TAG == TAG_RESULT && (n == 1 || n == 2));
        sum += n == 2 ? result[1] : 0;
        int more = next < tasks;
        MPI_Ssend(&next, 1, MPI_INT, st.MPI_SOURCE, more ? TAG_WORK : TAG_STOP, MPI_COMM_WORLD);
        next += more;
        active -= !more;
    }
    return sum;
}

static void worker(void)
{
    for (;;) {
        MPI_Status st;
        double result[2];
        int task;
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        if (st.MPI_TAG == TAG_STOP)
            return;
        result[0] = task;
        result[1] = task * 0.5;
        /* odd tasks have a result to send, even ones do not */
        MPI_Send(result, 1 + task % 2, MPI_DOUBLE, 0, TAG_RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0, expected = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int tasks = number_arg(argc, argv, 1, 60);
    if (rank == 0)
        sum = master(tasks, size - 1);
    else
        worker();
    for (int i = 1; i < tasks; i += 2)
        expected += i * 0.5;
    CHECK(rank != 0 || sum == expected);
    say_ok("farm", sum);
    MPI_Finalize();
    return 0;
}
