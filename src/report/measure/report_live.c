/* The report of `paceline validate --live`: steps predicted from calibrate's figures beside those trained here. */
#include "ask/validate/live_figures.h"
#include "report/answer.h"
#include "report/analyze/answer_store.h"
#include "report/measure/lead_runs.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    pace_live_step of;
    int64_t predicted_ns, low_ns, high_ns, measured_ns, least_ns, most_ns;
    const char *note;
} live_row;

/* Some steps have several ranks; all have one; some do not count. */
enum { SEVERAL = 1, NOTED = 2, ALONE = 4 };

PACE_TABLE(steps, "steps", "Steps predicted and measured", PACE_FOR_ALL, 0,
           {"model", "Model", PACE_SHOW_TEXT, PACE_OF(live_row, of.model)},
           {"batch", "Batch", PACE_SHOW_INT, PACE_OF(live_row, of.batch)},
           {"ranks", "Ranks", PACE_SHOW_INT, PACE_OF(live_row, of.ranks), .shown_if = SEVERAL},
           {"approach", "Approach", PACE_SHOW_TEXT, PACE_OF(live_row, of.approach), .shown_if = SEVERAL},
           {"link", "Link", PACE_SHOW_TEXT, PACE_OF(live_row, of.link), .shown_if = SEVERAL},
           {"predicted_ns", "Predicted", PACE_SHOW_NS, PACE_OF(live_row, predicted_ns)},
           {"low_ns", "Low", PACE_SHOW_NS, PACE_OF(live_row, low_ns)},
           {"high_ns", "High", PACE_SHOW_NS, PACE_OF(live_row, high_ns)},
           {"measured_ns", "Measured", PACE_SHOW_NS, PACE_OF(live_row, measured_ns)},
           {"least_ns", "Least", PACE_SHOW_NS, PACE_OF(live_row, least_ns), .shown_if = ALONE},
           {"most_ns", "Most", PACE_SHOW_NS, PACE_OF(live_row, most_ns), .shown_if = ALONE},
           {"error_share", "Error", PACE_SHOW_SHARE, PACE_OF(live_row, of.error)},
           {"runs", NULL, PACE_SHOW_INT, PACE_OF(live_row, of.runs)},
           {"note", "Note", PACE_SHOW_TEXT, PACE_OF(live_row, note), .shown_if = NOTED});

PACE_TABLE(shares, "shares", "FP | BP | WU, predicted and measured", PACE_FOR_ALL, 0,
           {"model", "Model", PACE_SHOW_TEXT, PACE_OF(live_row, of.model)},
           {"batch", "Batch", PACE_SHOW_INT, PACE_OF(live_row, of.batch)},
           {"ranks", "Ranks", PACE_SHOW_INT, PACE_OF(live_row, of.ranks), .shown_if = SEVERAL},
           {"approach", "Approach", PACE_SHOW_TEXT, PACE_OF(live_row, of.approach), .shown_if = SEVERAL},
           {"link", "Link", PACE_SHOW_TEXT, PACE_OF(live_row, of.link), .shown_if = SEVERAL},
           {"predicted_forward_share", "FP predicted", PACE_SHOW_SHARE, PACE_OF(live_row, of.predicted_forward)},
           {"measured_forward_share", "measured", PACE_SHOW_SHARE, PACE_OF(live_row, of.measured_forward)},
           {"predicted_backward_share", "BP predicted", PACE_SHOW_SHARE, PACE_OF(live_row, of.predicted_backward)},
           {"measured_backward_share", "measured", PACE_SHOW_SHARE, PACE_OF(live_row, of.measured_backward)},
           {"predicted_update_share", "WU predicted", PACE_SHOW_SHARE, PACE_OF(live_row, of.predicted_update)},
           {"measured_update_share", "measured", PACE_SHOW_SHARE, PACE_OF(live_row, of.measured_update)},
           {"predicted_exchange_share", "Exposed predicted", PACE_SHOW_SHARE, PACE_OF(live_row, of.predicted_exchange),
            .shown_if = SEVERAL},
           {"measured_exchange_share", "measured", PACE_SHOW_SHARE, PACE_OF(live_row, of.measured_exchange),
            .shown_if = SEVERAL});

