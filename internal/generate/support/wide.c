/* A number of 64 bits from its halves. */
static int64_t whole(long long high, long long low)
{
    return (int64_t)((uint64_t)high << 32 | (uint64_t)low);
}
