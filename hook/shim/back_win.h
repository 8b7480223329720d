/* Windows and files. */
#ifndef EFG_BACK_WIN_H
#define EFG_BACK_WIN_H

#include "back_thread.h"

#pragma GCC visibility push(hidden)

uint64_t bk_win_word(MPI_Win win);
uint64_t bk_win_new(bk_thread *b, MPI_Win win, MPI_Comm comm, uint32_t kind);
uint64_t bk_file_word(MPI_File file);
uint64_t bk_file_new(bk_thread *b, MPI_File file, MPI_Comm comm, uint64_t name);

#pragma GCC visibility pop

#endif
