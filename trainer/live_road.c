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

static pace_status time_parts(parts *out, pace_live *l, const pace_live_road *road, const char *model, int ranks,
                              size_t steps) {
    pace_live_run run = {
        .step = {.model = model, .batch = 1, .ranks = ranks, .approach = road->approach, .link = road->link},
        .steps = steps};
    PACE_TRY(pace_live_train(l, &run));
    for (int i = 0; i < PACE_LIVE_PARTS; i++) out->s[i] = run.step.runs ? 1e-9 * run.parts[i][0] : (double)NAN;
    return PACE_OK;
}

/* Another framework exchanges inside of backward: what that takes beyond one rank's. Large buffers take long, and their
 * times differ little. */
static pace_status probe_once(double *out_s, pace_live *l, const pace_live_road *road, int probe) {
    enum { FEW = 4 };
    parts beside, alone;
    size_t steps = probe > PACE_LIVE_LARGE && l->steps > FEW ? FEW : 0;
    PACE_TRY(time_parts(&beside, l, road, l->probes[probe], road->ranks, steps));
    *out_s = beside.s[l->runner ? BACKWARD : EXCHANGE];
    if (!l->runner) return PACE_OK;
    PACE_TRY(time_parts(&alone, l, road, l->probes[probe], 1, steps));
    *out_s = fmax(*out_s - alone.s[BACKWARD], 0);
    return PACE_OK;
}

/* A rate needs two sizes, a curve all. */
static bool probes(const pace_live_road *road, int probe) {
    return road->curved || probe == PACE_LIVE_SMALL || probe == PACE_LIVE_LARGE;
}

/* Ranks of one host share its caches, its memory and perhaps a core's units: another rank beside makes each slower. The
 * exchange beside backward takes processors from it: what backward takes more than forward does. */
static pace_status probe_slowed(double *slowed, double *stretch, pace_live *l, const pace_live_road *road) {
    parts beside, alone;
    PACE_TRY(time_parts(&beside, l, road, l->work, road->ranks, 0));
    PACE_TRY(time_parts(&alone, l, road, l->work, 1, 0));
    *slowed = beside.s[FORWARD] / alone.s[FORWARD];
    *stretch = beside.s[BACKWARD] / alone.s[BACKWARD] / *slowed;
    return PACE_OK;
}

pace_status pace_live_road_probe(pace_live *l, pace_live_road *road) {
    double slowed, stretch;
    bool good = true;
    for (int i = 0; i < PACE_LIVE_PROBES && good; i++) {
        double *exchange_s = &road->probe_s[i][road->runs];
        if (probes(road, i)) PACE_TRY(probe_once(exchange_s, l, road, i));
        good = !isnan(*exchange_s) || i > PACE_LIVE_LARGE; /* memory may not hold the largest */
    }
    if (good) PACE_TRY(probe_slowed(&slowed, &stretch, l, road));
    if (!good || isnan(slowed)) return PACE_OK;
    road->slowed[road->runs] = slowed;
    road->stretch[road->runs++] = stretch;
    return PACE_OK;
}

/* --- what predict is told ----------------------------------------------------------------------------------------- */

/* Of what something takes on the road's own link, what it does not take on a bare one follows the ratio of both links'
 * rates. */
static double on_link(double whole, double bare, const pace_live_road *road, const char *link) {
    double own, other;
    if (!road->link || !link || !pace_parse_rate(&own, road->link) || !pace_parse_rate(&other, link)) return whole;
    bare = fmin(bare, whole);
    return bare + (whole - bare) * own / other;
}

static const pace_live_road *bare_of(const pace_live *l, const pace_live_road *road) {
    const pace_live_road *bare = pace_live_road_bare(l, road);
    return bare && bare->known ? bare : NULL;
}

static void name_approach(char out[PACE_LIVE_APPROACH], const pace_live_road *road) {
    int length = pace_snprintf(out, PACE_LIVE_APPROACH, "%s:control_s=%.9g:cache=1", road->approach, road->control_s);
    if (road->slows > 0) pace_snprintf(out + length, PACE_LIVE_APPROACH - (size_t)length, ":slows=%.6g", road->slows);
}

static pace_status tell_curve(pace_live_asked *asked, pace_live *l, const pace_live_road *road, const char *link) {
    char rows[PACE_LIVE_PATH];
    double time_s[PACE_LIVE_PROBES];
    const pace_live_road *bare = bare_of(l, road);
    for (int i = 0; i < PACE_LIVE_PROBES; i++)
        time_s[i] = on_link(road->curve_s[i], bare ? bare->curve_s[i] : 0, road, link);
    PACE_TRY(pace_live_write_curve(rows, asked->curve, l, road, time_s));
    return pace_live_learn_curve(l, rows, asked->on, asked->curve);
}

