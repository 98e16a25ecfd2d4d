#include "live_road.h"

#include "base/median.h"
#include "live_ask.h"
#include "live_files.h"
#include "machine/machine.h"

#include <math.h>
#include <string.h>

enum { FORWARD, BACKWARD, EXCHANGE }; /* as in pace_live_parts */

/* The parts of a probe's step from `first` to `last`; NAN where it could not be trained. */
static pace_status time_parts(double *out_s, pace_live *l, const pace_live_road *road, const char *model, int ranks,
                              int first, int last) {
    pace_live_run run = {
        .step = {.model = model, .batch = 1, .ranks = ranks, .approach = road->approach, .link = road->link}};
    *out_s = NAN;
    PACE_TRY(pace_live_train(l, &run));
    if (run.step.runs) *out_s = 0;
    for (int part = first; part <= last; part++) *out_s += 1e-9 * run.parts[part][0];
    return PACE_OK;
}

/* Another framework exchanges inside of backward: what that takes beyond one rank's. */
static pace_status probe_once(double *out_s, pace_live *l, const pace_live_road *road, const char *model) {
    double alone_s;
    int part = l->runner ? BACKWARD : EXCHANGE;
    PACE_TRY(time_parts(out_s, l, road, model, road->ranks, part, part));
    if (!l->runner) return PACE_OK;
    PACE_TRY(time_parts(&alone_s, l, road, model, 1, BACKWARD, BACKWARD));
    *out_s = fmax(*out_s - alone_s, 0);
    return PACE_OK;
}

/* Ranks of one host share its caches, its memory and perhaps a core's units: another rank beside makes each slower.
 * Another framework exchanges inside of backward, which tells nothing of that. */
static pace_status probe_slowed(double *out, pace_live *l, const pace_live_road *road) {
    double beside_s, alone_s;
    int last = l->runner ? FORWARD : BACKWARD;
    PACE_TRY(time_parts(&beside_s, l, road, l->work, road->ranks, FORWARD, last));
    PACE_TRY(time_parts(&alone_s, l, road, l->work, 1, FORWARD, last));
    *out = beside_s / alone_s;
    return PACE_OK;
}

pace_status pace_live_road_probe(pace_live *l, pace_live_road *road) {
    double small_s, large_s, slowed;
    PACE_TRY(probe_once(&small_s, l, road, l->small));
    PACE_TRY(probe_once(&large_s, l, road, l->large));
    PACE_TRY(probe_slowed(&slowed, l, road));
    if (isnan(small_s) || isnan(large_s) || isnan(slowed)) return PACE_OK;
    road->slowed[road->runs] = slowed;
    road->small_s[road->runs] = small_s;
    road->large_s[road->runs++] = large_s;
    return PACE_OK;
}

/* --- the fit ------------------------------------------------------------------------------------------------------ */

static pace_status exposed(double *out_s, pace_live *l, const pace_live_road *road, const char *model,
                           double control_s) {
    char path[PACE_LIVE_PATH], approach[PACE_LIVE_APPROACH];
    pace_live_step step = {0};
    pace_live_road tried = *road;
    tried.control_s = control_s;
    pace_live_road_approach(approach, &tried);
    PACE_TRY(pace_live_write_machine(path, l, road, road->bytes_per_s));
    PACE_TRY(pace_live_predict(&step, l, &(pace_live_asked){model, path, approach, road->ranks, 1, 1}));
    *out_s = step.predicted_s * step.predicted_exchange;
    return PACE_OK;
}

static double within(double value, double least, double most) { return fmin(fmax(value, least), most); }

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
    pace_snprintf(out, PACE_LIVE_APPROACH, "%s:control_s=%.9g:cache=1", road->approach, road->control_s);
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
