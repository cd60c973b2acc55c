/* Prints the results of every C kernel on the same made-up numbers, one name and its numbers per line, so that builds for
   different CPUs can be compared. */
#include <stdio.h>

#include "chain.h"
#include "expansion.h"
#include "matrix.h"
#include "metric.h"
#include "odds.h"
#include "votes.h"

#define FEATURES 150
#define COLUMNS 60
#define MOST (FEATURES * 2 * COLUMNS)

typedef struct {
    double numbers[MOST];
    float floats[MOST];
    double doubles[MOST];
} Memory;

static Memory values, weights, metrics, scales;
static int32_t indices[FEATURES];
static double out[2 * COLUMNS];
static uint64_t state = 1;

static double draw(void) /* between -1 and 1 */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (1ull << 52) - 1;
}

/* Numbers between least and least + 2, in both types. */
static void *fill(Memory *memory, ptrdiff_t itemsize, double least)
{
    for (ptrdiff_t k = 0; k < MOST; k++) {
        memory->numbers[k] = draw() + 1 + least;
        memory->floats[k] = (float)memory->numbers[k];
        memory->doubles[k] = memory->floats[k];
    }
    return itemsize == 4 ? (void *)memory->floats : (void *)memory->doubles;
}

static void show(const char *name, ptrdiff_t itemsize, const double *numbers, ptrdiff_t n)
{
    printf("%s_%s", name, itemsize == 4 ? "float" : "double");
    for (ptrdiff_t k = 0; k < n; k++)
        printf(" %.17g", numbers[k]);
    printf("\n");
}

/* The sums of seven parts, each of every seventh number. */
static void show_memory(const char *name, ptrdiff_t itemsize, const Memory *memory, ptrdiff_t n)
{
    double sums[7] = {0};
    for (ptrdiff_t k = 0; k < n; k++)
        sums[k % 7] += itemsize == 4 ? memory->floats[k] : memory->doubles[k];
    show(name, itemsize, sums, 7);
}

static Row row(ptrdiff_t itemsize, ptrdiff_t n, int sparse)
{
    Row x = {fill(&values, itemsize, -1), sparse ? indices : NULL, n, n, 0};
    int32_t j = 0;
    for (ptrdiff_t k = 0; k < n; k++, j += 1 + (draw() > 0))
        indices[k] = sparse ? j : (int32_t)k;
    return x;
}

static void run_vec(ptrdiff_t itemsize)
{
    static const ptrdiff_t lengths[] = {0, 1, 3, 8, 17, 31, 64, 75}, columns[] = {1, 2, 4, 7, 10, 21, 57};
    const Vec *vec = vec_for(itemsize);
    double b[2 * COLUMNS], t[2 * COLUMNS], squares[2];
    for (int l = 0; l < 8; l++)
        for (int c = 0; c < 7; c++)
            for (int kind = 0; kind < 4; kind++) {
                const int sparse = kind & 1, feature_major = kind >> 1 && columns[c] > 1;
                const Row x = row(itemsize, lengths[l], sparse);
                const ptrdiff_t n = feature_major ? vec_padded(columns[c], itemsize) : columns[c];
                Weights w = {fill(&weights, itemsize, -1), columns[c], feature_major ? n : 1,
                             feature_major ? 1 : FEATURES};
                memset(out, 0, sizeof out);
                for (ptrdiff_t k = 0; k < 2 * COLUMNS; k++)
                    t[k] = k < n ? draw() : 0;
                memcpy(b, t, sizeof b);
                squares[0] = vec->squared_norm(&x);
                squares[1] = vec->scores_and_norm(&x, &w, b, out);
                show("squares", itemsize, squares, 2);
                show("scores_and_norm", itemsize, out, columns[c]);
                vec->scores(&x, &w, out);
                show("scores", itemsize, out, columns[c]);
                vec->add(&x, &w, columns[c] - 1, columns[c] > 1 ? 0 : -1, 0.7);
                vec->add(&x, &w, -1, columns[c] / 2, 0.3);
                vec->add_all(&x, &w, t);
                show_memory("moved", itemsize, &weights, FEATURES * (feature_major ? n : columns[c]));
                squares[0] = vec->is_canonical(&x, FEATURES);
                squares[1] = vec->is_canonical(&x, sparse ? lengths[l] / 2 : FEATURES);
                show("canonical", itemsize, squares, 2);
            }
    for (ptrdiff_t n = 0; n < 70; n += 3)
        for (int sparse = 0; sparse < 2; sparse++) {
            const Row x = row(itemsize, n, sparse);
            Row y = x;
            y.values = fill(&weights, itemsize, -1);
            squares[0] = vec->dot(&x, &y);
            squares[1] = vec->squared_distance(&x, &y);
            show("two_rows", itemsize, squares, 2);
        }
}

