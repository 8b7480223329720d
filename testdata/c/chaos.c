// Random calls of MPI, the same for the same seed: chaos SEED STEPS [open]. With open, outcomes that
// MPI leaves open are among them, and rank 0 prints a number that depends on these.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, COMMS = 5, RANKS = 32 };

static uint64_t state;
static int rank, size, open_outcomes;
static uint64_t arrivals;
static double in[RANKS * MOST], out[RANKS * MOST];
static MPI_Comm comms[COMMS];

// draw is the same on all ranks: all of them draw the same numbers in the same order.
static unsigned draw(unsigned below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)((state * 0x2545f4914f6cdd1dull >> 33) % below);
}

static void happened(int what) { arrivals = arrivals * 1000003 + (uint64_t)what + 1; }

static MPI_Datatype basic(void) {
    switch (draw(4)) {
    case 0: return MPI_INT;
    case 1: return MPI_DOUBLE;
    case 2: return MPI_BYTE;
    }
    return MPI_FLOAT;
}

// comm draws a communicator; some have only a part of the ranks.
static MPI_Comm comm(void) { return comms[draw(COMMS)]; }

static void shift(void) {
    MPI_Comm c = comm();
    int count = (int)draw(MOST), by = (int)draw(RANKS), tag = (int)draw(5), me, n;
    MPI_Datatype t = basic();
    MPI_Comm_rank(c, &me), MPI_Comm_size(c, &n);
    int to = (me + by) % n, from = (me + n - by % n) % n;
    MPI_Sendrecv(out, count, t, to, tag, in, count, t, from, tag, c, MPI_STATUS_IGNORE);
}

// complete completes requests in one of the ways that there are.
static void complete(int n, MPI_Request *q) {
    int index, done, list[2 * RANKS];
    switch (draw(open_outcomes ? 6 : 3)) {
    case 0: MPI_Waitall(n, q, MPI_STATUSES_IGNORE); return;
    case 1:
        for (int i = 0; i < n; i++) MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        return;
    case 2:
        for (int i = n; i-- > 0;) MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        return;
    case 3:
        for (int i = 0; i < n; i++) MPI_Waitany(n, q, &index, MPI_STATUS_IGNORE), happened(index);
        return;
    case 4:
        for (int left = n; left > 0; left -= done) {
            MPI_Waitsome(n, q, &done, list, MPI_STATUSES_IGNORE);
            for (int i = 0; i < done; i++) happened(list[i]);
        }
        return;
    case 5:
        for (int all = 0; !all;) MPI_Testall(n, q, &all, MPI_STATUSES_IGNORE);
    }
}

static void neighbours(void) {
    MPI_Comm c = comm();
    int count = 1 + (int)draw(MOST - 1), reach = 1 + (int)draw(3), tag = (int)draw(5), me, n, k = 0;
    MPI_Datatype t = basic();
    MPI_Request q[4 * 4];
    MPI_Comm_rank(c, &me), MPI_Comm_size(c, &n);
    for (int d = 1; d <= reach; d++) {
        MPI_Irecv(in + MOST * k, count, t, (me + d) % n, tag + d, c, &q[k]), k++;
        MPI_Irecv(in + MOST * k, count, t, (me + n * d - d) % n, tag + 10 + d, c, &q[k]), k++;
    }
    for (int d = 1; d <= reach; d++) {
        MPI_Isend(out, count, t, (me + n * d - d) % n, tag + d, c, &q[k]), k++;
        MPI_Isend(out, count, t, (me + d) % n, tag + 10 + d, c, &q[k]), k++;
    }
    complete(k, q);
}

static void collective(void) {
    MPI_Comm c = comm();
    int count = 1 + (int)draw(MOST - 1), n, root, counts[RANKS], places[RANKS];
    MPI_Comm_size(c, &n);
    root = (int)draw(RANKS) % n;
    for (int i = 0; i < n; i++) counts[i] = (i * 7 + count) % MOST, places[i] = i * MOST;
    int me;
    MPI_Comm_rank(c, &me);
    switch (draw(12)) {
    case 0: MPI_Bcast(in, count, MPI_DOUBLE, root, c); break;
    case 1: MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, c); break;
    case 2: MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_MAX, c); break;
    case 3: MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, c); break;
    case 4: MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, c); break;
    case 5: MPI_Gather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, c); break;
    case 6: MPI_Scatter(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, c); break;
    case 7: MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, c); break;
    case 8: MPI_Barrier(c); break;
    case 9: MPI_Allgatherv(out, counts[me], MPI_DOUBLE, in, counts, places, MPI_DOUBLE, c); break;
    case 10: MPI_Gatherv(out, counts[me], MPI_DOUBLE, in, counts, places, MPI_DOUBLE, root, c); break;
    case 11: MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, c); break;
    }
}

