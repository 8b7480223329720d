/* An error with the default handler MPI_ERRORS_ARE_FATAL: ends the job */
#include "check.h"

int main(int argc, char **argv)
{
    int size, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&x, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    return 0;
}
