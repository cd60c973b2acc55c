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
        NAME(put)(now + MISTAKE * n + k, PICK(margin > 0, none, one));
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

TARGET static void NAME(charge)(const SleepCounts *sleep, double expected, ptrdiff_t n, double *l, double *total, double *L)
{
    const V none = {0}, mean = none + expected;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V awake = NAME(get)(sleep->awake + k), loss = PICK(awake != 0, NAME(get)(l + k), mean);
        const V charged = NAME(capped)(NAME(get)(sleep->charged + k) + PICK(awake != 0, none, mean));
        const V behind = NAME(get)(sleep->behind + k), later = NAME(capped)(NAME(larger)(behind + loss - mean, none - DBL_MAX));
        const V sum = NAME(capped)(NAME(get)(total + k) + PICK(awake != 0, loss, none));
        NAME(put)(l + k, loss);
        NAME(put)(total + k, sum);
        NAME(put)(sleep->charged + k, charged);
        NAME(put)(sleep->slept + k, NAME(get)(sleep->slept + k) + (1 - awake));
        NAME(put)(sleep->since + k, NAME(get)(sleep->since + k) + 1);
        NAME(put)(sleep->behind + k, PICK(awake != 0, later, behind));
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
TARGET VEC_INLINE V NAME(decayed_weight)(V x)
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
            NAME(put)(p + k, old * NAME(decayed_weight)(x));
        else
            NAME(put)(p + k, NAME(decayed_weight)(power * NAME(logarithm)(NAME(larger)(old, smallest)) + x));
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

TARGET static int NAME(due)(const SleepCounts *sleep, double least, double far, double longest_awake, double longest_asleep,
                            ptrdiff_t n)
{
    const V none = {0}, one = none + 1;
    V due = none;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const V since = NAME(get)(sleep->since + k), awake = NAME(get)(sleep->awake + k);
        const V near = PICK(NAME(get)(sleep->before + k) - least > far, none, one);
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
        const V reach = NAME(root)(square * part) + size;
        total += share * PICK(reach > 0, PICK(square > 0, score / reach, none), none);
        sum += share;
    }
    return NAME(added)(total) / NAME(added)(sum);
}

/* The score in units of its root mean square, clipped to 10, and the log odds f, clipped to 30; e is exp(-|f|). */
TARGET VEC_INLINE V NAME(log_odds)(const Calibrations *of, const double *s, const double *squares, double part,
                                   ptrdiff_t k, V *x, V *e)
{
    const V none = {0}, most = none + 10, limit = none + 30, square = NAME(get)(squares + k);
    const V z = PICK(square > 0, NAME(get)(s + k) / NAME(root)(square * part), none);
    *x = PICK(z > -most, PICK(z < most, z, most), -most);
    const V g = NAME(get)(of->slope + k) * *x + NAME(get)(of->offset + k);
    const V f = PICK(g > -limit, PICK(g < limit, g, limit), -limit);
    *e = NAME(exponential)(PICK(f < 0, f, -f));
    return f;
}

TARGET static double NAME(pool)(const Calibrations *of, const double *s, const double *awake, const double *squares,
                                double count, ptrdiff_t n)
{
    const V none = {0}, one = none + 1;
    const double part = count > 0 ? 1 / count : 0;
    V with = none, against = none;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        V x, e;
        const V f = NAME(log_odds)(of, s, squares, part, k, &x, &e);
        const V share = NAME(get)(of->shares + k) * NAME(get)(awake + k) / (1 + e);
        with += share * PICK(f < 0, e, one);
        against += share * PICK(f < 0, one, e);
    }
    return log(NAME(added)(with) / NAME(added)(against));
}

TARGET static void NAME(calibrate)(const Calibrations *of, const double *s, const double *awake, const double *squares,
                                   double count, double y, double part, double weight, double charge, ptrdiff_t n)
{
    const V none = {0}, flat = none + 1e-3;
    const double unit = count > 0 ? 1 / count : 0;
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        V x, e;
        const V f = NAME(log_odds)(of, s, squares, unit, k, &x, &e), likely = 1 / (1 + e), unlikely = e * likely;
        const V right = PICK(y * f < 0, unlikely, likely), wrong = PICK(y * f < 0, likely, unlikely);
        const V active = NAME(get)(awake + k), loss = NAME(get)(of->losses + k);
        const V more = PICK(active != 0, -weight * NAME(logarithm)(right), none + charge);
        NAME(put)(of->losses + k, NAME(capped)(loss + more));
        const V curve = part * active * NAME(larger)(likely * unlikely, flat), step = part * active * y * wrong;
        const V h00 = NAME(get)(of->h00 + k) + curve * x * x, h01 = NAME(get)(of->h01 + k) + curve * x;
        const V h11 = NAME(get)(of->h11 + k) + curve, scale = step / (h00 * h11 - h01 * h01);
        NAME(put)(of->h00 + k, h00);
        NAME(put)(of->h01 + k, h01);
        NAME(put)(of->h11 + k, h11);
        NAME(put)(of->slope + k, NAME(get)(of->slope + k) + scale * (h11 * x - h01));
        NAME(put)(of->offset + k, NAME(get)(of->offset + k) + scale * (h00 - h01 * x));
    }
}

static const Votes NAME(votes) = {
    NAME(tally), NAME(margins), NAME(suffer), NAME(charge), NAME(least), NAME(weigh),     NAME(share),
    NAME(due),   NAME(units),   NAME(rank),   NAME(grade),  NAME(pool),  NAME(calibrate),
};

#include "lanes_end.h"
#undef NAME
