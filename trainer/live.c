/*
 * The closed loop: predict says what a step takes on this machine from calibrate's figures, train takes it, several
 * times in turn. Calibration and the probes of links are spread over the same rounds, so that what others do on the
 * machine meanwhile meets all alike; predictions are made at the end, from calibration and probes alone. Everything is
 * asked as anybody would ask it.
 */
#include "live_state.h"

#include "live_ask.h"
#include "live_files.h"
#include "live_grid.h"
#include "live_road.h"
#include "live_score.h"

#include <math.h>

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static bool is_stopped(pace_live *l) {
    l->stopped = l->stopped || pace_question_stopped(l->question);
    return l->stopped;
}

static pace_status measure_round(pace_live *l, size_t round) {
    size_t count = l->all.count;
    if (l->calibrates) PACE_TRY(pace_live_calibrate(l, round));
    for (size_t i = 0; i < l->roads.count && !is_stopped(l); i++) PACE_TRY(pace_live_road_probe(l, &l->roads.items[i]));
    for (size_t i = 0; i < count && !is_stopped(l); i++) {
        pace_question_progress(l->question, "steps trained", round * count + i, l->runs * count);
        PACE_TRY(pace_live_train(l, &l->all.items[i]));
    }
    return PACE_OK;
}

static pace_status check_measured(const pace_live *l) {
    for (size_t i = 0; i < l->all.count; i++)
        if (l->all.items[i].step.runs) return PACE_OK;
    if (l->stopped) return pace_fail(PACE_E_STOPPED, "live: stopped before any step was trained");
    return pace_fail(PACE_E_MISSING, "live: no step could be trained; the first: %s", l->all.items[0].status);
}

/* Stopped in the middle of a calibration there is no entry, and nothing to predict from. */
static pace_status measure(pace_live *l) {
    size_t round = 0;
    for (; round < l->runs && !is_stopped(l); round++) PACE_TRY(measure_round(l, round));
    if (l->calibrates && l->on != l->entry) return pace_fail(PACE_E_STOPPED, "live: stopped before all was calibrated");
    return check_measured(l);
}

/* --- predicting --------------------------------------------------------------------------------------------------- */

static pace_status predict(pace_live *l, pace_live_step *step) {
    pace_live_road *road = pace_live_road_of(l, step);
    pace_live_asked asked = {.model = step->model, .batch = step->batch, .ranks = step->ranks, .slowed = 1};
    step->predicted_s = NAN;
    if (road && !road->known) return PACE_OK;
    pace_snprintf(asked.on, sizeof asked.on, "%s", l->on);
    if (road) PACE_TRY(pace_live_road_tell(&asked, l, road, step->link));
    if (road) asked.slowed = pace_live_road_slowed(road);
    return pace_live_predict(step, l, &asked);
}

static pace_status predict_all(pace_live *l) {
    if (l->calibrates) PACE_TRY(pace_live_learn(l));
    PACE_TRY(pace_live_find_packed(l));
    for (size_t i = 0; i < l->roads.count; i++) PACE_TRY(pace_live_road_fit(l, &l->roads.items[i]));
    for (size_t i = 0; i < l->all.count; i++) PACE_TRY(predict(l, &l->all.items[i].step));
    return PACE_OK;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

static void sum_up(pace_live_done *done, const pace_live_step *steps) {
    size_t counted = 0;
    for (size_t i = 0; i < done->step_count; i++) {
        if (!pace_live_counts(&steps[i])) continue;
        done->mape += fabs(steps[i].error), done->coverage += steps[i].covered, counted++;
        done->most_share_off = fmax(done->most_share_off, pace_live_most_off(&steps[i]));
    }
    done->mape = counted ? done->mape / (double)counted : (double)NAN;
    done->coverage = counted ? done->coverage / (double)counted : (double)NAN;
}

static pace_status answer(pace_answer **out, pace_live *l) {
    pace_live_figure figures[PACE_LIVE_FIGURES];
    pace_live_done done = {.size = sizeof done,
                           .device = l->calibrates ? "calibrated here" : l->on,
                           .software = l->software,
                           .threads = (int)l->threads,
                           .calibrated = l->calibrates,
                           .learned = l->fitted || pace_question_has(l->question, "fit"),
                           .stopped = l->stopped,
                           .cores = l->cores,
                           .runner = l->runner ? l->runner : "paceline",
                           .step_count = l->all.count,
                           .figures = figures,
                           .figure_count = PACE_LIVE_FIGURES};
    pace_live_step *steps = pace_alloc(l->all.count + 1, sizeof *steps);
    if (!steps) return PACE_E_MEMORY;
    for (size_t i = 0; i < l->all.count; i++) {
        pace_live_find_measured(&l->all.items[i]);
        steps[i] = l->all.items[i].step;
    }
    sum_up(&done, steps);
    pace_live_figures(figures, steps, l->all.count);
    done.steps = steps;
    pace_status status = pace_live_answer(out, l->question, &done);
    pace_free(steps);
    return status;
}

static pace_status run(pace_answer **out, pace_live *l) {
    PACE_TRY(pace_live_check(l->question));
    PACE_TRY(pace_live_grid(l));
    PACE_TRY(pace_live_files_make(l));
    l->calibrates = !l->on;
    PACE_TRY(pace_live_overhear(l));
    PACE_TRY(measure(l));
    PACE_TRY(predict_all(l));
    return answer(out, l);
}

pace_status pace_validate_live(pace_answer **out, pace_context *context, const pace_question *question) {
    PACE_GIVEN(out);
    PACE_GIVEN(question);
    pace_live *l = pace_alloc(1, sizeof *l);
    if (!l) return PACE_E_MEMORY;
    l->context = context, l->question = question;
    pace_status status = run(out, l);
    pace_scratch_close(&l->scratch);
    PACE_VEC_FREE(&l->all);
    PACE_VEC_FREE(&l->roads);
    pace_free(l);
    return status;
}