PACE_TABLE(figures, "figures", "Figures against their bars", PACE_FOR_ALL, 0,
           {"case", "Case", PACE_SHOW_TEXT, PACE_OF(pace_live_judged, name)},
           {"metric", "Metric", PACE_SHOW_TEXT, PACE_OF(pace_live_judged, metric)},
           {"n", "n", PACE_SHOW_INT, PACE_OF(pace_live_judged, count)},
           {"value", "Value", PACE_SHOW_REAL, PACE_OF(pace_live_judged, value)},
           {"bar", "Bar", PACE_SHOW_TEXT, PACE_OF(pace_live_judged, bar)},
           {"holds", "Holds", PACE_SHOW_TEXT, PACE_OF(pace_live_judged, holds)},
           {"means", "Of", PACE_SHOW_TEXT, PACE_OF(pace_live_judged, means)});

static int64_t ns(double seconds) { return isfinite(seconds) ? llround(1e9 * seconds) : PACE_NO_INT; }

static const char *note_of(const pace_live_step *s) {
    return s->status ? s->status : s->oversubscribed ? "oversubscribed" : NULL;
}

static unsigned flags_of(const pace_live_done *done) {
    unsigned flags = 0;
    for (size_t i = 0; i < done->step_count; i++)
        flags |= (done->steps[i].ranks > 1 ? SEVERAL : 0U) | (note_of(&done->steps[i]) ? NOTED : 0U);
    return flags & SEVERAL ? flags : flags | ALONE;
}

static void put_steps(pace_node *root, const pace_table *declared, const pace_live_done *done) {
    pace_node *table = pace_open_table(root, declared, flags_of(done));
    for (size_t i = 0; i < done->step_count; i++) {
        const pace_live_step *s = &done->steps[i];
        pace_table_put(table, &(live_row){*s, ns(s->predicted_s), ns(s->low_s), ns(s->high_s), ns(s->measured_s),
                                          ns(s->least_s), ns(s->most_s), note_of(s)});
    }
}

/* "lenet-8", "lenet-8-2-grpc-1Gb/s": where history finds a step. */
static void name_step(char *out, size_t size, const pace_live_step *s) {
    const char *name = strrchr(s->model, '/') ? strrchr(s->model, '/') + 1 : s->model;
    pace_snprintf(out, size, "live.%.60s-%zu", name, s->batch);
    size_t used = strlen(out);
    if (s->ranks > 1)
        pace_snprintf(out + used, size - used, "-%d-%s%s%s", s->ranks, s->approach, s->link ? "-" : "",
                      s->link ? s->link : "");
}

/* Under names of their own, so that history follows each step. */
static void put_values(pace_report *report, const pace_live_done *done) {
    char name[120], path[160];
    for (size_t i = 0; i < done->step_count; i++) {
        const pace_live_step *s = &done->steps[i];
        if (s->runs == 0) continue;
        name_step(name, sizeof name, s);
        pace_snprintf(path, sizeof path, "%s.measured_s", name);
        pace_report_value(report, path, s->measured_s);
        pace_snprintf(path, sizeof path, "%s.error_share", name);
        if (isfinite(s->error)) pace_report_value(report, path, s->error);
    }
}

static size_t count_predicted(const pace_live_done *done) {
    size_t counted = 0;
    for (size_t i = 0; i < done->step_count; i++) {
        const pace_live_step *s = &done->steps[i];
        counted += s->runs > 0 && isfinite(s->predicted_s) && !s->oversubscribed;
    }
    return counted;
}

static void warn(pace_report *report, const pace_live_done *done) {
    size_t crowded = 0, failed = 0;
    for (size_t i = 0; i < done->step_count; i++)
        crowded += done->steps[i].oversubscribed, failed += done->steps[i].status != NULL;
    if (done->stopped)
        pace_report_lead(report, PACE_WARN_STOPPED_EARLY,
                         "Stopped before all runs were made: what follows is of these.");
    pace_lead_runs(report, &(pace_runs_led){"steps", done->step_count, crowded, "no figure counts them", failed,
                                            "trained", "note"});
}

