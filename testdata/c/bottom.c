/* Messages of a datatype that holds addresses, from and to MPI_BOTTOM. */
#include "check.h"

int main(int argc, char **argv)
{
    static int whole = 3;
    static double parts[4] = { 1, 2, 3, 4 };
    int lengths[2] = { 1, 4 };
    MPI_Aint at[2];
    MPI_Datatype types[2] = { MPI_INT, MPI_DOUBLE }, all;
    MPI_Init(&argc, &argv);
    MPI_Get_address(&whole, &at[0]);
    MPI_Get_address(parts, &at[1]);
    MPI_Type_create_struct(2, lengths, at, types, &all);
    MPI_Type_commit(&all);
    MPI_Bcast(MPI_BOTTOM, 1, all, 0, MPI_COMM_WORLD);
    CHECK(whole == 3 && parts[3] == 4);
    MPI_Type_free(&all);
    say_ok("bottom", 1);
    MPI_Finalize();
    return 0;
}
