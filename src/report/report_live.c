/* The report of `paceline validate --live`: steps predicted from calibrate's figures beside those trained here. */
#include "report/answer.h"
#include "report/answer_store.h"
#include "report/table.h"

#include "paceline/train.h"

#include <math.h>
#include <string.h>

typedef struct {
    pace_live_step of;
    int64_t predicted_ns, low_ns, high_ns, measured_ns, least_ns, most_ns;
} live_row;

static const pace_table steps = {"steps", "Steps predicted and measured", PACE_FOR_ALL, 0,
                                 PACE_CELLS({"model", "Model", PACE_SHOW_TEXT, PACE_OF(live_row, of.model)},
                                            {"batch", "Batch", PACE_SHOW_INT, PACE_OF(live_row, of.batch)},
                                            {"predicted_ns", "Predicted", PACE_SHOW_NS,
                                             PACE_OF(live_row, predicted_ns)},
                                            {"low_ns", "Low", PACE_SHOW_NS, PACE_OF(live_row, low_ns)},
                                            {"high_ns", "High", PACE_SHOW_NS, PACE_OF(live_row, high_ns)},
                                            {"measured_ns", "Measured", PACE_SHOW_NS, PACE_OF(live_row, measured_ns)},
                                            {"least_ns", "Least", PACE_SHOW_NS, PACE_OF(live_row, least_ns)},
                                            {"most_ns", "Most", PACE_SHOW_NS, PACE_OF(live_row, most_ns)},
                                            {"error_share", "Error", PACE_SHOW_SHARE, PACE_OF(live_row, of.error)},
                                            {"runs", NULL, PACE_SHOW_INT, PACE_OF(live_row, of.runs)})};

static const pace_table shares = {
    "shares", "FP | BP | WU, predicted and measured", PACE_FOR_ALL, 0,
    PACE_CELLS({"model", "Model", PACE_SHOW_TEXT, PACE_OF(live_row, of.model)},
               {"batch", "Batch", PACE_SHOW_INT, PACE_OF(live_row, of.batch)},
               {"predicted_forward_share", "FP predicted", PACE_SHOW_SHARE, PACE_OF(live_row, of.predicted_forward)},
               {"measured_forward_share", "measured", PACE_SHOW_SHARE, PACE_OF(live_row, of.measured_forward)},
               {"predicted_backward_share", "BP predicted", PACE_SHOW_SHARE, PACE_OF(live_row, of.predicted_backward)},
               {"measured_backward_share", "measured", PACE_SHOW_SHARE, PACE_OF(live_row, of.measured_backward)},
               {"predicted_update_share", "WU predicted", PACE_SHOW_SHARE, PACE_OF(live_row, of.predicted_update)},
               {"measured_update_share", "measured", PACE_SHOW_SHARE, PACE_OF(live_row, of.measured_update)})};

static int64_t ns(double seconds) { return llround(1e9 * seconds); }

static void put_steps(pace_node *root, const pace_table *declared, const pace_live_done *done) {
    pace_node *table = pace_open_table(root, declared, 0);
    for (size_t i = 0; i < done->step_count; i++) {
        const pace_live_step *s = &done->steps[i];
        pace_table_put(table, &(live_row){*s, ns(s->predicted_s), ns(s->low_s), ns(s->high_s), ns(s->measured_s),
                                          ns(s->least_s), ns(s->most_s)});
    }
}

/* Under names of their own, so that history follows each step. */
static void put_values(pace_report *report, const pace_live_done *done) {
    char path[160];
    for (size_t i = 0; i < done->step_count; i++) {
        const pace_live_step *s = &done->steps[i];
        const char *name = strrchr(s->model, '/') ? strrchr(s->model, '/') + 1 : s->model;
        pace_snprintf(path, sizeof path, "live.%.60s-%zu.measured_s", name, s->batch);
        pace_report_value(report, path, s->measured_s);
        pace_snprintf(path, sizeof path, "live.%.60s-%zu.error_share", name, s->batch);
        pace_report_value(report, path, s->error);
    }
}

static pace_status build(pace_report *report, void *context) {
    const pace_live_done *done = context;
    pace_node *root = pace_report_root(report);
    pace_node_sentence(
        root, true,
        "Predicted steps are %.1f %% off what was trained here (mean of %zu); %.0f %% of the 90 %% intervals hold it.",
        100 * done->mape, done->step_count, 100 * done->coverage);
    pace_node_sentence(root, false, "Of FP | BP | WU the share that is most off is so by %.1f points.",
                       100 * done->most_share_off);
    pace_node_text(root, "device", done->device);
    pace_node_text(root, "software", done->software);
    pace_node_int(root, "threads", done->threads);
    pace_node_bool(root, "calibrated_now", done->calibrated);
    pace_node_real(root, "mape", done->mape);
    pace_node_real(root, "coverage", done->coverage);
    pace_node_real(root, "most_off_share", done->most_share_off);
    put_values(report, done);
    put_steps(root, &steps, done);
    put_steps(root, &shares, done);
    pace_node_note(
        root,
        "Measured: the median of the runs' median steps; least and most: of the runs. Error: predicted over measured, less 1.");
    return PACE_OK;
}

pace_status pace_live_answer(pace_answer **out, const pace_question *question, const pace_live_done *live) {
    pace_report *report;
    pace_answer *answer;
    pace_live_done known = {0};
    size_t count;
    memcpy(&known, live, live->size < sizeof known ? live->size : sizeof known);
    PACE_TRY(pace_store_check(question));
    PACE_TRY(pace_report_build(&report, "live", "Predictions against this machine", build, &known));
    const char *const *command = pace_question_command(question, &count);
    pace_report_set_command(report, command, count);
    PACE_TRY(pace_answer_of_report(&answer, report, true));
    pace_status status = pace_store_answer(question, answer);
    if (status == PACE_OK) *out = answer;
    else pace_answer_free(answer);
    return status;
}
