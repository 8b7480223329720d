/* Ends the program, which is for another number of ranks. */
static void wrong_size(void)
{
    if (rank == 0)
        fprintf(stderr, "this program makes the calls of RANKS ranks, not of %d: see efg generate --ranks\n", size);
    MPI_Finalize();
    exit(1);
}
