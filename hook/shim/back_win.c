/* Windows and files: (communicator, how they were created or the name), and a
 * number. */
#include "back_comm.h"
#include "back_win.h"

static uint64_t name(bk_map *m, uint64_t key, enum efg_def_kind def, const uint64_t words[2])
{
    uint64_t family = (efg_hash(words, 2) & ((1ull << 38) - 1)) << 24;
    efg_def(def, family, words, 2, NULL, 0);
    bk_entry e = { .key = key, .word = family | bk_next_in_family(family), .refs = 1 };
    bk_map_set(m, &e);
    return e.word;
}

/* The family of the communicator, so that a loop that creates a communicator and
 * a window each time has one family of windows. */
static uint64_t comm_family(bk_thread *b, MPI_Comm comm)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c != NULL ? c->family : bk_comm_word(b, comm);
}

uint64_t bk_win_word(MPI_Win win) { return bk_map_word(&bk_wins, BK_KEY(win)); }

uint64_t bk_win_new(bk_thread *b, MPI_Win win, MPI_Comm comm, uint32_t kind)
{
    if (win == MPI_WIN_NULL) return K(MPI_WIN_NULL);
    uint64_t words[2] = { comm_family(b, comm), EFG_CONST(kind) };
    return name(&bk_wins, BK_KEY(win), EFG_DEF_WIN, words);
}

uint64_t bk_file_word(MPI_File file) { return bk_map_word(&bk_files, BK_KEY(file)); }

uint64_t bk_file_new(bk_thread *b, MPI_File file, MPI_Comm comm, uint64_t filename)
{
    if (file == MPI_FILE_NULL) return K(MPI_FILE_NULL);
    uint64_t words[2] = { comm_family(b, comm), filename };
    return name(&bk_files, BK_KEY(file), EFG_DEF_FILE, words);
}
