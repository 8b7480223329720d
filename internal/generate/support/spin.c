/* Computes for so many seconds. */
static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        continue;
}
