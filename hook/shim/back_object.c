/* Operations, and the objects that are identified by slots: infos, error
 * handlers, keyvals, sessions, messages. */
#include "back_object.h"

bk_map bk_objects[BK_OBJECTS] = { BK_MAP_INIT, BK_MAP_INIT, BK_MAP_INIT, BK_MAP_INIT, BK_MAP_INIT };

bk_cold uint64_t bk_op_miss(bk_thread *b, MPI_Op op)
{
    return bk_map_copy(&bk_ops, BK_KEY(op), &b->op[bk_cache_slot(BK_KEY(op), BK_OP_BITS)])->word;
}

uint64_t bk_op_new(bk_thread *b, MPI_Op op, const void *function, int commute)
{
    uint64_t w[2] = { efg_function_word(b->t, function), commute != 0 };
    bk_entry e = { .key = BK_KEY(op), .word = EFG_IDENT(efg_hash(w, 2)), .refs = 1 };
    efg_def(EFG_DEF_OP, e.word, w, 2, NULL, 0);
    bk_map_set(&bk_ops, &e);
    return e.word;
}

uint64_t bk_object_word(enum bk_object kind, uint64_t key)
{
    return bk_map_word(&bk_objects[kind], key);
}

uint64_t bk_object_out(enum bk_object kind, uint64_t key, bool may_exist)
{
    bk_entry e;
    if (!bk_map_get(&bk_objects[kind], key, &e)) return EFG_NEW;
    if (EFG_IS_CONST(e.word)) return e.word;
    if (!may_exist) return EFG_NEW;
    bk_map_made(&bk_objects[kind], &e);
    return e.word;
}

/* A stale entry means that the object was freed in an unrecorded way. */
void bk_object_set(enum bk_object kind, uint64_t key, uint64_t id)
{
    bk_entry old, e = { .key = key, .word = id, .refs = 1 };
    if (!id) return;
    if (bk_map_get(&bk_objects[kind], key, &old) && !EFG_IS_CONST(old.word)) efg_slot_free(old.word);
    bk_map_set(&bk_objects[kind], &e);
}
