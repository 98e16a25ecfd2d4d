/* The report of `paceline train`: samples a second, where a step's time goes, and what each layer takes. */
#include "report/answer.h"
#include "report/show.h"
#include "report/table.h"
#include "paceline/train.h"

#include <math.h>
#include <string.h>

typedef struct {
    pace_trained_part of;
    int64_t median_ns, low_ns, high_ns, forward_ns, backward_data_ns, backward_weights_ns;
} part_row;

PACE_TABLE(stages, "stages", "Where a step's time goes", PACE_FOR_ALL, 0,
           {"stage", "Stage", PACE_SHOW_WORD, PACE_OF(part_row, of.name)},
           {"median_ns", "Median", PACE_SHOW_NS, PACE_OF(part_row, median_ns)},
           {"low_ns", "Low", PACE_SHOW_NS, PACE_OF(part_row, low_ns)},
           {"high_ns", "High", PACE_SHOW_NS, PACE_OF(part_row, high_ns)},
           {"share", "Share", PACE_SHOW_SHARE, PACE_OF(part_row, of.share)});

PACE_TABLE(layers, "layers", "What each layer takes", PACE_FOR_ALL, 20,
           {"layer", "Layer", PACE_SHOW_TEXT, PACE_OF(part_row, of.name)},
           {"kind", "Kind", PACE_SHOW_TEXT, PACE_OF(part_row, of.kind)},
           {"forward_ns", "Forward", PACE_SHOW_NS, PACE_OF(part_row, forward_ns)},
           {"backward_data_ns", "Backward, data", PACE_SHOW_NS, PACE_OF(part_row, backward_data_ns)},
           {"backward_weights_ns", "Backward, weights", PACE_SHOW_NS, PACE_OF(part_row, backward_weights_ns)},
           {"time_ns", "Together", PACE_SHOW_NS, PACE_OF(part_row, median_ns)},
           {"share", "Share", PACE_SHOW_SHARE, PACE_OF(part_row, of.share)});

static void put_parts(pace_node *root, const pace_table *declared, const pace_trained_part *parts, size_t count) {
    pace_table shown = *declared;
    if (!count) shown.audience = PACE_FOR_JSON;
    pace_node *table = pace_open_table(root, &shown, 0);
    for (size_t i = 0; i < count; i++) {
        const pace_trained_part *p = &parts[i];
        pace_table_put(table,
                       &(part_row){*p, pace_ns(p->median_s), pace_ns(p->low_s), pace_ns(p->high_s),
                                   pace_ns(p->forward_s), pace_ns(p->backward_data_s), pace_ns(p->backward_weights_s)});
    }
}

static double share_of(const pace_training_done *t, const char *name) {
    const pace_trained_part *part = PACE_FIND(t->parts, t->part_count, name, name);
    return part ? part->share : 0;
}

/* Medians of parts add up to that of steps where all steps are alike. */
static void put_rest(pace_node *root, const pace_training_done *t) {
    enum { WHOLE = 100, NEAR = 3 };
    double all = 0;
    for (size_t i = 0; i < t->part_count; i++) all += t->parts[i].share;
    if (labs(lround(WHOLE * all) - WHOLE) < NEAR) return;
    pace_node_sentence(
        root, false,
        "These are %.0f %% of a step: medians of parts do not add up to the median of steps that differ%s.", 100 * all,
        t->ranks > 1 ? ", and a step is the slowest rank's, its parts rank 0's" : "");
}

static void put_sentences(pace_node *root, const pace_training_done *t) {
    pace_node_sentence(root, true, "%s: %.1f samples/s (%.1f to %.1f), a step of %.3f ms on %d rank%s of %d thread%s",
                       t->model, t->samples_per_s, t->samples_per_s_low, t->samples_per_s_high, 1e3 * t->step_s,
                       t->ranks, t->ranks == 1 ? "" : "s", t->threads, t->threads == 1 ? "" : "s");
    if (!t->part_count) {
        pace_node_sentence(
            root, false,
            "%s runs a step as one graph, whose stages are not told apart; the loss went from %.4f to %.4f.",
            t->software, t->first_loss, t->last_loss);
        return;
    }
    char exposed[64] = "";
    if (t->transport)
        pace_snprintf(exposed, sizeof exposed, "exchange that is waited for %.1f %% | ",
                      100 * share_of(t, "exposed_exchange"));
    pace_node_sentence(root, false,
                       "FP %.1f %% | BP %.1f %% | %sWU %.1f %% of a step; the loss went from %.4f to %.4f.",
                       100 * share_of(t, "forward"), 100 * share_of(t, "backward"), exposed,
                       100 * share_of(t, "update"), t->first_loss, t->last_loss);
    if (t->transport && *t->transport)
        pace_node_sentence(root, false, "A rank sent %s in a step, by %s.",
                           pace_show_bytes((double)t->exchanged_bytes / (double)t->steps).text, t->transport);
    put_rest(root, t);
}

