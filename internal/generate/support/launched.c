/* A number that the launcher gave the process. */
static int launched(const char *name, const char *other)
{
    const char *value = getenv(name);
    if (value == NULL)
        value = getenv(other);
    return value != NULL ? atoi(value) : 0;
}
