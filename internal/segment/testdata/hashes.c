/* Reads lines of hex bytes and a hash; prints the lines whose XXH64 differs. */
#include "xxh64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t from_hex(const char *s, uint8_t *out)
{
    size_t n = 0;
    unsigned v;
    for (; s[0] != ' ' && sscanf(s, "%2x", &v) == 1; s += 2)
        out[n++] = (uint8_t)v;
    return n;
}

int main(void)
{
    static char line[8192];
    static uint8_t bytes[4096];
    int checked = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *space = strchr(line, ' ');
        if (line[0] == '#' || space == NULL)
            continue;
        if (xxh64(bytes, from_hex(line, bytes)) != strtoull(space + 1, NULL, 16))
            fputs(line, stdout);
        checked++;
    }
    printf("%d\n", checked);
    return 0;
}
