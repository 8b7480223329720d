/* The number of the world that started this program by its name, 0: it is the first. Files are where the name is. */
static int started_as(const char *name)
{
    static const char prefix[] = "/PREFIX";
    static char directory[4096];
    const char *file = strrchr(name, '/');
    if (file == NULL || strncmp(file, prefix, sizeof prefix - 1) != 0)
        return 0;
    int number = atoi(file + sizeof prefix - 1);
    if (number < 0 || number > (int)(sizeof worlds / sizeof *worlds))
        return 0;
    snprintf(directory, sizeof directory, "%.*s", (int)(file - name), name);
    setenv("EFG_SCRATCH", directory, 1);
    return number;
}
