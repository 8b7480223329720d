/* The path of a file in the directory of this program: EFG_SCRATCH, or efg-scratch. */
static const char *scratch_path(const char *prefix, int number)
{
    static PER_THREAD char path[4096];
    const char *directory = getenv("EFG_SCRATCH");
    if (directory == NULL || *directory == '\0')
        directory = "efg-scratch";
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        perror(directory);
        exit(1);
    }
    if (snprintf(path, sizeof path, "%s/%s%d", directory, prefix, number) >= (int)sizeof path) {
        fprintf(stderr, "EFG_SCRATCH is too long\n");
        exit(1);
    }
    return path;
}