pace_status pace_live_road_tell(pace_live_asked *asked, pace_live *l, const pace_live_road *road, const char *link) {
    const pace_live_road *bare = bare_of(l, road);
    double byte_s = on_link(1 / road->bytes_per_s, bare ? 1 / bare->bytes_per_s : 0, road, link);
    asked->ranks = road->ranks;
    name_approach(asked->approach, road);
    PACE_TRY(pace_live_write_machine(asked->on, l, road, 1 / byte_s));
    return road->curved && road->curve_s[0] > 0 ? tell_curve(asked, l, road, link) : PACE_OK;
}

/* --- the fit ------------------------------------------------------------------------------------------------------ */

static pace_status predict_probe(pace_live_step *out, pace_live *l, const pace_live_road *road, const char *model) {
    pace_live_asked asked = {.model = model, .batch = 1, .slowed = 1};
    PACE_TRY(pace_live_road_tell(&asked, l, road, road->link));
    return pace_live_predict(out, l, &asked);
}

static pace_status exposed(double *out_s, pace_live *l, const pace_live_road *road, int probe, double control_s) {
    pace_live_step step = {0};
    pace_live_road tried = *road;
    tried.control_s = control_s;
    PACE_TRY(predict_probe(&step, l, &tried, l->probes[probe]));
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
    PACE_TRY(exposed(&least_s, l, road, PACE_LIVE_SMALL, 0));
    PACE_TRY(exposed(&more_s, l, road, PACE_LIVE_SMALL, tried_s));
    double slope = (more_s - least_s) / tried_s;
    road->control_s = slope > 0 ? within((small_s - least_s) / slope, 0, small_s) : 0;
    return PACE_OK;
}

static double median_of(pace_live_road *road, int probe) {
    for (size_t i = 0; i < road->runs; i++)
        if (isnan(road->probe_s[probe][i])) return (double)NAN;
    return pace_median_interval_of(road->probe_s[probe], road->runs, 1).median;
}

/* The small probe says what a buffer costs whatever its size, the large one what its bytes do: they are solved by
 * turns. */
static pace_status fit_rate(pace_live *l, pace_live_road *road) {
    enum { TURNS = 4 };
    double large = median_of(road, PACE_LIVE_LARGE), large_s;
    road->bytes_per_s = pace_live_probe_bytes(PACE_LIVE_LARGE) / fmax(large, 1e-6);
    for (int turn = 0; turn < TURNS; turn++) {
        PACE_TRY(fit_control(l, road, median_of(road, PACE_LIVE_SMALL)));
        PACE_TRY(exposed(&large_s, l, road, PACE_LIVE_LARGE, road->control_s));
        road->bytes_per_s = within(road->bytes_per_s * within(large_s / fmax(large, 1e-6), 0.1, 10), 1e5, 1e12);
    }
    return PACE_OK;
}

/* Where bytes take no time, predict says what there is beside them; the rest of a probe is its all-reduce. */
static pace_status fit_curve(pace_live *l, pace_live_road *road) {
    static const double at_once = 1e12, least_s = 1e-6;
    double curve_s[PACE_LIVE_PROBES] = {least_s}, beside_s;
    road->bytes_per_s = at_once;
    PACE_TRY(fit_control(l, road, median_of(road, PACE_LIVE_SMALL)));
    for (int i = PACE_LIVE_SMALL + 1; i < PACE_LIVE_PROBES; i++) {
        PACE_TRY(exposed(&beside_s, l, road, i, road->control_s));
        double own_s = median_of(road, i) - beside_s;
        curve_s[i] = own_s < least_s ? least_s : own_s; /* NAN stays */
    }
    memcpy(road->curve_s, curve_s, sizeof curve_s);
    road->bytes_per_s = pace_live_probe_bytes(PACE_LIVE_LARGE) / curve_s[PACE_LIVE_LARGE];
    return PACE_OK;
}

pace_status pace_live_road_fit(pace_live *l, pace_live_road *road) {
    if (!road->runs) return PACE_OK;
    PACE_TRY(road->curved ? fit_curve(l, road) : fit_rate(l, road));
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

const char pace_live_bare_link[] = "1000Gb/s";

const pace_live_road *pace_live_road_bare(const pace_live *l, const pace_live_road *road) {
    for (size_t i = 0; i < l->roads.count; i++) {
        const pace_live_road *bare = &l->roads.items[i];
        if (bare->bare && bare->ranks == road->ranks && strcmp(bare->approach, road->approach) == 0) return bare;
    }
    return NULL;
}

double pace_live_road_slowed(pace_live_road *road) {
    return fmax(pace_median_interval_of(road->slowed, road->runs, 1).median, 1);
}