static void run_metric(ptrdiff_t itemsize)
{
    const Metric *metric = metric_for(itemsize);
    const double rates[] = {0.3, 1.1};
    double results[4];
    for (int kind = 0; kind < 4; kind++) {
        const int sparse = kind & 1, scaled = kind >> 1;
        const Row x = row(itemsize, 45, sparse);
        const Weights w = {fill(&weights, itemsize, -1), 3, 3, 1}, h = {fill(&metrics, itemsize, 0.1), 3, 3, 1};
        void *s = fill(&scales, itemsize, 0.1);
        results[0] = metric->root_length(&x, &h, 1, scaled ? s : NULL);
        metric->root_move(&x, &w, &h, 1, scaled ? s : NULL, 0.4, 0.8);
        metric->root_add(&x, &w, &h, 2, scaled ? s : NULL, 0.2);
        results[1] = metric->extend(&x, s);
        results[2] = metric->variance(&x, &h, 0);
        metric->variance_move(&x, &w, &h, 0, 0.5, rates);
        metric->variance_add(&x, &w, &h, 0, 0.1);
        show("lengths", itemsize, results, 3);
        show_memory("weights", itemsize, &weights, 3 * FEATURES);
        show_memory("metrics", itemsize, &metrics, 3 * FEATURES);
        show_memory("scales", itemsize, &scales, FEATURES);
    }
    for (int sparse = 0; sparse < 2; sparse++) { /* several columns at once: roots, scaled roots, variances */
        static double kept_rates[FEATURES * METRIC_MOST], kept_roots[FEATURES * METRIC_MOST];
        const Kinds kinds = {5, 2, 9};
        const Kept kept = {kept_rates, kept_roots};
        const Row x = row(itemsize, 45, sparse);
        const ptrdiff_t stride = vec_padded(9, itemsize) > 12 ? vec_padded(9, itemsize) : 16;
        const Weights w = {fill(&weights, itemsize, -1), 9, stride, 1}, m = {fill(&metrics, itemsize, 0.1), 9, stride, 1};
        double g[METRIC_MOST] = {0}, q[METRIC_MOST] = {0};
        Moves by = {{0}, {0}, {0}};
        for (int c = 0; c < 9; c++) {
            g[c] = c < 5 ? 0.5 + 0.1 * c : 1;
            by.a[c] = 0.1 * c - 0.35;
            by.beta[c] = 0.2;
            by.growth[c] = 1.05;
        }
        metric->lengths(&x, &kinds, g, &m, fill(&scales, itemsize, 0.1), &kept, q);
        metric->moves(&x, &kinds, &w, &m, &kept, &by);
        show("several", itemsize, q, 9);
        show_memory("weights", itemsize, &weights, stride * 90);
        show_memory("metrics", itemsize, &metrics, stride * 90);
    }
    const double *m = fill(&weights, 8, -1), *v = fill(&metrics, 8, 0.1);
    const void *x = fill(&values, itemsize, -1);
    metric->standardize(x, 45, m, v, 3, fill(&scales, itemsize, -1));
    show_memory("standardize", itemsize, &scales, 45);
}

static void run_matrix(ptrdiff_t itemsize)
{
    const Matrix *matrix = matrix_for(itemsize);
    for (ptrdiff_t n = 2; n < 40; n += 5) {
        const ptrdiff_t stride = matrix_stride(n, itemsize), rows = n + MATRIX_ROWS - 1;
        void *A = fill(&weights, itemsize, -1), *u = fill(&values, itemsize, -1), *x = fill(&scales, itemsize, -1);
        for (ptrdiff_t i = 0; i < rows; i++) /* nothing beyond the first n */
            for (ptrdiff_t j = 0; j < stride; j++)
                if (i >= n || j >= n) {
                    weights.floats[i * stride + j] = values.floats[j < n ? n : j] = scales.floats[j < n ? n : j] = 0;
                    weights.doubles[i * stride + j] = values.doubles[j < n ? n : j] = scales.doubles[j < n ? n : j] = 0;
                }
        matrix->product(A, n, stride, x, fill(&metrics, itemsize, -1));
        show_memory("product", itemsize, &metrics, n);
        matrix->update(A, n, stride, u, 0.3);
        matrix->advance(A, n, stride, u, -0.2, x, itemsize == 4 ? (void *)metrics.floats : (void *)metrics.doubles);
        show_memory("advance", itemsize, &metrics, n);
        show_memory("matrix", itemsize, &weights, n * stride);
    }
    for (int sparse = 0; sparse < 2; sparse++) {
        const Row x = row(itemsize, 30, sparse);
        void *phases = fill(&metrics, itemsize, -1);
        const void *turns = fill(&weights, itemsize, -1);
        matrix->phases(&x, turns, fill(&scales, itemsize, -1), 50, phases);
        show_memory("phases", itemsize, &metrics, 50);
        matrix->cosines(phases, 50, 0.5, phases);
        show_memory("cosines", itemsize, &metrics, 50);
    }
}

