#include "back_seq.h"

void bk_seq_open(bk_seq *s, const uint8_t *code, uint64_t size, uint64_t n)
{
    s->at = code;
    s->end = code + size;
    s->left = n;
    for (int i = 0; i < BK_SEQ_LEVELS; i++) s->level[i].m = s->level[i].pos = 0;
}

static bool uvarint(bk_seq *s, uint64_t *v)
{
    uint64_t x = 0;
    for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
        uint8_t byte = *s->at++;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = x;
            return true;
        }
    }
    return false;
}

static bool decode(bk_seq *s, bk_symbol *y)
{
    uint64_t x;
    if (!uvarint(s, &x)) return false;
    *y = (bk_symbol){ x >> 2, 0 };
    if ((x & 3) == 0) return true;
    if (!uvarint(s, &y->value)) return false;
    if (x == 3) return true;
    y->kind = (uint32_t)x;
    return x >> 2 > 0 && x >> 2 < BK_SEQ_REACH && y->value > 0;
}

/* The next symbol that level n passes on. */
static bool symbol(bk_seq *s, int n, bk_symbol *y)
{
    bk_seq_level *l = &s->level[n];
    while (l->m == 0) {
        if (n + 1 < BK_SEQ_LEVELS ? !symbol(s, n + 1, y) : !decode(s, y)) return false;
        if (y->kind == 0 || (y->kind & 3) != (uint32_t)n + 1) {
            l->ring[l->pos++ % BK_SEQ_REACH] = *y;
            return true;
        }
        l->d = y->kind >> 2;
        l->m = y->value;
        if (l->d > l->pos) return false;
    }
    l->m--;
    *y = l->ring[(l->pos - l->d) % BK_SEQ_REACH];
    l->ring[l->pos++ % BK_SEQ_REACH] = *y;
    return true;
}

bool bk_seq_next_slow(bk_seq *s, uint64_t *v)
{
    bk_symbol y;
    if (s->left == 0 || !symbol(s, 0, &y) || y.kind != 0) {
        s->left = 0;
        return false;
    }
    s->left--;
    *v = y.value;
    return true;
}
