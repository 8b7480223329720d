/* Every blocking collective, each also with MPI_IN_PLACE: coll ROUNDS */
#include "check.h"

enum { MAX = 16 };

static int rank, size;

static void rooted(int root)
{
    int x = rank == root ? 42 : 0, all[MAX], mine = rank, got = -1;
    MPI_Bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(x == 42);
    /* counts and types of the root only are significant: others pass rubbish */
    MPI_Gather(&mine, 1, MPI_INT, all, rank == root ? 1 : -7,
               rank == root ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    if (rank == root) {
        CHECK(all[size - 1] == size - 1);
        all[root] = root;
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Scatter(all, 1, MPI_INT, &got, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    } else {
        MPI_Gather(&mine, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_INT, root, MPI_COMM_WORLD);
    }
    CHECK(got == rank);
}

static void rooted_v(int root)
{
    int counts[MAX], displs[MAX], all[MAX * MAX], mine[MAX], got[MAX];
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = i * size;
    }
    for (int i = 0; i <= rank; i++)
        mine[i] = 100 * rank + i;
    if (rank == root) {
        MPI_Gatherv(mine, rank + 1, MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            CHECK(all[displs[i] + i] == 101 * i);
        MPI_Scatterv(all, counts, displs, MPI_INT, got, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
    } else {
        MPI_Gatherv(mine, rank + 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root,
                    MPI_COMM_WORLD);
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, got, rank + 1, MPI_INT, root,
                     MPI_COMM_WORLD);
    }
    CHECK(got[rank] == 101 * rank);
}

static void reductions(int root)
{
    int x = rank + 1, y = 0, sum = size * (size + 1) / 2, v[MAX], counts[MAX];
    MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(rank != root || y == sum);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : &x, rank == root ? &x : NULL, 1, MPI_INT, MPI_MAX,
               root, MPI_COMM_WORLD);
    x = rank + 1;
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(y == sum);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    x = rank + 1;
    MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(y == (rank + 1) * (rank + 2) / 2);
    MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || y == rank * (rank + 1) / 2);
    for (int i = 0; i < size; i++) {
        v[i] = rank;
        counts[i] = 1;
    }
    MPI_Reduce_scatter(v, &y, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(y == size * (size - 1) / 2);
    MPI_Reduce_scatter_block(v, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(y == size * (size - 1) / 2);
    MPI_Reduce_local(&x, &y, 1, MPI_INT, MPI_BXOR);
}

static void all_to_all(void)
{
    int s[MAX], r[MAX], counts[MAX], displs[MAX], bytes[MAX];
    MPI_Datatype types[MAX];
    for (int i = 0; i < size; i++) {
        s[i] = 10 * rank + i;
        counts[i] = 1;
        displs[i] = i;
        bytes[i] = 4 * i;
        types[i] = i % 2 ? MPI_INT : MPI_INT32_T;
    }
    MPI_Allgather(&rank, 1, MPI_INT, r, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(r[size - 1] == size - 1);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(&rank, 1, MPI_INT, r, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CHECK(r[size - 1] == size - 1);
    MPI_Alltoall(s, 1, MPI_INT, r, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(r[size - 1] == 10 * (size - 1) + rank);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(r[0] == 10 * rank);
    MPI_Alltoallv(s, counts, displs, MPI_INT, r, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, r, counts, displs, MPI_INT,
                  MPI_COMM_WORLD);
    CHECK(r[0] == 10 * rank);
    MPI_Alltoallw(s, counts, bytes, types, r, counts, bytes, types, MPI_COMM_WORLD);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, r, counts, bytes, types, MPI_COMM_WORLD);
    CHECK(r[0] == 10 * rank);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int rounds = number_arg(argc, argv, 1, 6);
    for (int i = 0; i < rounds; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        rooted(i % size);
        rooted_v(i % size);
        reductions(i % size);
        all_to_all();
    }
    say_ok("coll", rounds);
    MPI_Finalize();
    return 0;
}
