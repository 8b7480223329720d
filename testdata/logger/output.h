/* The logger's file: mapped, so that what is written survives any death of the
 * process. One file a thread. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct out_file {
    int fd;
    char *map;          /* window onto the file */
    size_t base, size;  /* its place in the file */
    size_t pos;         /* end of the text, in the file */
} out_file;

int  out_open(out_file *f, const char *path);
void out_text(out_file *f, const char *s, size_t n);
void out_string(out_file *f, const char *s);
void out_number(out_file *f, int64_t v);
/* Percent-encodes what would confuse a reader of words. */
void out_quoted(out_file *f, const char *s, size_t n);

#endif
