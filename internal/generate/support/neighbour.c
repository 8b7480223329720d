/* The rank at a distance in the grid of ranks: MPI_PROC_NULL beyond its border. */
static int neighbour(const int *distance)
{
    static const int dims[] = {DIMS}, wrap[] = {WRAP};
    int to = 0, stride = 1;
    for (int d = COUNT - 1; d >= 0; d--) {
        int c = rank / stride % dims[d] + distance[d];
        if (wrap[d])
            c = (c % dims[d] + dims[d]) % dims[d];
        if (c < 0 || c >= dims[d])
            return MPI_PROC_NULL;
        to += c * stride;
        stride *= dims[d];
    }
    return to;
}
