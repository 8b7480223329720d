/* Scratch memory, arrays and strings. */
#ifndef EFG_BACK_VEC_H
#define EFG_BACK_VEC_H

#include "back_thread.h"

#pragma GCC visibility push(hidden)

/* Room for n words, valid until the event is recorded. NULL: no memory. */
uint64_t *bk_scratch(bk_thread *b, size_t n);
void bk_scratch_reset(bk_thread *b);
void bk_scratch_free(bk_thread *b);

/* The word of an array; ABSENT for a NULL array or a negative length. Handles
 * are read in the language of the call. width: bytes of an integer element. */
uint64_t bk_vec(bk_thread *b, unsigned word, const uint64_t *data, int64_t n);
uint64_t bk_vec_num(bk_thread *b, unsigned word, const void *a, int64_t n, int width);
uint64_t bk_vec_map(bk_thread *b, unsigned word, const int *a, int64_t n, uint64_t (*map)(int64_t));
uint64_t bk_vec_type(bk_thread *b, unsigned word, const void *types, int64_t n);
uint64_t bk_vec_new_type(bk_thread *b, unsigned word, const void *types, int64_t n);
uint64_t bk_vec_info(bk_thread *b, unsigned word, const void *infos, int64_t n);
/* Sums of integer arrays, for the lengths of others. */
int64_t bk_sum(const int *a, int64_t n);
int64_t bk_last_of(const int *a, int64_t n);

uint64_t bk_string(const char *s);                       /* C */
uint64_t bk_fstring(const char *s, size_t len);          /* blank-padded */
uint64_t bk_vec_strings(bk_thread *b, unsigned word, char *const *s, int64_t n);
uint64_t bk_vec_fstrings(bk_thread *b, unsigned word, const char *s, int64_t n, size_t len);

#pragma GCC visibility pop

#endif