static void run_expansion(ptrdiff_t itemsize)
{
    const Expansions *expansions = expansions_for(itemsize);
    for (ptrdiff_t n = 1; n < 80; n += 13) {
        void *kernel = fill(&values, itemsize, -1);
        expansions->polynomial(kernel, 70 * n, 0.3, 0.5, n / 13 + 1);
        show_memory("polynomial", itemsize, &values, 70 * n);
        expansions->squared_norms(kernel, 70, n, out);
        show("squared_norms", itemsize, out, 70);
        for (int dense = 0; dense < 2; dense++) {
            double *coef = fill(&weights, 8, -1), *sums = fill(&metrics, 8, -1);
            for (ptrdiff_t i = 0; i < 70 * 8; i++)
                if (i % 8 >= 7 || (!dense && i % 5))
                    coef[i] = 0;
            expansions->expand(kernel, n, coef, 8, 70, 7, sums);
            show("expand", itemsize, sums, 7 * n);
        }
    }
}

static void run_odds(void)
{
    const Odds *odds = odds_for();
    for (ptrdiff_t n = 1; n < 40; n++) {
        double *s = fill(&values, 8, -1), *p = fill(&weights, 8, -1), *c = fill(&metrics, 8, 0.1), results[4];
        results[0] = odds->sum(s, n);
        results[1] = odds->largest(s, n);
        results[2] = odds->squares(s, n, 0.1);
        odds->blend(p, s, n, 0.1, 20, p);
        odds->softmax(p, n, odds->largest(p, n), 30);
        results[3] = odds->slope(p, s, n, 0.1, 9, 8);
        odds->descend(p, n, 0.7, s, c);
        show("odds", 8, results, 4);
        show("softmax", 8, p, n);
        show("descend", 8, s, n);
    }
}

static void run_votes(void)
{
    const Votes *votes = votes_for();
    for (ptrdiff_t models = 1; models < 20; models++) {
        const ptrdiff_t n = votes_padded(models);
        double *s = fill(&values, 8, -1), *all = fill(&weights, 8, 0.1), *squares = fill(&metrics, 8, 0.1), results[7];
        double *now = all, *total = all + 4 * n, *v = all + 8 * n, *l = all + 9 * n, *L = all + 10 * n, *p = all + 11 * n;
        double awake[20], slack[20], ranks[20] = {0}, lines[7][20];
        const Calibrations calibrations = {lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6]};
        const SleepCounts sleep_counts = {awake, all + 12 * n, all + 13 * n, all + 14 * n, all + 15 * n, all + 16 * n};
        for (ptrdiff_t k = 0; k < n; k++)
            awake[k] = k < models && k % 3 != 1;
        votes->margins(s, -1, total, n, slack, now);
        const Spread round = votes->suffer(now, total, LOSS, 2.5, awake, v, n, l);
        votes->charge(&sleep_counts, round.expected, n, l, v, L);
        votes->weigh(L, L[votes->least(L, models)], 3, models % 2 ? 1 : 0.9, 0.1, models, n, p);
        votes->share(p, awake, n, v);
        votes->units(s, awake, 0.1, 1.5, n, squares);
        votes->rank(slack, awake, 0.25, n, ranks);
        for (ptrdiff_t k = 0; k < n; k++) {
            lines[0][k] = lines[2][k] = lines[4][k] = lines[6][k] = 1;
            lines[1][k] = lines[3][k] = lines[5][k] = 0;
        }
        votes->calibrate(&calibrations, s, awake, squares, 7, -1, 0.5, 2, 0.3, n);
        results[0] = votes->tally(s, v, n);
        results[1] = votes->grade(s, awake, v, squares, 7, n);
        results[2] = (double)votes->due(&sleep_counts, 1, 0.5, 2.5, 3, n);
        results[3] = round.low, results[4] = round.high, results[5] = round.expected;
        results[6] = votes->pool(&calibrations, s, awake, squares, 7, n);
        show("votes", 8, results, 7);
        for (int k = 0; k < 6; k++)
            show("calibrate", 8, lines[k], models);
        show("slack", 8, slack, models);
        show("weigh", 8, p, models);
        show("rank", 8, ranks, models);
        show_memory("sleep_counts", 8, &weights, 17 * n);
    }
}

static void run_chain(void)
{
    const Relax relax = chain_relax_here();
    for (ptrdiff_t labels = 1; labels < 45; labels += 3) {
        const ptrdiff_t stride = (labels + 3) / 4 * 4;
        const double *from = fill(&values, 8, -1);
        relax(from, fill(&weights, 8, -1), labels, stride, out);
        show("relax", 8, out, stride);
    }
}

int main(void)
{
    for (ptrdiff_t itemsize = 4; itemsize <= 8; itemsize += 4) {
        run_vec(itemsize);
        run_metric(itemsize);
        run_matrix(itemsize);
        run_expansion(itemsize);
    }
    run_odds();
    run_votes();
    run_chain();
    return 0;
}
