#include "output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW ((size_t)1 << 20)

static void fail(const char *what)
{
    perror(what);
    _exit(99);
}

/* Maps a window that starts at the page of f->pos and has room for n bytes. */
static void move_window(out_file *f, size_t n)
{
    if (f->map)
        munmap(f->map, f->size);
    f->base = f->pos & ~(size_t)4095;
    f->size = WINDOW;
    while (f->size < n + 8192)
        f->size *= 2;
    if (ftruncate(f->fd, (off_t)(f->base + f->size)) != 0)
        fail("logger: ftruncate");
    f->map = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, (off_t)f->base);
    if (f->map == MAP_FAILED)
        fail("logger: mmap");
}

int out_open(out_file *f, const char *path)
{
    memset(f, 0, sizeof *f);
    f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f->fd < 0)
        return -1;
    move_window(f, 0);
    return 0;
}

void out_text(out_file *f, const char *s, size_t n)
{
    if (f->pos + n > f->base + f->size)
        move_window(f, n);
    memcpy(f->map + (f->pos - f->base), s, n);
    f->pos += n;
}

void out_string(out_file *f, const char *s)
{
    out_text(f, s, strlen(s));
}

void out_number(out_file *f, int64_t v)
{
    char b[24], *p = b + sizeof b;
    uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    out_text(f, p, (size_t)(b + sizeof b - p));
}

void out_quoted(out_file *f, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        char b[4];
        if (c > ' ' && c != '%' && c != '"' && c < 127)
            out_text(f, s + i, 1);
        else
            out_text(f, b, (size_t)snprintf(b, sizeof b, "%%%02x", c));
    }
}
