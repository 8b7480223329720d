/* Reads the number of values and the code of a sequence, and writes the values, all as the hook reads
 * them. */
#include "back_seq.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static uint8_t code[1 << 20];
    static bk_seq s;
    uint64_t n, v;
    if (fread(&n, sizeof n, 1, stdin) != 1) return 1;
    size_t size = fread(code, 1, sizeof code, stdin);
    uint8_t *exact = malloc(size + 1);      /* so that reading beyond it is seen */
    for (size_t i = 0; i < size; i++) exact[i + 1] = code[i];
    bk_seq_open(&s, exact + 1, size, n);
    while (bk_seq_next(&s, &v)) fwrite(&v, sizeof v, 1, stdout);
    free(exact);
    return 0;
}
