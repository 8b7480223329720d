/* Preloaded: ranks from HOSTS_FROM on seem to run on another host. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int MPI_Get_processor_name(char *name, int *length)
{
	int rank, error = PMPI_Get_processor_name(name, length);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank >= atoi(getenv("HOSTS_FROM"))) {
		strcpy(name, "other");
		*length = 5;
	}
	return error;
}
