/* Persistent point-to-point requests of every kind: persistent ITERATIONS */
#include "check.h"

#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, in[4], out[4];
    static char space[4096];
    MPI_Request r[8], unused;
    MPI_Status st[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int iterations = number_arg(argc, argv, 1, 20);
    MPI_Buffer_attach(space, sizeof space);
    MPI_Recv_init(&in[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Recv_init(&in[2], 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &r[2]);
    MPI_Recv_init(&in[3], 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[3]);
    MPI_Send_init(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &r[4]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[5]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[6]);
    MPI_Send_init(&out[3], 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[7]);
    for (int i = 0; i < iterations; i++) {
        for (int k = 0; k < 4; k++)
            out[k] = 1000 * rank + 10 * i + k;
        memset(in, -1, sizeof in);
        MPI_Startall(4, r);
        /* tag 0 and 1 first: the wildcard receive of tag must get tag 2 */
        for (int k = 4; k < 7; k++)
            MPI_Start(&r[k]);
        MPI_Start(&r[7]);
        if (i % 3 == 0) {
            MPI_Waitall(8, r, st);
            CHECK(st[1].MPI_SOURCE == left && st[2].MPI_TAG == 2);
        } else if (i % 3 == 1) {
            /* MPICH takes requests with MPI_PROC_NULL for inactive: 6 or 8 complete */
            int index = 0, done = -1;
            for (; index != MPI_UNDEFINED; done++)
                MPI_Waitany(8, r, &index, MPI_STATUS_IGNORE);
            CHECK(done == 8 || done == 6);
        } else {
            int n = 0, index[8], done = 0;
            for (; n != MPI_UNDEFINED; done += n > 0 ? n : 0)
                MPI_Waitsome(8, r, &n, index, st);
            CHECK(done == 8 || done == 6);
        }
        for (int k = 0; k < 3; k++)
            CHECK(in[k] == 1000 * left + 10 * i + k && r[k] != MPI_REQUEST_NULL);
    }
    /* waiting for inactive requests returns at once */
    MPI_Wait(&r[0], &st[0]);
    CHECK(st[0].MPI_SOURCE == MPI_ANY_SOURCE && st[0].MPI_TAG == MPI_ANY_TAG);
    for (int k = 0; k < 8; k++)
        MPI_Request_free(&r[k]);
    MPI_Rsend_init(&out[0], 1, MPI_INT, right, 9, MPI_COMM_WORLD, &unused);
    MPI_Request_free(&unused);
    int n;
    void *detached;
    MPI_Buffer_detach(&detached, &n);
    CHECK(detached == space && n == (int)sizeof space);
    say_ok("persistent", iterations);
    MPI_Finalize();
    return 0;
}
