/* Like a dense factorisation on a process grid: panels are broadcast along rows and columns of
 * a block-cyclic matrix, with a vector type for each message, rows are swapped for pivoting,
 * and counts shrink as the factorisation proceeds: blocklu BLOCKS */
#include "check.h"
#include <string.h>

enum { NB = 4, MAX_BLOCKS = 96, MAX_LOCAL = MAX_BLOCKS * NB };

static int rows, columns, row, column;
static MPI_Comm in_row, in_column;
static double matrix[MAX_LOCAL * MAX_LOCAL];
static unsigned seed = 5;

static int random_number(int below)
{
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 16) % (unsigned)below);
}

/* Number of blocks from `first` on that process p of n owns. */
static int mine(int first, int blocks, int p, int n)
{
    int count = 0;
    for (int b = first; b < blocks; b++)
        count += b % n == p;
    return count;
}

/* Sends or receives a panel along a binomial tree, with its own type. */
static void tree(MPI_Comm comm, int root, int count, int length, int tag)
{
    int rank, size, mask = 1;
    MPI_Datatype type;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (count == 0)
        return;
    MPI_Type_vector(count, length, MAX_LOCAL, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    int from_root = (rank - root + size) % size;
    for (; mask < size; mask <<= 1)
        if (from_root & mask) {
            MPI_Recv(matrix, 1, type, (rank - mask + size) % size, tag, comm, MPI_STATUS_IGNORE);
            break;
        }
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (from_root + mask < size)
            MPI_Send(matrix, 1, type, (rank + mask) % size, tag, comm);
    MPI_Type_free(&type);
}

/* The panel's process column finds the pivot of each of its columns. */
static void factor_panel(int k, int blocks)
{
    int local = mine(k, blocks, row, rows) * NB;
    for (int j = 0; j < NB; j++) {
        struct {
            double value;
            int where;
        } own = {(double)((row * 7 + j * 3 + k) % 11), row}, best;
        MPI_Allreduce(&own, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, in_column);
        MPI_Bcast(matrix, NB - j, MPI_DOUBLE, best.where, in_column);
        if (local > j)
            matrix[j] += best.value;
    }
}

/* Rows are swapped with those of their pivots, which may be on other processes. */
static void swap_rows(int k, int blocks)
{
    static double there[MAX_LOCAL];
    int width = mine(0, blocks, column, columns) * NB;
    for (int j = 0; j < NB; j++) {
        int pivot = k + random_number(blocks - k), a = k % rows, b = pivot % rows;
        if (a == b || width == 0 || (row != a && row != b))
            continue;
        int other = row == a ? b : a;
        MPI_Sendrecv(matrix, width, MPI_DOUBLE, other, j, there, width, MPI_DOUBLE, other, j, in_column, MPI_STATUS_IGNORE);
        memcpy(matrix, there, sizeof(double));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm all;
    int rank, size, dims[2] = {0, 0}, periods[2] = {0, 0}, at[2], keep_row[2] = {0, 1}, keep_column[2] = {1, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int blocks = number_arg(argc, argv, 1, 24);
    CHECK(blocks <= MAX_BLOCKS);
    MPI_Dims_create(size, 2, dims);
    rows = dims[0];
    columns = dims[1];
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Cart_coords(all, rank, 2, at);
    row = at[0];
    column = at[1];
    MPI_Cart_sub(all, keep_row, &in_row);
    MPI_Cart_sub(all, keep_column, &in_column);
    for (int k = 0; k < blocks; k++) {
        if (column == k % columns)
            factor_panel(k, blocks);
        swap_rows(k, blocks);
        tree(in_row, k % columns, mine(k, blocks, row, rows) * NB, NB, 1);
        tree(in_column, k % rows, NB, mine(k + 1, blocks, column, columns) * NB, 2);
    }
    double sum, own = 1;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, all);
    MPI_Comm_free(&in_row);
    MPI_Comm_free(&in_column);
    MPI_Comm_free(&all);
    say_ok("blocklu", sum);
    MPI_Finalize();
    return 0;
}
