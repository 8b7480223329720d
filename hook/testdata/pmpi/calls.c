/* A program that calls MPI by both of its names. What it prints is the same with and
 * without a recorder, and says how many calls tool.c has seen, where that is there. Two
 * processes. */
#include <mpi.h>
#include <stdio.h>

#pragma weak tool_calls
extern int tool_calls;

static void ring(int rank, int size)
{
    int next = (rank + 1) % size, prev = (rank + size - 1) % size;
    double in[2], out = rank;
    for (int i = 0; i < 3; i++) {
        MPI_Request r[2];
        PMPI_Irecv(&in[0], 1, MPI_DOUBLE, prev, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&in[1], 1, MPI_DOUBLE, prev, 2, MPI_COMM_WORLD, &r[1]);
        MPI_Send(&out, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD);
        PMPI_Send(&out, 1, MPI_DOUBLE, next, 2, MPI_COMM_WORLD);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        PMPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Send(&out, 1, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0, one = 1;
    MPI_Comm dup;
    MPI_File f;
    MPI_Offset bytes;
    MPI_Datatype type, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring(rank, size);
    PMPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, dup);
    PMPI_Barrier(dup);
    MPI_Comm_free(&dup);
    /* Libraries make these of other procedures. */
    PMPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(f, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_get_view(f, &bytes, &filetype, &filetype, datarep);
    PMPI_File_get_view(f, &bytes, &filetype, &filetype, datarep);
    PMPI_File_close(&f);
    PMPI_Type_free(&type);
    if (rank == 0) printf("sum %d, tool %d\n", sum, &tool_calls ? tool_calls : -1);
    MPI_Finalize();
    return 0;
}
