#include "exchange/curve_shapes.h"
#include "base/normal_mixture.h"
#include "base/numbers.h"

/* How far off, of a shape's own spread: nobody knows beforehand, so each is weighed by how well it explains the sizes.
 */
static const double amplitudes[] = {0.25, 0.5, 1};

/* Waiting that the model does not know of (a host, a framework), in units of what it knows of, and how often. */
static const struct { double more, share; } waits[] = {{-0.3, 0.2}, {0, 0.5}, {0.5, 0.15}, {1.5, 0.08}, {4, 0.07}};

/* Without a model: the size that takes twice as long as an empty exchange, as a power of two. */
enum { FIRST_HALF = 10, LAST_HALF = 24, HALF_STEP = 2, MIDDLE_HALF = 17 };

enum {
    AMPLITUDES = PACE_COUNT(amplitudes),
    WAITS = PACE_COUNT(waits),
    HALVES = (LAST_HALF - FIRST_HALF) / HALF_STEP + 1,
    MOST_SHAPES = AMPLITUDES * (WAITS > HALVES ? WAITS : HALVES),
    LEFT_OUT_LEAST = 5 /* sizes, to leave one out */
};

typedef struct {
    double wait_s;     /* added to the model's */
    double half_bytes; /* without a model */
    double amplitude, share;
} shape;

/* A size by one shape. */
typedef struct {
    double log_s, far, near; /* far, near: deviations of what reaches far over sizes, and of what single sizes have */
} place;

typedef double square[PACE_SHAPE_SIZES][PACE_SHAPE_SIZES];

/* What does not depend on the shape. */
typedef struct {
    const pace_curve_size *measured, *asked;
    size_t count;
    const double *figure;
    bool modelled;
    square far, near; /* correlations */
    double far_asked[PACE_SHAPE_SIZES], near_asked[PACE_SHAPE_SIZES];
} problem;

/* --- shapes ------------------------------------------------------------------------------------------------------- */

static size_t shapes_of_model(shape *out, const problem *p) {
    double empty_s = p->asked->waiting_s;
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) empty_s = pace_least(empty_s, p->measured[i].waiting_s);
    for (int w = 0; w < WAITS; w++)
        for (int a = 0; a < AMPLITUDES; a++)
            out[count++] = (shape){waits[w].more * empty_s, 0, amplitudes[a], waits[w].share / amplitudes[a]};
    return count;
}

static size_t shapes_alone(shape *out) {
    size_t count = 0;
    for (int half = FIRST_HALF; half <= LAST_HALF; half += HALF_STEP)
        for (int a = 0; a < AMPLITUDES; a++) {
            double apart = (half - MIDDLE_HALF) / 4.0;
            out[count++] = (shape){0, ldexp(1, half), amplitudes[a], exp(-apart * apart / 2) / amplitudes[a]};
        }
    return count;
}

static place place_of(const problem *p, const shape *s, const pace_curve_size *size) {
    double time_s = size->model_s + s->wait_s, waiting = size->waiting_s + s->wait_s, spread = size->spread;
    if (p->modelled) time_s = pace_most(time_s, size->model_s / 3);
    else {
        time_s = s->half_bytes + exp2(size->log2_bytes);
        waiting = s->half_bytes;
        spread = p->figure[PACE_DOUBT_SHAPE_ALONE];
    }
    double share = pace_least(pace_most(waiting / time_s, 0), 1);
    double near = p->figure[PACE_DOUBT_SHAPE_NEAR] * spread * 2 * sqrt(share * (1 - share));
    return (place){log(time_s), s->amplitude * spread, near + p->figure[PACE_DOUBT_SHAPE_EVERYWHERE]};
}

/* --- the process -------------------------------------------------------------------------------------------------- */

/* Without a model nothing is known of the rate: any factor of the whole curve is as likely. */
static double of_rate(const problem *p) { return p->modelled ? 0 : 9; }

static double together(const problem *p, const place *a, const place *b, double far, double near) {
    return a->far * b->far * far + a->near * b->near * near + of_rate(p);
}

static double apart(const pace_curve_size *a, const pace_curve_size *b) { return fabs(a->log2_bytes - b->log2_bytes); }

static void correlate(problem *p) {
    double reach = p->figure[PACE_DOUBT_SHAPE_REACH], near_reach = p->figure[PACE_DOUBT_SHAPE_NEAR_REACH];
    for (size_t i = 0; i < p->count; i++) {
        double to_asked = apart(&p->measured[i], p->asked);
        p->far_asked[i] = exp(-to_asked / reach);
        p->near_asked[i] = exp(-to_asked / near_reach);
        for (size_t k = 0; k <= i; k++) {
            double between = apart(&p->measured[i], &p->measured[k]);
            p->far[i][k] = exp(-between / reach);
            p->near[i][k] = exp(-between / near_reach);
        }
    }
}

/* Cholesky's factor in place, then its inverse: the lower triangles. The product of the diagonal of the factor. */
static double factor(square out, square inverse, size_t count) {
    double log_diagonal = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = out[i][k];
            for (size_t c = 0; c < k; c++) sum -= out[i][c] * out[k][c];
            out[i][k] = i == k ? sqrt(sum) : sum / out[k][k];
            if (i == k) log_diagonal += log(out[i][i]);
        }
    for (size_t k = 0; k < count; k++)
        for (size_t i = k; i < count; i++) {
            double sum = i == k;
            for (size_t c = k; c < i; c++) sum -= out[i][c] * inverse[c][k];
            inverse[i][k] = sum / out[i][i];
        }
    return log_diagonal;
}

