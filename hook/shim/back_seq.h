/* Reads sequences (efg/seq/FORMAT.md). */
#ifndef EFG_BACK_SEQ_H
#define EFG_BACK_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { BK_SEQ_LEVELS = 3, BK_SEQ_REACH = 256 };   /* more than the distance of any repeat */

/* A literal (kind 0), or a repeat: kind is d << 2 | level + 1, value m. */
typedef struct bk_symbol {
    uint64_t value;
    uint32_t kind;
} bk_symbol;

typedef struct bk_seq_level {
    uint64_t m;              /* symbols that the current repeat still has */
    uint64_t pos;            /* symbols passed on */
    uint32_t d;
    bk_symbol ring[BK_SEQ_REACH];
} bk_seq_level;

typedef struct bk_seq {
    const uint8_t *at, *end; /* code */
    uint64_t left;           /* values */
    bk_seq_level level[BK_SEQ_LEVELS];
} bk_seq;

void bk_seq_open(bk_seq *s, const uint8_t *code, uint64_t size, uint64_t n);
/* The next value; false at the end, and if the code is damaged. */
bool bk_seq_next_slow(bk_seq *s, uint64_t *v);

static inline bool bk_seq_next(bk_seq *s, uint64_t *v)
{
    bk_seq_level *l = &s->level[0];
    if (__builtin_expect(l->m == 0 || s->left == 0, 0)) return bk_seq_next_slow(s, v);
    uint64_t x = l->ring[(l->pos - l->d) % BK_SEQ_REACH].value;
    l->ring[l->pos % BK_SEQ_REACH] = (bk_symbol){ x, 0 };
    l->pos++;
    l->m--;
    s->left--;
    *v = x;
    return true;
}

#pragma GCC visibility pop

#endif
