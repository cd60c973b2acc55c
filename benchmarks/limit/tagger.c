/* The tagger: a linear chain of 20 labels over sparse tokens, the predicted labels to be beaten. Mistakes are sequences
   that are not labeled right. */
#include "round.h"

#define LABELS 20
#define VECTORS (LABELS * (long)sizeof(REAL) / 32)
#define MOST_TOKENS 64

typedef struct {
    const int32_t *j;
    const REAL *v;
    long n;
} Token;

static inline Vector larger(Vector a, Vector b)
{
    Vector c;
    for (long l = 0; l < LANES; l++)
        c[l] = a[l] > b[l] ? a[l] : b[l];
    return c;
}

static double dot(const Token *a, const Token *b)
{
    double total = 0;
    for (long k = 0, l = 0; k < a->n && l < b->n;) {
        const int32_t i = a->j[k], j = b->j[l];
        if (i == j)
            total += a->v[k] * b->v[l];
        k += i <= j;
        l += j <= i;
    }
    return total;
}

static void viterbi(REAL s[][LABELS], REAL T[][LABELS], long n, long *path)
{
    for (long i = 1; i < n; i++) {
        Vector best[VECTORS];
        for (int r = 0; r < VECTORS; r++)
            best[r] = s[i - 1][0] + load(T[0] + r * LANES);
        for (int a = 1; a < LABELS; a++)
#pragma GCC unroll 8
            for (int r = 0; r < VECTORS; r++) {
                const Vector way = s[i - 1][a] + load(T[a] + r * LANES);
                best[r] = larger(way, best[r]);
            }
        for (int r = 0; r < VECTORS; r++)
            store(s[i] + r * LANES, load(s[i] + r * LANES) + best[r]);
    }
    path[n - 1] = 0;
    for (int a = 1; a < LABELS; a++)
        if (s[n - 1][a] > s[n - 1][path[n - 1]])
            path[n - 1] = a;
    for (long i = n - 1; i > 0; i--) {
        path[i - 1] = 0;
        for (int a = 1; a < LABELS; a++)
            if (s[i - 1][a] + T[a][path[i]] > s[i - 1][path[i - 1]] + T[path[i - 1]][path[i]])
                path[i - 1] = a;
    }
}

static double score(REAL s[][LABELS], REAL T[][LABELS], const long *path, long n)
{
    double total = 0;
    for (long i = 0; i < n; i++)
        total += s[i][path[i]] + (i > 0 ? T[path[i - 1]][path[i]] : 0);
    return total;
}

long learn(long n_sequences, const int64_t *ends, const int32_t *indptr, const int32_t *indices, const REAL *values,
           const int64_t *labels, REAL *W)
{
    static REAL T[LABELS][LABELS], emitted[MOST_TOKENS][LABELS], ways[MOST_TOKENS][LABELS];
    double b[LABELS] = {0}, count[LABELS][LABELS] = {{0}};
    long y[MOST_TOKENS], z[MOST_TOKENS], mistakes = 0;
    Token x[MOST_TOKENS];
    const double b2 = squared_bias(values, indptr[1]);
    const long stored = indptr[ends[n_sequences]];
    memset(T, 0, sizeof T);
    for (long t = 0; t < n_sequences; t++) {
        const long first = ends[t], n = ends[t + 1] - first;
        for (long i = 0; i < n; i++) {
            const long start = indptr[first + i], safe = stored - start - AHEAD;
            x[i] = (Token){indices + start, values + start, indptr[first + i + 1] - start};
            y[i] = labels[first + i];
            Vector chain[VECTORS] = {{0}};
            for (long k = 0; k < x[i].n; k++) {
                if (k < safe)
                    for (long c = 0; c < LABELS; c += 64 / (long)sizeof(REAL))
                        __builtin_prefetch(W + x[i].j[k + AHEAD] * (long)LABELS + c);
#pragma GCC unroll 8
                for (int r = 0; r < VECTORS; r++)
                    chain[r] += x[i].v[k] * load(W + x[i].j[k] * (long)LABELS + r * LANES);
            }
            for (int r = 0; r < VECTORS; r++)
                store(emitted[i] + r * LANES, chain[r]);
            for (int a = 0; a < LABELS; a++)
                emitted[i][a] += b[a];
        }
        memcpy(ways, emitted, n * sizeof ways[0]);
        viterbi(ways, T, n, z);
        long errors = 0;
        for (long i = 0; i < n; i++)
            errors += y[i] != z[i];
        if (errors == 0)
            continue;
        mistakes++;
        const double loss = score(emitted, T, z, n) - score(emitted, T, y, n) + sqrt((double)errors);
        double squares = 0;
        for (long i = 0; i < n; i++) {
            if (y[i] == z[i])
                continue;
            squares += 2 * (dot(&x[i], &x[i]) + b2);
            for (long k = 0; k < i; k++) {
                if (y[k] == z[k])
                    continue;
                const int shared = (y[i] == y[k]) + (z[i] == z[k]) - (y[i] == z[k]) - (z[i] == y[k]);
                if (shared)
                    squares += 2 * shared * (dot(&x[i], &x[k]) + b2);
            }
        }
        for (long i = 1; i < n; i++) {
            count[y[i - 1]][y[i]]++;
            count[z[i - 1]][z[i]]--;
        }
        for (long i = 1; i < n; i++) {
            double *right = &count[y[i - 1]][y[i]], *rival = &count[z[i - 1]][z[i]];
            squares += *right * *right;
            *right = 0;
            squares += *rival * *rival;
            *rival = 0;
        }
        const double tau = projected(loss, squares);
        for (long i = 0; i < n; i++) {
            if (i > 0) {
                T[y[i - 1]][y[i]] += tau;
                T[z[i - 1]][z[i]] -= tau;
            }
            if (y[i] == z[i])
                continue;
            for (long k = 0; k < x[i].n; k++) {
                const REAL step = (REAL)tau * x[i].v[k];
                W[x[i].j[k] * (long)LABELS + y[i]] += step;
                W[x[i].j[k] * (long)LABELS + z[i]] -= step;
            }
            b[y[i]] += tau * b2;
            b[z[i]] -= tau * b2;
        }
    }
    return mistakes;
}
