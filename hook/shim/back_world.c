/* Worlds are recognised by the arguments of their processes, then by the order in
 * which they begin. The first process of a world to come claims a recorded one by
 * the launcher's name of its own; others find it by that. Where a launcher gives
 * several worlds one name, the rank of each process is in the next of them. */
#include "back_world.h"
#include "back_launch.h"

#include <string.h>

enum { ARGUMENTS = 2048 };     /* bytes of them that recordings keep */

const rpl_world *bk_world(const rpl_header *h, int number) { return (const rpl_world *)(h + 1) + number; }

rpl_stream *bk_world_stream(rpl_header *h, int world, int rank, uint32_t thread)
{
    rpl_stream *list = (rpl_stream *)(bk_world(h, 0) + h->worlds);
    for (uint32_t i = 0; i < h->streams; i++)
        if (list[i].world == (uint32_t)world && list[i].rank == (uint32_t)rank && list[i].thread == thread) return &list[i];
    return NULL;
}

/* Reports whether a process was recorded with these arguments. */
static bool same_command(const rpl_header *h, const rpl_stream *s, const char *text, size_t n)
{
    uint64_t size = s->command_size;
    if (s->command > h->size || size > h->size - s->command || n == 0) return false;
    return (size == n || size == n + 1) && memcmp((const char *)h + s->command, text, n) == 0;
}

/* Reports whether a process of the world with this name may follow world number w. */
static bool claim(rpl_header *h, int w, uint64_t name)
{
    rpl_world *world = (rpl_world *)(uintptr_t)bk_world(h, w);
    uint64_t none = 0;
    return __atomic_compare_exchange_n(&world->name, &none, name, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || none == name;
}

int bk_world_of(rpl_header *h, int rank, int size)
{
    enum { CLAIMED, OF_COMMAND, ANY, WAYS };
    static char text[ARGUMENTS];
    size_t n = bk_launch_arguments(text, sizeof text);
    uint64_t name = bk_launch_name();
    for (int way = CLAIMED; way < WAYS; way++)
        for (int w = 0; w < (int)h->worlds; w++) {
            const rpl_stream *s = bk_world_stream(h, w, rank, 0);
            bool claimed = __atomic_load_n(&bk_world(h, w)->name, __ATOMIC_RELAXED) == name;
            if (bk_world(h, w)->size != (uint32_t)size || s == NULL || s->state != 0) continue;
            if (way == CLAIMED ? claimed : (way == ANY || same_command(h, s, text, n)) && claim(h, w, name)) return w;
        }
    return -1;
}
