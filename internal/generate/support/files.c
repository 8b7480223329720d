/* Files of the recorded program: the first rank that names each, and whether it existed before.
 * This program uses files of its own, in the directory EFG_SCRATCH or in efg-scratch. */
static const struct { int owner; bool existed; } files[] = {FILES};

static const char *scratch_file(int number)
{
    static char path[4096];
    const char *directory = getenv("EFG_SCRATCH");
    if (directory == NULL || *directory == '\0')
        directory = "efg-scratch";
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        perror(directory);
        exit(1);
    }
    if (snprintf(path, sizeof path, "%s/PREFIX%d", directory, number) >= (int)sizeof path) {
        fprintf(stderr, "EFG_SCRATCH is too long\n");
        exit(1);
    }
    return path;
}

/* Empties what earlier runs of this program have left, and leaves what existed before. */
static void prepare_files(int owner)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i].owner != owner)
            continue;
        const char *path = scratch_file((int)i);
        FILE *f = fopen(path, "w");
        if (f == NULL || fclose(f) != 0 || (!files[i].existed && remove(path) != 0)) {
            perror(path);
            exit(1);
        }
    }
}
