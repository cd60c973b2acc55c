/* The loops over models that learn side by side: their losses, the weights of their votes, and their shares in graded
   scores.

   All arrays have one number per model, padded to `votes_padded(n)` numbers, and the functions take that length. A model
   that sleeps has awake = 0, and so has padding; others have awake = 1. Sums that overflow stay at the largest double.

   votes_body.h holds each function once; votes.c compiles it with 16-byte vectors and, on x86-64, again with 32-byte
   vectors for CPUs that have AVX2 and FMA. `votes_for` picks the table. */
#ifndef ONMARGIN_VOTES_H
#define ONMARGIN_VOTES_H

#include <float.h>
#include <stdint.h>

#include "vec.h"

/* The kinds of outcomes of a model in a round. */
enum { MISTAKE, LOSS, SQUARED_LOSS, COST, OUTCOMES };

static inline ptrdiff_t votes_padded(ptrdiff_t n)
{
    return (n + 3) / 4 * 4;
}

/* The losses of a round: the smallest one of models with a vote, the largest one, and the mean of all by their votes. */
typedef struct {
    double low, high, expected;
} Spread;

/* What is known of each model about its sleep (see hedge.pxd). */
typedef struct {
    double *awake, *charged, *slept, *before, *since, *behind;
} SleepCounts;

/* The calibration of each model of two classes, its log loss and its share (see odds.pyx). */
typedef struct {
    double *slope, *offset, *h00, *h01, *h11, *losses, *shares;
} Calibrations;

typedef struct {
    /* sum_m v_m sign(s_m), with +1 for 0 */
    double (*tally)(const double *s, const double *v, ptrdiff_t n);
    /* For y in {-1, +1}: slack = asked - y s; mistake, loss [slack]_+ and its square in the outcomes */
    void (*margins)(const double *s, double y, const double *asked, ptrdiff_t n, double *slack, double *now);
    /* total += now, rows of n outcomes each, for models that are awake; l is the weight times the judged row of `now`.
       Costs are summed only if they are judged */
    Spread (*suffer)(const double *now, double *total, ptrdiff_t judged, double weight, const double *awake, const double *v,
                     ptrdiff_t n, double *l);
    /* total += l for models that are awake, and the others are charged the expected loss; L is total and charges */
    void (*charge)(const SleepCounts *sleep, double expected, ptrdiff_t n, double *l, double *total, double *L);
    /* the first of the smallest numbers */
    ptrdiff_t (*least)(const double *L, ptrdiff_t n);
    /* p = (1 - share) q / sum_m q_m + share / models with q = p^power exp(-eta [l - low]_+) for m < models, and 0 for
       padding */
    void (*weigh)(const double *l, double low, double eta, double power, double share, ptrdiff_t models, ptrdiff_t n,
                  double *p);
    /* v = p for models that are awake, divided by their sum, and 0 for others */
    void (*share)(const double *p, const double *awake, ptrdiff_t n, double *v);
    /* whether a model has been awake for `longest_awake` rounds, or sleeps and may have to wake up: it has slept for
       `longest_asleep` rounds, or was not more than `far` behind the least loss when it fell asleep */
    int (*due)(const SleepCounts *sleep, double least, double far, double longest_awake, double longest_asleep, ptrdiff_t n);

    /* squares += min(s^2, share squares), or if they are 0 s^2; those of sleeping models are multiplied by `growth` */
    void (*units)(const double *s, const double *awake, double share, double growth, ptrdiff_t n, double *squares);
    /* ranks += scale losses; sleeping models have the mean loss of the others */
    void (*rank)(const double *losses, const double *awake, double scale, ptrdiff_t n, double *ranks);
    /* sum_m q_m s_m / (u_m + |s_m|) with u_m = sqrt(squares_m / count), q the shares of models that are awake */
    double (*grade)(const double *s, const double *awake, const double *shares, const double *squares, double count,
                    ptrdiff_t n);
    /* ln(sum_m q_m p_m / sum_m q_m (1 - p_m)) over models that are awake, q their shares and p their probabilities */
    double (*pool)(const Calibrations *of, const double *s, const double *awake, const double *squares, double count,
                   ptrdiff_t n);
    /* A Newton step of each calibration on its log loss for y in {-1, +1}, times `part`; losses += weight times the log
       loss, or `charge` for sleeping models */
    void (*calibrate)(const Calibrations *of, const double *s, const double *awake, const double *squares, double count,
                      double y, double part, double weight, double charge, ptrdiff_t n);
} Votes;

/* Return the functions for this CPU. */
const Votes *votes_for(void);

#endif
