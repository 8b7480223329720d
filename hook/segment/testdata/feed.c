/* Feeds events from standard input to the recorder, for the differential test.
 * Input: records of little-endian words.
 *   1 kind word nwords nbytes words… bytes (padded to a word)     a definition
 *   2 n words… nvec (index len elements…)…                          an event
 * The argument says how often the whole input is fed. Prints "ready\n" before
 * the first event, so that a parent can kill it on the way. */
#include "efg_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t *in;
static size_t nin;

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

static size_t add(size_t i)
{
    efg_stream *t = efg_enter();
    if (t == NULL)
        exit(3);
    uint64_t n = in[i++];
    memcpy(t->w, in + i, n * 8);
    i += n;
    for (uint64_t nvec = in[i++]; nvec > 0; nvec--) {
        uint64_t word = in[i], len = in[i + 1];
        uint64_t w = efg_vec_word(t, (unsigned)word, in + i + 2, (uint32_t)len);
        if (w != t->w[word])
            exit(4);
        i += 2 + len;
    }
    efg_call_begin(t);
    efg_call_end(t);
    efg_record(t);
    efg_leave(t);
    return i;
}

int main(int argc, char **argv)
{
    read_input();
    efg_process_info info = {.rank = 0, .size = 1, .family = "feed", .version = "test"};
    if (efg_start(&info) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    for (long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1; times > 0; times--)
        for (size_t i = 0; i < nin;)
            i = in[i] == 1 ? define(i + 1) : add(i + 1);
    efg_end(EFG_END_FINALIZED);
    return 0;
}
