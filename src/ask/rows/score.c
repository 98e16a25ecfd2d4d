#include "ask/rows/score.h"

#include <math.h>

void pace_score_add(pace_score *score, double predicted, double measured, bool within) {
    double error = (predicted - measured) / measured;
    score->count++;
    score->log_error += log(fabs(error) + 4e-4);
    if (fabs(error) > 0) {
        score->plain_log_error += log(fabs(error));
        score->missed++;
    }
    score->error += fabs(error);
    score->signed_error += error;
    if (fabs(error) > score->largest) score->largest = fabs(error);
    score->within += within;
}

void pace_score_estimate(pace_score *score, pace_estimate predicted, double measured) {
    pace_score_add(score, predicted.median, measured,
                   measured >= pace_estimate_low(predicted) && measured <= pace_estimate_high(predicted));
}

static double mean(double sum, size_t count) { return count ? sum / (double)count : 0; }

double pace_score_gmae(const pace_score *score) { return score->count ? exp(mean(score->log_error, score->count)) : 0; }
double pace_score_geomean(const pace_score *score) {
    return score->missed ? exp(mean(score->plain_log_error, score->missed)) : 0;
}
double pace_score_mape(const pace_score *score) { return mean(score->error, score->count); }
double pace_score_signed_mean(const pace_score *score) { return mean(score->signed_error, score->count); }
double pace_score_coverage(const pace_score *score) { return mean(score->within, score->count); }
