/* Requests that are passed together but are not next to each other. */
static MPI_Request batch[BATCH];
static const int *batch_at;
static int batch_size;

static MPI_Request *gather(int count, const int *at)
{
    batch_at = at;
    batch_size = count;
    for (int i = 0; i < count; i++)
        batch[i] = at[i] < 0 ? MPI_REQUEST_NULL : request[at[i]];
    return batch;
}

static void scatter(void)
{
    for (int i = 0; i < batch_size; i++)
        if (batch_at[i] >= 0)
            request[batch_at[i]] = batch[i];
}
