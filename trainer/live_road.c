#include "live_road.h"

#include "base/median.h"
#include "live_ask.h"
#include "live_files.h"
#include "machine/machine.h"

#include <math.h>
#include <string.h>

enum { FORWARD, BACKWARD, EXCHANGE }; /* parts of a pace_live_run */

/* The parts of a probe's step; NAN where it could not be trained. */
typedef struct {
    double s[PACE_LIVE_PARTS];
} parts;

static pace_status time_parts(parts *out, pace_live *l, const pace_live_road *road, const char *model, int ranks) {
    pace_live_run run = {
        .step = {.model = model, .batch = 1, .ranks = ranks, .approach = road->approach, .link = road->link}};
    PACE_TRY(pace_live_train(l, &run));
    for (int i = 0; i < PACE_LIVE_PARTS; i++) out->s[i] = run.step.runs ? 1e-9 * run.parts[i][0] : (double)NAN;
    return PACE_OK;
}

/* Another framework exchanges inside of backward: what that takes beyond one rank's. */
static pace_status probe_once(double *out_s, pace_live *l, const pace_live_road *road, const char *model) {
    parts beside, alone;
    PACE_TRY(time_parts(&beside, l, road, model, road->ranks));
    *out_s = beside.s[l->runner ? BACKWARD : EXCHANGE];
    if (!l->runner) return PACE_OK;
    PACE_TRY(time_parts(&alone, l, road, model, 1));
    *out_s = fmax(*out_s - alone.s[BACKWARD], 0);
    return PACE_OK;
}

/* Ranks of one host share its caches, its memory and perhaps a core's units: another rank beside makes each slower. The
 * exchange beside backward takes processors from it: what backward takes more than forward does. */
static pace_status probe_slowed(double *slowed, double *stretch, pace_live *l, const pace_live_road *road) {
    parts beside, alone;
    PACE_TRY(time_parts(&beside, l, road, l->work, road->ranks));
    PACE_TRY(time_parts(&alone, l, road, l->work, 1));
    *slowed = beside.s[FORWARD] / alone.s[FORWARD];
    *stretch = beside.s[BACKWARD] / alone.s[BACKWARD] / *slowed;
    return PACE_OK;
}

pace_status pace_live_road_probe(pace_live *l, pace_live_road *road) {
    double small_s, large_s, slowed, stretch;
    PACE_TRY(probe_once(&small_s, l, road, l->small));
    PACE_TRY(probe_once(&large_s, l, road, l->large));
    PACE_TRY(probe_slowed(&slowed, &stretch, l, road));
    if (isnan(small_s) || isnan(large_s) || isnan(slowed)) return PACE_OK;
    road->slowed[road->runs] = slowed;
    road->stretch[road->runs] = stretch;
    road->small_s[road->runs] = small_s;
    road->large_s[road->runs++] = large_s;
    return PACE_OK;
}

/* --- the fit ------------------------------------------------------------------------------------------------------ */

static pace_status predict_probe(pace_live_step *out, pace_live *l, const pace_live_road *road, const char *model) {
    char path[PACE_LIVE_PATH], approach[PACE_LIVE_APPROACH];
    pace_live_road_approach(approach, road);
    PACE_TRY(pace_live_write_machine(path, l, road, road->bytes_per_s));
    return pace_live_predict(out, l, &(pace_live_asked){model, path, approach, road->ranks, 1, 1});
}

static pace_status exposed(double *out_s, pace_live *l, const pace_live_road *road, const char *model,
                           double control_s) {
    pace_live_step step = {0};
    pace_live_road tried = *road;
    tried.control_s = control_s;
    PACE_TRY(predict_probe(&step, l, &tried, model));
    *out_s = step.predicted_s * step.predicted_exchange;
    return PACE_OK;
}

static pace_status backward_beside(double *out_s, pace_live *l, const pace_live_road *road, double slows) {
    pace_live_step step = {0};
    pace_live_road tried = *road;
    tried.slows = slows;
    PACE_TRY(predict_probe(&step, l, &tried, l->work));
    *out_s = step.predicted_s * step.predicted_backward;
    return PACE_OK;
}

static double within(double value, double least, double most) { return fmin(fmax(value, least), most); }

/* The share of computing that an exchange takes, by halves: the more it takes, the longer is backward. Another
 * framework exchanges inside of backward, which tells nothing of that. */
