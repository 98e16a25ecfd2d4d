/* The report of a study of `paceline train`: a row a training. */
#include "report/answer.h"
#include "report/measure/lead_runs.h"
#include "report/table.h"
#include "paceline/train.h"

#include <string.h>

/* Some runs are other frameworks', are of layers over workers (else WHOLE), are predicted, are of weak or strong
 * scaling. A speedup is one against a single worker: of runs on several, whole or in parts. */
enum { REFEREES = 1, PARTITIONED = 2, PREDICTED = 4, WHOLE = 8, SCALED = 16, SPEEDUPS = 32, JOINED = 64 };

PACE_TABLE(runs, "runs", "Trainings side by side", PACE_FOR_ALL, 0,
           {"model", "Model", PACE_SHOW_TEXT, PACE_OF(pace_study_row, model)},
           {"runner", "Runner", PACE_SHOW_TEXT, PACE_OF(pace_study_row, runner), .shown_if = REFEREES},
           {"approach", "Approach", PACE_SHOW_TEXT, PACE_OF(pace_study_row, approach), .shown_if = WHOLE},
           {"scaling", "Scaling", PACE_SHOW_TEXT, PACE_OF(pace_study_row, scaling), .shown_if = SCALED},
           {"ranks", "Ranks", PACE_SHOW_INT, PACE_OF(pace_study_row, ranks), .shown_if = WHOLE},
           {"threads", "Threads", PACE_SHOW_INT, PACE_OF(pace_study_row, threads), .shown_if = PARTITIONED},
           {"replicas", "Replicas", PACE_SHOW_INT, PACE_OF(pace_study_row, replicas), .shown_if = PARTITIONED},
           {"workers", "Workers", PACE_SHOW_INT, PACE_OF(pace_study_row, workers), .shown_if = PARTITIONED},
           {"servers", "Servers", PACE_SHOW_INT, PACE_OF(pace_study_row, servers), .shown_if = PARTITIONED},
           {"worker_weight_bytes", "Weights", PACE_SHOW_BYTES, PACE_OF(pace_study_row, worker_weight_bytes),
            .shown_if = PARTITIONED},
           {"batch", "Batch", PACE_SHOW_INT, PACE_OF(pace_study_row, batch), .shown_if = WHOLE},
           {"samples_per_s", "Samples/s", PACE_SHOW_REAL, PACE_OF(pace_study_row, samples_per_s)},
           {"samples_low_per_s", NULL, PACE_SHOW_REAL, PACE_OF(pace_study_row, samples_low_per_s)},
           {"samples_high_per_s", NULL, PACE_SHOW_REAL, PACE_OF(pace_study_row, samples_high_per_s)},
           {"predicted_samples_per_s", "Predicted", PACE_SHOW_REAL, PACE_OF(pace_study_row, predicted_samples_per_s),
            .shown_if = PREDICTED},
           {"error_share", "Error", PACE_SHOW_SHARE, PACE_OF(pace_study_row, error), .shown_if = PREDICTED},
           {"step_ns", "Step", PACE_SHOW_NS, PACE_OF(pace_study_row, step_ns), .shown_if = WHOLE},
           {"compute_share", "FP+BP", PACE_SHOW_SHARE, PACE_OF(pace_study_row, compute_share)},
           {"exchange_share", "Exposed", PACE_SHOW_SHARE, PACE_OF(pace_study_row, exchange_share)},
           {"update_share", "WU", PACE_SHOW_SHARE, PACE_OF(pace_study_row, update_share)},
           {"speedup", "Speedup", PACE_SHOW_REAL, PACE_OF(pace_study_row, speedup), .shown_if = SPEEDUPS},
           {"efficiency", "Efficiency", PACE_SHOW_SHARE, PACE_OF(pace_study_row, efficiency), .shown_if = JOINED},
           {"against_referee", "Of the referee", PACE_SHOW_SHARE, PACE_OF(pace_study_row, against_referee),
            .shown_if = REFEREES},
           {"last_loss", NULL, PACE_SHOW_REAL, PACE_OF(pace_study_row, last_loss)},
           {"transport", NULL, PACE_SHOW_TEXT, PACE_OF(pace_study_row, transport)},
           {"status", "Status", PACE_SHOW_TEXT, PACE_OF(pace_study_row, status)});

static const pace_study_row *fastest(const pace_study_done *s) {
    const pace_study_row *best = NULL;
    for (size_t i = 0; i < s->row_count; i++)
        if (s->rows[i].done && (!best || s->rows[i].samples_per_s > best->samples_per_s)) best = &s->rows[i];
    return best;
}

