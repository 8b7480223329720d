/* Requests that are passed together: their variables, if they are next to each other, or copies. */
static PER_THREAD MPI_Request batch[BATCH];
static PER_THREAD const int *batch_at;
static PER_THREAD int batch_size, batch_held; /* held: batch has copies */

/* The first of the variables that hold the requests one after another, or NULL. */
static MPI_Request *adjacent(int count, const int *at)
{
    int first = 0;
    while (first < count && at[first] < 0)
        first++;
    if (first == count || at[first] < first)
        return NULL;
    MPI_Request *from = request + at[first] - first;
    if (from + count > request + sizeof request / sizeof *request)
        return NULL;
    for (int i = 0; i < count; i++)
        if (at[i] < 0 ? from[i] != MPI_REQUEST_NULL : request + at[i] != from + i)
            return NULL;
    return from;
}

static MPI_Request *gather(int count, const int *at)
{
    batch_at = at;
    batch_size = count;
    MPI_Request *there = adjacent(count, at);
    batch_held = there == NULL;
    if (there != NULL)
        return there;
    for (int i = 0; i < count; i++)
        batch[i] = at[i] < 0 ? MPI_REQUEST_NULL : request[at[i]];
    return batch;
}

static void scatter(void)
{
    for (int i = 0; i < batch_size && batch_held; i++)
        if (batch_at[i] >= 0)
            request[batch_at[i]] = batch[i];
}
