/* The number that has these 64 bits. */
static double with_bits(int64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}