static void put_settings(pace_node *root, const pace_training_done *t) {
    pace_node_text(root, "model", t->model);
    pace_node_text(root, "optimizer", t->optimizer);
    pace_node_text(root, "data", t->data);
    pace_node_text(root, "runner", t->runner ? t->runner : "paceline");
    pace_node_text(root, "software", t->software);
    pace_node_int(root, "ranks", t->ranks);
    pace_node_int(root, "threads", t->threads);
    pace_node_text(root, "approach", t->approach);
    if (t->replicas) {
        pace_node_int(root, "replicas", t->replicas);
        pace_node_int(root, "workers", t->workers);
        pace_node_int(root, "servers", t->servers);
        pace_node_real(root, "worker_weight_bytes", t->worker_weight_bytes);
    }
    pace_node_int(root, "batch", (int64_t)t->batch);
    pace_node_int(root, "steps", (int64_t)t->steps);
    pace_node_int(root, "warm_up", (int64_t)t->warm_up);
    pace_node_bool(root, "stopped", t->stopped);
    pace_node_bool(root, "oversubscribed", t->oversubscribed);
    pace_node_real(root, "parameters", t->parameters);
    pace_node_real(root, "memory_bytes", t->memory_bytes);
    pace_node_text(root, "trace_path", t->trace_path);
}

static void put_figures(pace_node *root, const pace_training_done *t) {
    pace_node_int(root, "step_ns", pace_ns(t->step_s));
    pace_node_int(root, "step_low_ns", pace_ns(t->step_low_s));
    pace_node_int(root, "step_high_ns", pace_ns(t->step_high_s));
    pace_node_real(root, "samples_per_s", t->samples_per_s);
    pace_node_real(root, "samples_low_per_s", t->samples_per_s_low);
    pace_node_real(root, "samples_high_per_s", t->samples_per_s_high);
    pace_node_real(root, "first_loss", t->first_loss);
    pace_node_real(root, "last_loss", t->last_loss);
    pace_node_real(root, "accuracy", t->accuracy);
    pace_node_int(root, "exchanged_bytes", (int64_t)t->exchanged_bytes);
    pace_node_text(root, "transport", t->transport);
}

static void warn(pace_report *report, const pace_training_done *t) {
    if (t->stopped)
        pace_report_lead(report, PACE_WARN_STOPPED_EARLY, "Stopped after %zu steps: what follows is of these alone.",
                         t->steps);
    if (t->oversubscribed)
        pace_report_lead(
            report, PACE_WARN_OVERSUBSCRIBED,
            "%d ranks of %d threads are more than the processors here: no figure is of a machine that has them.",
            t->ranks, t->threads);
}

/* Fewer than five values cannot bound a median with 90 %: 1 - 2 / 2^n of all cases lie between the least and the
 * most. Fewer than 20 do not tell whether they resemble each other. */
static void put_note(pace_node *root, size_t steps) {
    bool few = steps < 5;
    pace_node_note(root,
                   "Times are medians over %zu step%s; low and high %s the true median in %.3g %% of all cases%s, by "
                   "order statistics.%s",
                   steps, steps == 1 ? "" : "s", few ? "are the fastest and the slowest, which hold" : "hold",
                   few ? 100 * (1 - ldexp(2, -(int)steps)) : 90.0,
                   steps < 20 ? ", if steps do not resemble those before them, which 20 tell"
                              : "; steps that resemble those before them count as fewer",
                   few ? " Five steps (--steps) hold it in 90 %." : "");
}

static pace_status build(pace_report *report, void *context) {
    const pace_training_done *t = context;
    pace_report_set_command(report, t->command, t->command_count);
    pace_node *root = pace_report_root(report);
    warn(report, t);
    put_sentences(root, t);
    put_settings(root, t);
    put_figures(root, t);
    put_parts(root, &stages, t->parts, t->part_count);
    put_parts(root, &layers, t->layers, t->layer_count);
    put_note(root, t->steps);
    return PACE_OK;
}

pace_status pace_training_answer(pace_answer **out, const pace_training_done *training) {
    pace_report *report;
    pace_training_done known = {0};
    memcpy(&known, training, training->size < sizeof known ? training->size : sizeof known);
    PACE_TRY(pace_report_build(&report, "train", "Training", build, &known));
    return pace_answer_of_report(out, report, true);
}
