/* The functions of votes.h for one vector size in BYTES (0: one lane, plain C) and one compiler TARGET. Included several
   times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)
#include "lanes.h"

/* v, clipped from above to the largest double; NaN becomes the largest double. */
TARGET VEC_INLINE V NAME(capped)(V v)
{
    const V most = NAME(all)(DBL_MAX);
    return PICK(v < most, v, most);
}

TARGET VEC_INLINE double NAME(lowest)(V v)
{
    double lane[sizeof(V) / sizeof(double)];
    memcpy(lane, &v, sizeof v);
    for (ptrdiff_t l = 1; l < LANES; l++)
        lane[0] = lane[l] < lane[0] ? lane[l] : lane[0];
    return lane[0];
}

TARGET static double NAME(tally)(const double *s, const double *v, ptrdiff_t n)
{
    V total = {0};
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V share = NAME(get)(v + k);
        total += PICK(NAME(get)(s + k) >= 0, share, -share);
    }
    return NAME(added)(total);
}

TARGET static void NAME(margins)(const double *s, double y, const double *asked, ptrdiff_t n, double *slack,
                                 double *now)
{
    const V none = {0}, one = none + 1;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V margin = y * NAME(get)(s + k), gap = NAME(get)(asked + k) - margin, loss = PICK(gap > 0, gap, none);
        NAME(put)(slack + k, gap);
        NAME(put)(now + MISTAKE * n + k, PICK(margin <= 0, one, none));
        NAME(put)(now + LOSS * n + k, loss);
        NAME(put)(now + SQUARED_LOSS * n + k, loss * loss);
    }
}

TARGET static Spread NAME(suffer)(const double *now, double *total, ptrdiff_t judged, double weight, const double *awake,
                                  const double *v, ptrdiff_t n, double *l)
{
    const V none = {0}, endless = NAME(all)(INFINITY);
    const ptrdiff_t rows = judged == COST ? OUTCOMES : COST;
    V low = endless, high = none, expected = none;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V active = NAME(get)(awake + k), share = NAME(get)(v + k);
        for (ptrdiff_t at = k; at < rows * n; at += n) {
            const V outcome = PICK(active != 0, NAME(get)(now + at), none);
            NAME(put)(total + at, NAME(capped)(NAME(get)(total + at) + outcome));
        }
        const V judgement = PICK(active != 0, NAME(get)(now + judged * n + k), none);
        const V loss = NAME(capped)(weight * NAME(capped)(judgement)), seen = PICK(share > 0, loss, endless);
        NAME(put)(l + k, loss);
        low = PICK(seen < low, seen, low);
        high = PICK(loss > high, loss, high);
        expected += share * loss;
    }
    return (Spread){NAME(lowest)(low), -NAME(lowest)(-high), fmin(NAME(added)(expected), DBL_MAX)};
}

TARGET static void NAME(charge)(const Naps *naps, double expected, ptrdiff_t n, double *l, double *total, double *L)
{
    const V none = {0}, mean = none + expected;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V awake = NAME(get)(naps->awake + k), loss = PICK(awake != 0, NAME(get)(l + k), mean);
        const V charged = NAME(capped)(NAME(get)(naps->charged + k) + PICK(awake != 0, none, mean));
        const V behind = NAME(get)(naps->behind + k), later = NAME(capped)(behind + loss - mean);
        const V sum = NAME(capped)(NAME(get)(total + k) + PICK(awake != 0, loss, none));
        NAME(put)(l + k, loss);
        NAME(put)(total + k, sum);
        NAME(put)(naps->charged + k, charged);
        NAME(put)(naps->slept + k, NAME(get)(naps->slept + k) + (1 - awake));
        NAME(put)(naps->since + k, NAME(get)(naps->since + k) + 1);
        NAME(put)(naps->behind + k, PICK(awake != 0, later, behind));
        NAME(put)(L + k, sum + charged);
    }
}

TARGET static ptrdiff_t NAME(least)(const double *L, ptrdiff_t n)
{
    V low = NAME(get)(L);
    for (ptrdiff_t k = LANES; k < n; k += LANES) {
        const V one = NAME(get)(L + k);
        low = PICK(one < low, one, low);
    }
    const double least = NAME(lowest)(low);
    for (ptrdiff_t k = 0; k < n; k++)
        if (L[k] == least)
            return k;
    return 0;
}

/* e^x for x up to 0; 0 where it underflows. */
TARGET VEC_INLINE V NAME(fallen)(V x)
{
    const V none = {0}, deepest = NAME(all)(-700);
    return PICK(x < deepest, none, NAME(exponential)(NAME(larger)(x, deepest)));
}