/* The interval of the best, and how many others may be as fast. */
static void say_alike(char out[160], const pace_study_done *s, const pace_study_row *best) {
    size_t alike = 0, used;
    *out = '\0';
    if (!(best->samples_low_per_s > 0)) return;
    for (size_t i = 0; i < s->row_count; i++)
        alike += s->rows[i].done && &s->rows[i] != best && s->rows[i].samples_high_per_s >= best->samples_low_per_s;
    used = (size_t)pace_snprintf(out, 160, " (%.1f to %.1f)", best->samples_low_per_s, best->samples_high_per_s);
    if (alike)
        pace_snprintf(out + used, 160 - used, "; %zu other%s may be as fast, for %s reach%s this one", alike,
                      alike == 1 ? "" : "s", alike == 1 ? "its interval" : "their intervals", alike == 1 ? "es" : "");
}

static void warn(pace_report *report, const pace_study_done *s) {
    size_t crowded = 0, failed = 0;
    for (size_t i = 0; i < s->row_count; i++) crowded += s->rows[i].oversubscribed, failed += !s->rows[i].done;
    if (s->stopped)
        pace_report_lead(report, PACE_WARN_STOPPED_EARLY, "Stopped after %zu runs: what follows is of these alone.",
                         s->row_count);
    pace_lead_runs(report,
                   &(pace_runs_led){"runs", s->row_count, crowded, "they get no efficiency", failed, "made", "status"});
}

static pace_status build(pace_report *report, void *context) {
    const pace_study_done *s = context;
    pace_report_set_command(report, s->command, s->command_count);
    pace_node *root = pace_report_root(report);
    const pace_study_row *best = fastest(s);
    char alike[160] = "";
    warn(report, s);
    if (best) say_alike(alike, s, best);
    if (best && best->replicas)
        pace_node_sentence(
            root, true,
            "Most samples a second: %.1f, %s by %d replica%s of %d worker%s of %d thread%s and %d server%s%s.",
            best->samples_per_s, best->model, best->replicas, best->replicas == 1 ? "" : "s", best->workers,
            best->workers == 1 ? "" : "s", best->threads, best->threads == 1 ? "" : "s", best->servers,
            best->servers == 1 ? "" : "s", alike);
    else if (best)
        pace_node_sentence(root, true, "Most samples a second: %.1f, %s on %d rank%s of batch %zu%s%s%s.",
                           best->samples_per_s, best->model, best->ranks, best->ranks == 1 ? "" : "s", best->batch,
                           best->approach ? " by " : "", best->approach ? best->approach : "", alike);
    pace_node_text(root, "study", s->study);
    pace_node_bool(root, "stopped", s->stopped);
    unsigned flags = 0;
    for (size_t i = 0; i < s->row_count; i++)
        flags |= (s->rows[i].runner ? REFEREES : 0U) | (s->rows[i].replicas ? PARTITIONED : WHOLE) |
                 (s->rows[i].predicted_samples_per_s > 0 ? PREDICTED : 0U) | (s->rows[i].scaling ? SCALED : 0U) |
                 (s->rows[i].replicas ? SPEEDUPS : 0U) |
                 (s->rows[i].ranks > 1 && !s->rows[i].replicas ? SPEEDUPS | JOINED : 0U);
    pace_node *table = pace_open_table(root, &runs, flags);
    for (size_t i = 0; i < s->row_count; i++) pace_table_put(table, &s->rows[i]);
    if (!(flags & WHOLE))
        pace_node_note(
            root,
            "Workers: of a replica, each with a segment of every layer; weights: those of a worker. Speedup is against one "
            "thread of one worker: beyond the number of workers and threads a smaller part fits a cache.");
    pace_node_note(
        root,
        "FP+BP: forward and backward; exposed: exchange that backward does not hide; WU: the update of weights on the "
        "worker.%s",
        flags & JOINED ? " Efficiency is of the samples a second of one rank, times the ranks." : "");
    pace_node_note(root,
                   "Each is one run: its interval is of its own steps, not of what else the machine does from run to "
                   "run. What differs by little is to be run again (validate --live runs all in rounds).");
    return PACE_OK;
}

pace_status pace_study_answer(pace_answer **out, const pace_study_done *study) {
    pace_report *report;
    pace_study_done known = {0};
    memcpy(&known, study, study->size < sizeof known ? study->size : sizeof known);
    PACE_TRY(pace_report_build(&report, "study", "Trainings side by side", build, &known));
    return pace_answer_of_report(out, report, true);
}