static pace_status fit_slows(pace_live *l, pace_live_road *road) {
    enum { TURNS = 8 };
    double alone_s, beside_s, least = 0, most = 0.9;
    double stretch = pace_median_interval_of(road->stretch, road->runs, 1).median;
    if (l->runner) return PACE_OK;
    PACE_TRY(backward_beside(&alone_s, l, road, 0));
    for (int turn = 0; turn < TURNS && stretch > 1; turn++) {
        double middle = (least + most) / 2;
        PACE_TRY(backward_beside(&beside_s, l, road, middle));
        if (beside_s < stretch * alone_s) least = middle;
        else most = middle;
    }
    road->slows = least;
    return PACE_OK;
}

/* Exposed exchange grows with what each buffer costs by a straight line: two points of it are enough. */
static pace_status fit_control(pace_live *l, pace_live_road *road, double small_s) {
    static const double tried_s = 1e-3;
    double least_s, more_s;
    PACE_TRY(exposed(&least_s, l, road, l->small, 0));
    PACE_TRY(exposed(&more_s, l, road, l->small, tried_s));
    double slope = (more_s - least_s) / tried_s;
    road->control_s = slope > 0 ? within((small_s - least_s) / slope, 0, small_s) : 0;
    return PACE_OK;
}

/* The small probe says what a buffer costs whatever its size, the large one what its bytes do: they are solved by
 * turns. */
pace_status pace_live_road_fit(pace_live *l, pace_live_road *road) {
    enum { TURNS = 4 };
    double large_s;
    if (!road->runs) return PACE_OK;
    double small = pace_median_interval_of(road->small_s, road->runs, 1).median,
           large = pace_median_interval_of(road->large_s, road->runs, 1).median;
    road->bytes_per_s = pace_live_probe_bytes / fmax(large, 1e-6);
    for (int turn = 0; turn < TURNS; turn++) {
        PACE_TRY(fit_control(l, road, small));
        PACE_TRY(exposed(&large_s, l, road, l->large, road->control_s));
        road->bytes_per_s = within(road->bytes_per_s * within(large_s / fmax(large, 1e-6), 0.1, 10), 1e5, 1e12);
    }
    PACE_TRY(fit_slows(l, road));
    road->known = true;
    return PACE_OK;
}

/* --- where steps find them ---------------------------------------------------------------------------------------- */

pace_live_road *pace_live_road_of(pace_live *l, const pace_live_step *step) {
    for (size_t i = 0; i < l->roads.count && pace_live_exchanges(step); i++) {
        pace_live_road *road = &l->roads.items[i];
        bool same = road->ranks == step->ranks && strcmp(road->approach, step->approach) == 0;
        if (same && !road->bare && !road->link == !step->link) return road;
    }
    return NULL;
}

void pace_live_road_approach(char out[PACE_LIVE_APPROACH], const pace_live_road *road) {
    int length = pace_snprintf(out, PACE_LIVE_APPROACH, "%s:control_s=%.9g:cache=1", road->approach, road->control_s);
    if (road->slows > 0) pace_snprintf(out + length, PACE_LIVE_APPROACH - (size_t)length, ":slows=%.6g", road->slows);
}

const char pace_live_bare_link[] = "1000Gb/s";

const pace_live_road *pace_live_road_bare(const pace_live *l, const pace_live_road *road) {
    for (size_t i = 0; i < l->roads.count; i++) {
        const pace_live_road *bare = &l->roads.items[i];
        if (bare->bare && bare->ranks == road->ranks && strcmp(bare->approach, road->approach) == 0) return bare;
    }
    return NULL;
}

double pace_live_road_rate(const pace_live *l, const pace_live_road *road, const char *link) {
    const pace_live_road *bare = pace_live_road_bare(l, road);
    double own, other, whole = 1 / road->bytes_per_s, host = bare && bare->known ? 1 / bare->bytes_per_s : 0;
    if (!road->link || !pace_parse_rate(&own, road->link) || !pace_parse_rate(&other, link)) return road->bytes_per_s;
    host = fmin(host, whole);
    return 1 / (host + (whole - host) * own / other);
}

double pace_live_road_slowed(pace_live_road *road) {
    return fmax(pace_median_interval_of(road->slowed, road->runs, 1).median, 1);
}
