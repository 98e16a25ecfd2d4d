#include "exchange/few_sizes.h"

#include <math.h>

/* Chosen on 14 published tables of eight machines, every curve from 1 to 5 sizes of several kinds (small ones only,
 * large ones only, all over): docs/exchange.md, "Calibration". */
static const double reach = 6; /* doublings over which what makes the whole model slow or fast holds */
static const double near_reach = 2, near_spread = 0.15; /* of single sizes, most where bytes begin to count */
static const double noise = 0.04;                       /* of a measurement */
/* How far off, of the model's own spread: nobody knows beforehand, so each is weighed by how well it explains the
 * sizes. */
static const double amplitudes[] = {0.25, 0.5, 1};

enum { AMPLITUDES = sizeof amplitudes / sizeof *amplitudes };

static double near_by(const pace_few_size *a) { return near_spread * 2 * sqrt(fmax(a->waiting * (1 - a->waiting), 0)); }

static double together(const pace_few_size *a, const pace_few_size *b, double amplitude) {
    double apart = fabs(a->log2_bytes - b->log2_bytes);
    return amplitude * amplitude * a->spread * b->spread * exp(-apart / reach) +
           near_by(a) * near_by(b) * exp(-apart / near_reach);
}

/* Of the covariance of the measured sizes: Cholesky's factor. */
static void factor(double out[][PACE_FEW_SIZES], const pace_few_size *sizes, size_t count, double amplitude) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = together(&sizes[i], &sizes[j], amplitude) + (i == j ? noise * noise : 0);
            for (size_t k = 0; k < j; k++) sum -= out[i][k] * out[j][k];
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

static answer with_amplitude(const pace_few_size *sizes, size_t count, const pace_few_size *asked, double amplitude) {
    double lower[PACE_FEW_SIZES][PACE_FEW_SIZES], off[PACE_FEW_SIZES], towards[PACE_FEW_SIZES];
    answer out = {0, together(asked, asked, amplitude) + noise * noise, -log(amplitude)};
    for (size_t i = 0; i < count; i++) {
        off[i] = sizes[i].log_ratio;
        towards[i] = together(asked, &sizes[i], amplitude);
    }
    factor(lower, sizes, count, amplitude);
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
                    const pace_few_size *asked) {
    answer of[AMPLITUDES];
    double best = -INFINITY, weights = 0, mean = 0, square = 0;
    if (count > PACE_FEW_SIZES) count = PACE_FEW_SIZES;
    for (size_t i = 0; i < AMPLITUDES; i++) {
        of[i] = with_amplitude(measured, count, asked, amplitudes[i]);
        best = fmax(best, of[i].log_evidence);
    }
    for (size_t i = 0; i < AMPLITUDES; i++) {
        double weight = exp(of[i].log_evidence - best);
        weights += weight;
        mean += weight * of[i].mean;
        square += weight * (of[i].variance + of[i].mean * of[i].mean);
    }
    *log_ratio = mean / weights;
    *spread = sqrt(fmax(square / weights - *log_ratio * *log_ratio, noise * noise));
}