static void half_solve(double *out, square inverse, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        out[i] = 0;
        for (size_t k = 0; k <= i; k++) out[i] += inverse[i][k] * x[k];
    }
}

static double product(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

/* What one shape says, and of every measured size from the others. */
typedef struct {
    pace_normal_part asked, left_out[PACE_SHAPE_SIZES];
} answer;

/* Of a size from all others: how far off it is, and how far off it should be (equation 5.12). */
static void leave_out(answer *out, square inverse, const double *solved, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double own = 0, weighted = 0;
        for (size_t c = i; c < count; c++) {
            own += inverse[c][i] * inverse[c][i];
            weighted += inverse[c][i] * solved[c];
        }
        out->left_out[i] = (pace_normal_part){0, weighted / own, 1 / sqrt(own)};
    }
}

static double mean_of(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i];
    return count ? sum / (double)count : 0;
}

/* The answer by one shape; its weight is a logarithm yet. */
static void answer_by(answer *out, const problem *p, const shape *s) {
    square lower, inverse = {{0}};
    place at[PACE_SHAPE_SIZES], asked = place_of(p, s, p->asked);
    double off[PACE_SHAPE_SIZES], to_asked[PACE_SHAPE_SIZES], x[PACE_SHAPE_SIZES], y[PACE_SHAPE_SIZES];
    double noise = p->figure[PACE_DOUBT_SHAPE_NOISE] * p->figure[PACE_DOUBT_SHAPE_NOISE];
    for (size_t i = 0; i < p->count; i++) {
        at[i] = place_of(p, s, &p->measured[i]);
        off[i] = log(p->measured[i].time_s) - at[i].log_s;
        to_asked[i] = together(p, &asked, &at[i], p->far_asked[i], p->near_asked[i]);
        for (size_t k = 0; k <= i; k++)
            lower[i][k] = together(p, &at[i], &at[k], p->far[i][k], p->near[i][k]) +
                          (i == k ? noise + p->measured[i].noise * p->measured[i].noise : 0);
    }
    double level = p->modelled ? 0 : mean_of(off, p->count);
    for (size_t i = 0; i < p->count; i++) off[i] -= level;
    double log_diagonal = factor(lower, inverse, p->count);
    half_solve(x, inverse, off, p->count);
    half_solve(y, inverse, to_asked, p->count);
    double evidence = -product(x, x, p->count) / 2 - log_diagonal;
    double variance = together(p, &asked, &asked, 1, 1) - product(y, y, p->count);
    out->asked =
        (pace_normal_part){evidence * p->figure[PACE_DOUBT_SHAPE_TRUST] + log(s->share),
                           asked.log_s + level + product(x, y, p->count), sqrt(pace_most(variance, 0) + noise)};
    leave_out(out, inverse, x, p->count);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static void weigh(answer *of, size_t count) {
    double best = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) best = pace_most(best, of[i].asked.weight);
    for (size_t i = 0; i < count; i++) sum += of[i].asked.weight = exp(of[i].asked.weight - best);
    for (size_t i = 0; i < count; i++) of[i].asked.weight /= sum;
}

/* A measured size from the others, by all shapes: how far off it is, and how far off it should be. */
static pace_normal_part left_out(const answer *of, size_t shapes, size_t size) {
    double mean = 0, squares = 0;
    for (size_t s = 0; s < shapes; s++) {
        const pace_normal_part *part = &of[s].left_out[size];
        mean += of[s].asked.weight * part->mean;
        squares += of[s].asked.weight * (part->mean * part->mean + part->deviation * part->deviation);
    }
    return (pace_normal_part){1, mean, sqrt(squares - mean * mean)};
}

/* How much further off measured sizes are, each from the others, than they should be. A prior of as many sizes as the
 * figure says holds that they are as they should. */
static double surprise(const answer *of, size_t shapes, const problem *p) {
    double prior = p->figure[PACE_DOUBT_SHAPE_SURPRISE], squares = 0;
    if (p->count < LEFT_OUT_LEAST) return 1;
    for (size_t i = 0; i < p->count; i++) {
        pace_normal_part part = left_out(of, shapes, i);
        squares += pow(part.mean / part.deviation, 2);
    }
    return sqrt((prior + squares) / (prior + (double)p->count));
}

static double inner_squares(const answer *of, size_t shapes, size_t count) {
    double squares = 0;
    for (size_t i = 1; i + 1 < count; i++) squares += pow(left_out(of, shapes, i).mean, 2);
    return squares;
}

void pace_curve_shapes_time(pace_estimate *out_s, double *squares, const pace_curve_size *measured, size_t count,
                            const pace_curve_size *asked, const pace_doubts *doubts) {
    problem p = {.measured = measured,
                 .asked = asked,
                 .count = count < PACE_SHAPE_SIZES ? count : PACE_SHAPE_SIZES,
                 .figure = doubts->figure,
                 .modelled = asked->model_s > 0};
    shape shapes[MOST_SHAPES];
    answer of[MOST_SHAPES];
    pace_normal_part parts[MOST_SHAPES];
    size_t number = p.modelled ? shapes_of_model(shapes, &p) : shapes_alone(shapes);
    correlate(&p);
    for (size_t i = 0; i < number; i++) answer_by(&of[i], &p, &shapes[i]);
    weigh(of, number);
    for (size_t i = 0; i < number; i++) parts[i] = of[i].asked;
    double middle = pace_mixture_median(parts, number), spread = pace_mixture_spread(parts, number, middle);
    *squares = inner_squares(of, number, p.count);
    *out_s = (pace_estimate){exp(middle), spread * surprise(of, number, &p), PACE_RUNG_CALIBRATED, 0};
}
