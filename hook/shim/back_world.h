/* Which MPI_COMM_WORLD of a recording the process follows. */
#ifndef EFG_BACK_WORLD_H
#define EFG_BACK_WORLD_H

#include "gen/replay_layout.h"

#pragma GCC visibility push(hidden)

/* The number of a world with this many ranks that no other one follows, or that others
 * of this world follow; -1 if there is none. */
int bk_world_of(rpl_header *h, int rank, int size);
const rpl_world *bk_world(const rpl_header *h, int number);
/* The stream of a thread; NULL if it has none. */
rpl_stream *bk_world_stream(rpl_header *h, int world, int rank, uint32_t thread);

#pragma GCC visibility pop

#endif
