/* The logger's file: mapped, so that its contents survive however the process
 * ends. One file per thread. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct out_file {
    int fd;
    char *map;          /* window onto the file */
    size_t base, size;  /* its position in the file */
    size_t pos;         /* end of the text, in the file */
} out_file;

int  out_open(out_file *f, const char *path);
void out_text(out_file *f, const char *s, size_t n);
void out_string(out_file *f, const char *s);
void out_number(out_file *f, int64_t v);
/* Percent-encodes what would confuse a reader of words. */
void out_quoted(out_file *f, const char *s, size_t n);

#endif
