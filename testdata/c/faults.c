/* Deliberate faults, selected by the name in the first argument. None of
 * them hangs. */
#include "check.h"

#include <string.h>
#include <unistd.h>

static int rank, size, right, left;
static MPI_Comm world = MPI_COMM_WORLD;
static int in, out;

static void lost(void) { /* a message that nobody receives */
    if (rank == 0) {
        for (int i = 0; i < 3; i++)
            MPI_Send(&out, 1, MPI_INT, 1, 9, world);
    } else if (rank == 1) {
        MPI_Recv(&in, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE);
    }
}

static void receive(void) /* a receive that nothing completes */
{
    MPI_Request r;
    MPI_Irecv(&in, 1, MPI_INT, left, 8, world, &r);
}

static void request(void) /* a send whose request is forgotten */
{
    MPI_Request r;
    MPI_Isend(&out, 1, MPI_INT, right, 7, world, &r);
    MPI_Recv(&in, 1, MPI_INT, left, 7, world, MPI_STATUS_IGNORE);
}

static void persistent(void) /* a persistent request that is not freed */
{
    MPI_Request r;
    MPI_Send_init(&out, 1, MPI_INT, right, 6, world, &r);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&r);
        MPI_Recv(&in, 1, MPI_INT, left, 6, world, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void twice(void) /* a persistent request that is started while it is active */
{
    MPI_Request r;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Recv_init(&in, 1, MPI_INT, left, 5, world, &r);
    MPI_Start(&r);
    MPI_Start(&r);
    MPI_Barrier(world); /* an early message would end the first receive, and there is no second */
    MPI_Send(&out, 1, MPI_INT, right, 5, world);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void types(void) /* a message of another datatype than it is received as */
{
    float f = 1;
    MPI_Sendrecv(&f, 1, MPI_FLOAT, right, 4, &in, 1, MPI_INT, left, 4, world, MPI_STATUS_IGNORE);
}

static void mixed(void) /* messages of two datatypes, received the other way round the last time */
{
    float f = 1;
    for (int i = 0; i < 5; i++) {
        int odd = rank == 1 && i == 4;
        if (rank == 0) {
            MPI_Send(&out, 1, MPI_INT, 1, 3, world);
            MPI_Send(&f, 1, MPI_FLOAT, 1, 3, world);
        } else if (rank == 1) {
            MPI_Recv(&in, 1, odd ? MPI_FLOAT : MPI_INT, 0, 3, world, MPI_STATUS_IGNORE);
            MPI_Recv(&f, 1, odd ? MPI_INT : MPI_FLOAT, 0, 3, world, MPI_STATUS_IGNORE);
        }
    }
}

static void comm(void)
{
    MPI_Comm c;
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(world, &c);
        if (i != 1)
            MPI_Comm_free(&c);
    }
}

static void type(void)
{
    MPI_Datatype t;
    for (int i = 0; i < 2; i++) {
        MPI_Type_contiguous(3, MPI_INT, &t);
        MPI_Type_commit(&t);
    }
    MPI_Type_free(&t);
}

static void win(void)
{
    MPI_Win w;
    MPI_Win_create(&in, sizeof in, 1, MPI_INFO_NULL, world, &w);
}

static void file(void)
{
    MPI_File f;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
}

static void order(void) /* collectives in another order at the last rank */
{
    MPI_Request r[2];
    int last = rank == size - 1;
    for (int i = 0; i < 2; i++) {
        if (i == last)
            MPI_Ibarrier(world, &r[0]);
        else
            MPI_Ibcast(&in, 1, MPI_INT, 0, world, &r[1]);
    }
}

static void root(void) /* a broadcast with another root at the last rank */
{
    MPI_Request r;
    MPI_Ibcast(&in, 1, MPI_INT, rank == size - 1, world, &r);
}

static void count(void) /* reductions of another length at the last rank */
{
    static int from[2], to[2];
    MPI_Request r;
    MPI_Iallreduce(from, to, 1 + (rank == size - 1), MPI_INT, MPI_SUM, world, &r);
}

static void counts(void) /* the last rank takes more from rank 0 than that sends, the second time */
{
    static int from[64], to[128], send[16], recv[16], zero[16];
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < size; i++) {
            send[i] = 1;
            recv[i] = 1 + 2 * (turn == 1 && rank == size - 1 && i == 0);
        }
        MPI_Alltoallv(from, send, zero, MPI_INT, to, recv, zero, MPI_INT, world);
    }
}

static void gather(void) /* the root takes more from the last rank than that sends */
{
    static int from[64], to[128], recv[16], zero[16];
    for (int i = 0; i < size; i++)
        recv[i] = 2 + (i == size - 1);
    MPI_Gatherv(from, 2, MPI_INT, to, recv, zero, MPI_INT, 0, world);
}

static void finalize(void) { exit(0); }

static const struct fault {
    const char *name;
    void (*make)(void);
    int stops; /* a call that does not return is to come: end by MPI_Abort */
} faults[] = {
    {"lost", lost, 0}, {"receive", receive, 0}, {"request", request, 0}, {"persistent", persistent, 0}, {"twice", twice, 0},
    {"types", types, 0}, {"mixed", mixed, 0},
    {"comm", comm, 0}, {"type", type, 0}, {"win", win, 0}, {"file", file, 0}, {"counts", counts, 0}, {"gather", gather, 0}, {"order", order, 1}, {"root", root, 1},
    {"count", count, 1}, {"finalize", finalize, 1},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (argc < 2 || strcmp(argv[1], faults[i].name) != 0)
            continue;
        faults[i].make();
        if (faults[i].stops) {
            MPI_Barrier(MPI_COMM_SELF);
            usleep(300000); /* the others are as far */
            MPI_Abort(world, 3);
        }
    }
    MPI_Finalize();
    return 0;
}