static void nonblocking_collective(void) {
    MPI_Comm c = comm();
    MPI_Request q[2];
    int count = 1 + (int)draw(MOST - 1), n;
    MPI_Comm_size(c, &n);
    switch (draw(3)) {
    case 0: MPI_Iallreduce(out, in, count, MPI_DOUBLE, MPI_SUM, c, &q[0]); break;
    case 1: MPI_Ibcast(in, count, MPI_DOUBLE, (int)draw(RANKS) % n, c, &q[0]); break;
    case 2: MPI_Ibarrier(c, &q[0]); break;
    }
    MPI_Iallgather(out, 1, MPI_INT, in + MOST * RANKS / 2, 1, MPI_INT, c, &q[1]);
    complete(2, q);
}

// replace frees a communicator and makes another one.
static void replace(void) {
    int k = 1 + (int)draw(COMMS - 1), parts = 1 + (int)draw(3), kind = (int)draw(3);
    if (comms[k] != MPI_COMM_WORLD) MPI_Comm_free(&comms[k]);
    switch (kind) {
    case 0: MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]); break;
    case 1: MPI_Comm_split(MPI_COMM_WORLD, rank % parts, draw(2) ? rank : -rank, &comms[k]); break;
    case 2: {
        int dims[2] = {0, 0}, periods[2] = {(int)draw(2), 1};
        MPI_Dims_create(size, 2, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comms[k]);
    }
    }
}

static void derived(void) {
    MPI_Datatype t;
    int count = 1 + (int)draw(6), by = 1 + (int)draw(3), to, from;
    if (draw(2))
        MPI_Type_vector(count, 1, by + 1, MPI_DOUBLE, &t);
    else
        MPI_Type_contiguous(count, MPI_INT, &t);
    MPI_Type_commit(&t);
    to = (rank + by) % size, from = (rank + size * by - by) % size;
    MPI_Sendrecv(out, 2, t, to, 3, in, 2, t, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&t);
}

static void persistent(void) {
    MPI_Request q[2];
    int count = 1 + (int)draw(MOST - 1), times = 1 + (int)draw(4);
    MPI_Recv_init(in, count, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(out, count, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < times; i++) {
        MPI_Startall(2, q);
        complete(2, q);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
}

// gathering is of messages from all ranks, in the order of ranks or as they come.
static void gathering(void) {
    int root = (int)draw(RANKS) % size, how = (int)draw(open_outcomes ? 4 : 2), flag;
    MPI_Status s;
    if (rank != root) {
        MPI_Send(out, rank + 1, MPI_INT, root, 9, MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < size; i++) {
        if (i == root) continue;
        switch (how) {
        case 0: MPI_Recv(in, MOST, MPI_INT, i, 9, MPI_COMM_WORLD, &s); break;
        case 1:
            MPI_Probe(i, 9, MPI_COMM_WORLD, &s);
            MPI_Recv(in, i + 1, MPI_INT, i, 9, MPI_COMM_WORLD, &s);
            break;
        case 2: MPI_Recv(in, MOST, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &s); break;
        case 3:
            for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
            MPI_Recv(in, MOST, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
        }
        if (how >= 2) happened(s.MPI_SOURCE);
    }
    // No message of the next gathering may come before those of this one: see the barrier in step.
}

static void step(int depth) {
    unsigned kind = draw(depth < 2 ? 10 : 9);
    switch (kind) {
    case 0: case 1: shift(); break;
    case 2: neighbours(); break;
    case 3: collective(); break;
    case 4: nonblocking_collective(); break;
    case 5: replace(); break;
    case 6: derived(); break;
    case 7: persistent(); break;
    case 8: gathering(); MPI_Barrier(MPI_COMM_WORLD); break;
    case 9: { // a loop
        unsigned times = 2 + draw(6), body = 1 + draw(3);
        uint64_t first = state;
        for (unsigned i = 0; i < times; i++) {
            state = first;
            for (unsigned k = 0; k < body; k++) step(depth + 1);
        }
    }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = strtoull(argc > 1 ? argv[1] : "1", NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
    open_outcomes = argc > 3 && !strcmp(argv[3], "open");
    for (int k = 0; k < COMMS; k++) comms[k] = MPI_COMM_WORLD;
    for (int i = 0, n = argc > 2 ? atoi(argv[2]) : 20; i < n; i++) step(0);
    uint64_t all = 0;
    MPI_Reduce(&arrivals, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    for (int k = 1; k < COMMS; k++)
        if (comms[k] != MPI_COMM_WORLD) MPI_Comm_free(&comms[k]);
    if (rank == 0 && open_outcomes) printf("%016llx\n", (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
