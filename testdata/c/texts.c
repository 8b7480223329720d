/* Very many calls, each with a unique string: texts CALLS */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Info info;
    char text[64];
    MPI_Init(&argc, &argv);
    int calls = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Info_create(&info);
    for (int i = 0; i < calls; i++) {
        snprintf(text, sizeof text, "value %u of %d", 2654435761u * (unsigned)i, i);
        MPI_Info_set(info, "key", text);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
