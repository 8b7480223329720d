/* Files of the recorded program: the rank that prepares each, and whether it existed before.
 * This program uses files of its own. */
static const struct { int owner; bool existed; } files[] = {FILES};

/* Empties what earlier runs of this program have left, and leaves what existed before. */
static void prepare_files(int owner)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i].owner != owner)
            continue;
        const char *path = scratch_path("PREFIX", (int)i);
        FILE *f = fopen(path, "w");
        if (f == NULL || fclose(f) != 0 || (!files[i].existed && remove(path) != 0)) {
            perror(path);
            exit(1);
        }
    }
}
