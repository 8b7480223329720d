/* Memory of private tables that grow by doubling. Large ones have pages of their
 * own: outgrown ones are returned to the system, while in the program's heap they
 * would leave holes that are too small for the next table. */
#define _GNU_SOURCE
#include "core_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE = 8 << 10 };

void *efg_table_new(size_t bytes)
{
    if (bytes < LARGE)
        return calloc(1, bytes);
    int saved = errno;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    return p != MAP_FAILED ? p : NULL;
}

void efg_table_free(void *p, size_t bytes)
{
    if (bytes < LARGE)
        free(p);
    else
        munmap(p, bytes);
}
