/* Events from standard input, fed to the recorder. Input: records of
 * little-endian words.
 *   1 kind word nwords nbytes words… bytes (padded to a word)     a definition
 *   2 n words… nvec (index len elements…)…                          an event
 */
#ifndef EFG_TEST_INPUT_H
#define EFG_TEST_INPUT_H

#include "efg_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *in;
static size_t nin;
static _Atomic long refused;    /* events for which there was no stream */

static void read_input(void)
{
    size_t cap = 1 << 16, n;
    char *p = malloc(cap);
    size_t have = 0;
    while (p != NULL && (n = fread(p + have, 1, cap - have, stdin)) > 0)
        if ((have += n) == cap)
            p = realloc(p, cap *= 2);
    in = (uint64_t *)(void *)p;
    nin = have / 8;
}

static size_t define(size_t i)
{
    uint64_t nw = in[i + 2], nb = in[i + 3];
    efg_def((enum efg_def_kind)in[i], in[i + 1], in + i + 4, (uint32_t)nw, in + i + 4 + nw, (uint32_t)nb);
    return i + 4 + nw + (nb + 7) / 8;
}

/* Adds the event at i; during is called while the call goes on. */
static size_t add(size_t i, void (*during)(void))
{
    static uint64_t nowhere[EFG_MAX_WORDS];
    efg_stream *t = efg_enter();
    uint64_t *w = t != NULL ? t->w : nowhere;
    refused += t == NULL;
    uint64_t n = in[i++];
    if (t != NULL)
        memcpy(w, in + i, n * 8);
    i += n;
    for (uint64_t nvec = in[i++]; nvec > 0; nvec--) {
        uint64_t word = in[i], len = in[i + 1];
        if (t != NULL && efg_vec_word(t, (unsigned)word, in + i + 2, (uint32_t)len) != w[word])
            exit(4);
        i += 2 + len;
    }
    if (t == NULL)
        return i;
    efg_call_begin(t);
    if (during != NULL)
        during();
    efg_call_end(t);
    efg_record(t);
    efg_leave(t);
    return i;
}

/* Feeds the whole input; after is called after each event. */
static void feed(void (*after)(void))
{
    for (size_t i = 0; i < nin;) {
        if (in[i] == 1) {
            i = define(i + 1);
        } else {
            i = add(i + 1, NULL);
            if (after != NULL)
                after();
        }
    }
}

static int start(void)
{
    efg_process_info info = {.rank = 0, .size = 1, .family = "feed", .version = "test", .thread_multiple = 1};
    return efg_start(&info);
}

#endif
