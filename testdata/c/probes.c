/* Probes and matched probes with unknown sizes: probes ROUNDS */
#include "check.h"

int main(int argc, char **argv)
{
    int rank, size, n, out[64], in[64];
    MPI_Status st;
    MPI_Message m;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = number_arg(argc, argv, 1, 24);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < rounds; i++) {
        int length = 1 + (i * 7 + left) % 60;
        for (int k = 0; k < 64; k++)
            out[k] = i + k;
        MPI_Isend(out, 1 + (i * 7 + rank) % 60, MPI_INT, right, i, MPI_COMM_WORLD, &r);
        if (i % 3 == 0) {
            MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_INT, &n);
            MPI_Recv(in, n, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, &st);
        } else if (i % 3 == 1) {
            MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &st);
            MPI_Get_count(&st, MPI_INT, &n);
            MPI_Mrecv(in, n, MPI_INT, &m, MPI_STATUS_IGNORE);
        } else {
            MPI_Request q;
            MPI_Mprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &m, &st);
            MPI_Get_count(&st, MPI_INT, &n);
            MPI_Imrecv(in, 64, MPI_INT, &m, &q);
            MPI_Wait(&q, &st);
            MPI_Get_count(&st, MPI_INT, &n);
        }
        CHECK(n == length && in[n - 1] == i + n - 1 && st.MPI_SOURCE == left && st.MPI_TAG == i);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &st);
    CHECK(m == MPI_MESSAGE_NO_PROC && st.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(in, 1, MPI_INT, &m, &st);
    MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &st);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_SOURCE == MPI_PROC_NULL);
    /* a message that nobody sends: cancelled */
    MPI_Irecv(in, 1, MPI_INT, left, 9999, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &st);
    MPI_Test_cancelled(&st, &n);
    CHECK(n);
    say_ok("probes", rounds);
    MPI_Finalize();
    return 0;
}
