/* Values of an argument. A positive number is that of values that follow; 0 is followed by a first value, a step,
 * and how many there are; a negative one goes back by so many numbers, as often as the next one says. */
struct cursor { const long long *at; long long done, again; };

static long long next(struct cursor *c)
{
    while (*c->at < 0) {
        if (c->again++ < c->at[1]) {
            c->at += *c->at;
        } else {
            c->again = 0;
            c->at += 2;
        }
    }
    const long long *a = c->at;
    long long value = *a > 0 ? a[1 + c->done] : a[1] + a[2] * c->done;
    if (++c->done == (*a > 0 ? *a : a[3])) {
        c->done = 0;
        c->at += *a > 0 ? *a + 1 : 4;
    }
    return value;
}
