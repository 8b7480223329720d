/* A program that uses only sessions (MPI 4), two of them: sessions ROUNDS [leave]
 * With leave it does not finalize the second. */
#include "check.h"

int main(int argc, char **argv)
{
    int rounds = number_arg(argc, argv, 1, 5);
#if MPI_VERSION >= 4
    MPI_Session s, second;
    MPI_Group g;
    MPI_Comm c;
    int n, one = 1, sum, rank;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
    for (int i = 0; i < rounds; i++) {
        MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
        MPI_Comm_create_from_group(g, "efg.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
        MPI_Group_free(&g);
        MPI_Comm_size(c, &n);
        MPI_Comm_rank(c, &rank);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
        if (sum != n)
            return 1;
        MPI_Comm_free(&c);
    }
    MPI_Session_finalize(&s);
    if (argc <= 2) MPI_Session_finalize(&second);
    if (rank == 0)
        printf("sessions: ok %d\n", rounds);
#else
    MPI_Init(&argc, &argv);
    say_ok("sessions", rounds);
    MPI_Finalize();
#endif
    return 0;
}
