#include "exchange/few_sizes.h"

#include <math.h>

/* How far off, of the model's own spread: nobody knows beforehand, so each is weighed by how well it explains the
 * sizes. */
static const double amplitudes[] = {0.25, 0.5, 1};

enum { AMPLITUDES = sizeof amplitudes / sizeof *amplitudes };

/* The covariance: what makes the whole model slow or fast reaches far, what single sizes have near; the latter is most
 * where bytes begin to count. */
typedef struct {
    double reach, near_reach, near_spread, noise; /* reaches in doublings; noise: of a measurement */
} kernel;

static double near_by(const kernel *k, const pace_few_size *a) {
    return k->near_spread * 2 * sqrt(fmax(a->waiting * (1 - a->waiting), 0));
}

static double together(const kernel *k, const pace_few_size *a, const pace_few_size *b, double amplitude) {
    double apart = fabs(a->log2_bytes - b->log2_bytes);
    return amplitude * amplitude * a->spread * b->spread * exp(-apart / k->reach) +
           near_by(k, a) * near_by(k, b) * exp(-apart / k->near_reach);
}

/* Of the covariance of the measured sizes: Cholesky's factor. */
static void factor(double out[][PACE_FEW_SIZES], const kernel *k, const pace_few_size *sizes, size_t count,
                   double amplitude) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = together(k, &sizes[i], &sizes[j], amplitude) + (i == j ? k->noise * k->noise : 0);
            for (size_t c = 0; c < j; c++) sum -= out[i][c] * out[j][c];
            out[i][j] = i == j ? sqrt(sum) : sum / out[j][j];
        }
}

static void solve(double *x, double lower[][PACE_FEW_SIZES], size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) x[i] -= lower[i][k] * x[k];
        x[i] /= lower[i][i];
    }
}

typedef struct {
    double mean, variance, log_evidence;
} answer;

static answer with_amplitude(const kernel *k, const pace_few_size *sizes, size_t count, const pace_few_size *asked,
                             double amplitude) {
    double lower[PACE_FEW_SIZES][PACE_FEW_SIZES], off[PACE_FEW_SIZES], towards[PACE_FEW_SIZES];
    answer out = {0, together(k, asked, asked, amplitude) + k->noise * k->noise, -log(amplitude)};
    for (size_t i = 0; i < count; i++) {
        off[i] = sizes[i].log_ratio;
        towards[i] = together(k, asked, &sizes[i], amplitude);
    }
    factor(lower, k, sizes, count, amplitude);
    solve(off, lower, count);
    solve(towards, lower, count);
    for (size_t i = 0; i < count; i++) {
        out.mean += towards[i] * off[i];
        out.variance -= towards[i] * towards[i];
        out.log_evidence -= off[i] * off[i] / 2 + log(lower[i][i]);
    }
    return out;
}

void pace_few_sizes(double *log_ratio, double *spread, const pace_few_size *measured, size_t count,
                    const pace_few_size *asked, const pace_doubts *doubts) {
    const double *figure = doubts->figure;
    const kernel k = {figure[PACE_DOUBT_FEW_REACH], figure[PACE_DOUBT_FEW_NEAR_REACH], figure[PACE_DOUBT_FEW_NEAR],
                      figure[PACE_DOUBT_FEW_NOISE]};
    answer of[AMPLITUDES];
    double best = -INFINITY, weights = 0, mean = 0, square = 0;
    if (count > PACE_FEW_SIZES) count = PACE_FEW_SIZES;
    for (size_t i = 0; i < AMPLITUDES; i++) {
        of[i] = with_amplitude(&k, measured, count, asked, amplitudes[i]);
        best = fmax(best, of[i].log_evidence);
    }
    for (size_t i = 0; i < AMPLITUDES; i++) {
        double weight = exp(of[i].log_evidence - best);
        weights += weight;
        mean += weight * of[i].mean;
        square += weight * (of[i].variance + of[i].mean * of[i].mean);
    }
    *log_ratio = mean / weights;
    *spread = sqrt(fmax(square / weights - *log_ratio * *log_ratio, k.noise * k.noise));
}