TARGET static void NAME(weigh)(const double *l, double low, double eta, double power, double share, ptrdiff_t models,
                               ptrdiff_t n, double *p)
{
    const V none = {0}, smallest = NAME(all)(DBL_MIN);
    V total = none;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V more = NAME(get)(l + k) - low, x = PICK(more > 0, -eta * more, none), old = NAME(get)(p + k);
        if (power == 1)
            NAME(put)(p + k, old * NAME(fallen)(x));
        else
            NAME(put)(p + k, NAME(fallen)(power * NAME(logarithm)(NAME(larger)(old, smallest)) + x));
    }
    for (ptrdiff_t k = models; k < n; k++)
        p[k] = 0;
    for (ptrdiff_t k = 0; k < n; k += LANES)
        total += NAME(get)(p + k);
    const V sum = none + NAME(added)(total), more = none + share / (double)models;
    for (ptrdiff_t k = 0; k < n; k += LANES)
        NAME(put)(p + k, NAME(get)(p + k) / sum * (1 - share) + more);
    for (ptrdiff_t k = models; k < n; k++)
        p[k] = 0;
}

TARGET static void NAME(share)(const double *p, const double *awake, ptrdiff_t n, double *v)
{
    V total = {0};
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V one = NAME(get)(p + k) * NAME(get)(awake + k);
        NAME(put)(v + k, one);
        total += one;
    }
    const double sum = NAME(added)(total);
    for (ptrdiff_t k = 0; sum > 0 && k < n; k += LANES)
        NAME(put)(v + k, NAME(get)(v + k) / sum);
}

TARGET static int NAME(due)(const Naps *naps, double least, double far, double longest_awake, double longest_asleep,
                            ptrdiff_t n)
{
    const V none = {0}, one = none + 1;
    V due = none;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V since = NAME(get)(naps->since + k), awake = NAME(get)(naps->awake + k);
        const V near = PICK(NAME(get)(naps->before + k) - least > far, none, one);
        due += PICK(awake != 0, PICK(since >= longest_awake, one, none), PICK(since >= longest_asleep, one, near));
    }
    return NAME(added)(due) > 0;
}

TARGET static void NAME(units)(const double *s, const double *awake, double share, double growth, ptrdiff_t n,
                               double *squares)
{
    const V endless = NAME(all)(INFINITY);
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V z = NAME(get)(s + k), square = z * z, sum = NAME(get)(squares + k);
        const V most = PICK(sum > 0, share * sum, endless), more = PICK(square < most, square, most);
        NAME(put)(squares + k, NAME(capped)(PICK(NAME(get)(awake + k) != 0, sum + more, sum * growth)));
    }
}

TARGET static void NAME(compare)(const double *s, const double *row, double sign, ptrdiff_t n, double *losses)
{
    const V none = {0}, one = none + 1, two = none + 2;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V ahead = sign * (NAME(get)(s + k) - NAME(get)(row + k));
        NAME(put)(losses + k, NAME(get)(losses + k) + PICK(ahead < 0, two, PICK(ahead == 0, one, none)));
    }
}

TARGET static void NAME(rank)(const double *losses, const double *awake, double scale, ptrdiff_t n, double *ranks)
{
    V total = {0}, count = {0};
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V active = NAME(get)(awake + k);
        total += PICK(active != 0, NAME(get)(losses + k), (V){0});
        count += active;
    }
    const V mean = NAME(all)(NAME(added)(total) / fmax(NAME(added)(count), 1));
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V loss = PICK(NAME(get)(awake + k) != 0, NAME(get)(losses + k), mean);
        NAME(put)(ranks + k, NAME(get)(ranks + k) + scale * loss);
    }
}

TARGET static double NAME(grade)(const double *s, const double *awake, const double *shares, const double *squares,
                                 double count, ptrdiff_t n)
{
    const V none = {0};
    const double part = 1 / count;
    V total = none, sum = none;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V square = NAME(get)(squares + k), share = NAME(get)(shares + k) * NAME(get)(awake + k);
        const V score = NAME(get)(s + k), size = PICK(score < 0, -score, score);
        total += share * PICK(square > 0, score / (NAME(root)(square * part) + size), none);
        sum += share;
    }
    return NAME(added)(total) / NAME(added)(sum);
}

static const Votes NAME(votes) = {
    NAME(tally), NAME(margins), NAME(suffer),  NAME(charge), NAME(least), NAME(weigh), NAME(share),
    NAME(due),   NAME(units),   NAME(compare), NAME(rank),   NAME(grade),
};

#include "lanes_end.h"
#undef NAME