/* What is judged, and what is reported of it. */
typedef struct {
    const pace_live_done *done;
    const pace_live_verdict *verdict;
    const char *unjudged; /* why there is no verdict; "" = there is one */
} live_report;

static pace_status build(pace_report *report, void *context) {
    const live_report *live = context;
    const pace_live_done *done = live->done;
    pace_node *root = pace_report_root(report);
    warn(report, done);
    if (*live->unjudged)
        pace_report_lead(report, PACE_WARN_BARS_UNREAD, "No figure is held to its bar, and no ledger is written: %s.",
                         live->unjudged);
    pace_node_sentence(
        root, true,
        "Predicted steps are %.1f %% off what was trained here (mean of %zu); %.0f %% of the 90 %% intervals hold it.",
        100 * done->mape, count_predicted(done), 100 * done->coverage);
    pace_node_sentence(root, false, "The largest error of a share of FP | BP | WU is %.1f points.",
                       100 * done->most_share_off);
    if (!done->learned)
        pace_node_sentence(root, false,
                           "Nothing was learned from measured kernels (--fit, or a calibration without --quick): their "
                           "times are formulas of the device's rates.");
    pace_node_text(root, "device", done->device);
    pace_node_text(root, "software", done->software);
    pace_node_int(root, "threads", done->threads);
    pace_node_text(root, "runner", done->runner);
    pace_node_int(root, "processors", done->cores);
    pace_node_bool(root, "calibrated_now", done->calibrated);
    pace_node_bool(root, "learned", done->learned);
    pace_node_bool(root, "stopped", done->stopped);
    pace_node_real(root, "mape", done->mape);
    pace_node_real(root, "coverage", done->coverage);
    pace_node_real(root, "most_off_share", done->most_share_off);
    put_values(report, done);
    put_steps(root, &steps, done);
    put_steps(root, &shares, done);
    pace_put_table(root, &figures, live->verdict->all.items, live->verdict->all.count,
                   sizeof *live->verdict->all.items);
    pace_node_note(
        root,
        "Measured: the median of the runs' median steps; least and most: of the runs. Error: predicted over measured, less 1.");
    return PACE_OK;
}

static pace_status answer(pace_answer **out, const pace_question *question, live_report *live) {
    pace_report *report;
    pace_answer *answer;
    size_t count;
    PACE_TRY(pace_report_build(&report, "live", "Predictions against this machine", build, live));
    const char *const *command = pace_question_command(question, &count);
    pace_report_set_command(report, command, count);
    PACE_TRY(pace_answer_of_report(&answer, report, true));
    pace_status status = pace_store_answer(question, answer);
    const char *ledger = pace_question_text(question, "ledger");
    if (status == PACE_OK && ledger && !*live->unjudged) status = pace_live_keep(live->verdict, live->done, ledger);
    return PACE_GIVE(out, answer, status, pace_answer_free(answer));
}

pace_status pace_live_check(const pace_question *question) {
    PACE_GIVEN(question);
    pace_cases cases;
    PACE_TRY(pace_store_check(question));
    PACE_TRY(pace_cases_load(&cases, pace_question_text(question, "cases")));
    pace_cases_free(&cases);
    return PACE_OK;
}

pace_status pace_live_answer(pace_answer **out, const pace_question *question, const pace_live_done *live) {
    pace_live_done known = {0};
    pace_live_verdict verdict;
    char unjudged[256] = "";
    memcpy(&known, live, live->size < sizeof known ? live->size : sizeof known);
    PACE_TRY(pace_store_check(question));
    /* The file of bars may have changed since the training began, which shall not be lost. */
    pace_status status = pace_live_judge(&verdict, &known, pace_question_text(question, "cases"));
    if (status == PACE_E_MEMORY) return status;
    if (status != PACE_OK) {
        verdict = (pace_live_verdict){0};
        pace_snprintf(unjudged, sizeof unjudged, "%s", pace_message());
    }
    status = answer(out, question, &(live_report){&known, &verdict, unjudged});
    pace_live_verdict_free(&verdict);
    return status;
}
