/* `paceline predict --job`: a step of one job, its parts, and what it would be elsewhere. */
#include "ask/fleet/job_asked.h"
#include "report/engines.h"
#include "report/fleet/job_parts.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>

PACE_TABLE(parts, "parts", "Parts of a step", PACE_FOR_ALL, 0,
           {"part", "Part", PACE_SHOW_WORD, PACE_OF(pace_job_part_time, part)},
           {"resource", "Limited by", PACE_SHOW_TEXT, PACE_OF(pace_job_part_time, resource)},
           {"time_s", "Time", PACE_SHOW_S, PACE_OF(pace_job_part_time, time_s)},
           {"share", "Share", PACE_SHOW_SHARE, PACE_OF(pace_job_part_time, share)},
           {"if_free_s", "Step without it", PACE_SHOW_S, PACE_OF(pace_job_part_time, if_free_s)});

PACE_TABLE(moves, "projections", "As another architecture", PACE_FOR_ALL, 0,
           {"architecture", "Architecture", PACE_SHOW_TEXT, PACE_OF(pace_job_move, architecture)},
           {"cnodes", "cNodes", PACE_SHOW_INT, PACE_OF(pace_job_move, cnodes)},
           {"step_s", "Step", PACE_SHOW_S, PACE_OF(pace_job_move, step_s)},
           {"low_s", "low", PACE_SHOW_S, PACE_OF(pace_job_move, low_s)},
           {"high_s", "high", PACE_SHOW_S, PACE_OF(pace_job_move, high_s)},
           {"single_speedup", "One cNode, times", PACE_SHOW_REAL, PACE_OF(pace_job_move, single_speedup)},
           {"throughput_speedup", "Throughput, times", PACE_SHOW_REAL, PACE_OF(pace_job_move, throughput_speedup)},
           {"verdict", "Verdict", PACE_SHOW_WORD, PACE_OF(pace_job_move, verdict)});

PACE_TABLE(gains, "changes", "What would help", PACE_FOR_ALL, 0,
           {"change", "Change", PACE_SHOW_TEXT, PACE_OF(pace_job_gain, change)},
           {"step_s", "Step", PACE_SHOW_S, PACE_OF(pace_job_gain, step_s)},
           {"low_s", "low", PACE_SHOW_S, PACE_OF(pace_job_gain, low_s)},
           {"high_s", "high", PACE_SHOW_S, PACE_OF(pace_job_gain, high_s)},
           {"speedup", "Throughput, times", PACE_SHOW_REAL, PACE_OF(pace_job_gain, speedup)},
           {"confidence", "Confidence", PACE_SHOW_TEXT, PACE_OF(pace_job_gain, confidence)});

typedef struct {
    const char *feature, *unit;
    double value;
} feature_row;

PACE_TABLE(features, "features", "What a step of one cNode does", PACE_FOR_ALL, 0,
           {"feature", "Feature", PACE_SHOW_WORD, PACE_OF(feature_row, feature)},
           {"amount", "Amount", PACE_SHOW_REAL, PACE_OF(feature_row, value)},
           {"unit", "Unit", PACE_SHOW_TEXT, PACE_OF(feature_row, unit)});

/* As a row of a table of jobs has them, so that the job can be put beside others. */
static void put_features(pace_node *root, const pace_job_asked *a) {
    const feature_row rows[] = {
        {"batch_size", "samples", a->values[PACE_JOB_BATCH_SIZE]},
        {"flop", "FLOP", a->values[PACE_JOB_FLOP]},
        {"memory_access_bytes", "bytes", a->values[PACE_JOB_MEMORY_ACCESS_BYTES]},
        {"input_bytes", "bytes", a->values[PACE_JOB_INPUT_BYTES]},
        {"weight_traffic_bytes", "bytes", a->values[PACE_JOB_WEIGHT_TRAFFIC_BYTES]},
        {"dense_weight_bytes", "bytes", a->values[PACE_JOB_DENSE_WEIGHT_BYTES]},
        {"embedding_weight_bytes", "bytes", a->values[PACE_JOB_EMBEDDING_WEIGHT_BYTES]},
    };
    pace_put_table(root, &features, rows, PACE_COUNT(rows), sizeof *rows);
    if (*a->model)
        pace_node_note(
            root,
            "Features of %s, counted on its lowered step: FLOP of products, convolutions and attention, bytes of all "
            "other kernels; weights with the optimizer's slots; traffic of gradients, of embeddings the rows looked up.",
            a->model);
}

typedef struct {
    const char *part;
    double estimated_s, measured_s, estimated_share, measured_share;
} measured_row;

PACE_TABLE(measured, "measured", "Estimated and measured", PACE_FOR_ALL, 0,
           {"part", "Part", PACE_SHOW_WORD, PACE_OF(measured_row, part)},
           {"estimated_s", "Estimated", PACE_SHOW_S, PACE_OF(measured_row, estimated_s)},
           {"measured_s", "Measured", PACE_SHOW_S, PACE_OF(measured_row, measured_s)},
           {"estimated_share", "Estimated share", PACE_SHOW_SHARE, PACE_OF(measured_row, estimated_share)},
           {"measured_share", "Measured share", PACE_SHOW_SHARE, PACE_OF(measured_row, measured_share)});

/* The paper's comparison, of a step that was recorded. */
static void put_recorded(pace_node *root, const pace_job_asked *a) {
    measured_row rows[PACE_JOB_COMPONENTS + 1];
    const pace_job_recorded *r = &a->recorded;
    double estimated_s = 0;
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++) estimated_s += a->components_s[c];
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++)
        rows[c] = (measured_row){pace_job_component_names[c], a->components_s[c], r->components_s[c],
                                 a->components_s[c] / estimated_s, r->components_s[c] / r->step_s};
    rows[PACE_JOB_COMPONENTS] = (measured_row){"idle", 0, r->idle_s, 0, r->idle_s / r->step_s};
    pace_put_table(root, &measured, rows, PACE_JOB_COMPONENTS + 1, sizeof *rows);
    pace_node_note(
        root,
        "Features of %s, means of its steps: %s of its kernels' time is of operators that say what they do. Measured "
        "parts are what nothing else hides; weights are exchanges and waiting for other ranks; idle is a device that "
        "waits, for which the model has no part. Weights of the features are the trainables, without the optimizer's "
        "slots.",
        a->trace, pace_show_share(r->known_share).text);
}

static pace_shown time_of(double s) { return pace_show_ns(pace_ns(s)); }

static void put_answer(pace_node *root, const pace_job_asked *a) {
    static const char *const words[PACE_JOB_COMPONENTS] = {"input", "compute-bound work", "memory-bound work",
                                                           "weight traffic"};
    double sum = 0, low_s = pace_estimate_low(a->step_s), high_s = pace_estimate_high(a->step_s);
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++) sum += a->components_s[c];
    pace_node_text(root, "job", pace_jobs_id(&a->jobs, 0));
    pace_node_text(root, "architecture", pace_job_architecture_names[a->jobs.architectures[0]]);
    pace_node_real(root, "step_s", a->step_s.median);
    pace_node_real(root, "low_s", low_s);
    pace_node_real(root, "high_s", high_s);
    pace_node_text(root, "rung", pace_rung_names[a->step_s.rung]);
    pace_node_real(root, "samples_per_s", a->samples_per_s);
    pace_node_text(root, "bottleneck", pace_job_component_names[a->bottleneck]);
    pace_node_sentence(root, true, "A step takes %s (90 %% interval %s to %s); %s of it is %s.",
                       time_of(a->step_s.median).text, time_of(low_s).text, time_of(high_s).text,
                       pace_show_share(a->components_s[a->bottleneck] / sum).text, words[a->bottleneck]);
}

static void put_measured(pace_node *root, const pace_job_asked *a) {
    double ratio = a->step_s.median / a->measured_s;
    bool inside = a->measured_s >= pace_estimate_low(a->step_s) && a->measured_s <= pace_estimate_high(a->step_s);
    pace_node_real(root, "measured_step_s", a->measured_s);
    pace_node_sentence(root, true, "%s took %s%s%s: the estimate is %s %s and %s the interval.",
                       *a->trace ? "The recorded steps" : "The job's steps", time_of(a->measured_s).text,
                       *a->recorded.device ? " on " : "", a->recorded.device, pace_show_share(fabs(ratio - 1)).text,
                       ratio >= 1 ? "longer," : "shorter,",
                       inside ? "the measurement lies inside" : "the measurement lies outside");
}

static pace_status build(pace_report *report, void *context) {
    const pace_job_asked *a = context;
    pace_node *root = pace_report_root(report);
    char remark[200];
    pace_report_warn_all(report, &a->recorded.warnings);
    put_answer(root, a);
    pace_job_remark(remark, sizeof remark, &a->jobs, 0, &a->setting);
    if (*remark) pace_node_sentence(root, true, "Mind: %s.", remark);
    if (a->measured_s > 0) put_measured(root, a);
    if (a->recorded.step_s > 0) put_recorded(root, a);
    PACE_PUT_ROWS(root, &parts, &a->times);
    put_features(root, a);
    PACE_PUT_ROWS(root, &moves, &a->moves);
    if (a->moved_from_s != a->step_s.median)
        pace_node_note(root,
                       "Other architectures are compared with a step of %s: replicas of a server share its host link "
                       "before the move as after it (--contention projected).",
                       time_of(a->moved_from_s).text);
    PACE_PUT_ROWS(root, &gains, &a->gains);
    if (a->best != SIZE_MAX)
        pace_node_sentence(root, true, "Doubling one resource helps most with %s: %s times as fast.",
                           a->gains.items[a->best].change, pace_show_fixed(a->gains.items[a->best].speedup, 2).text);
    pace_put_job_setting(root, &a->setting);
    pace_node_note(root, "Confidence recalled-...: quoted from memory of the paper, not checked against its text.");
    return PACE_OK;
}

pace_status pace_predict_job(pace_report **out, const pace_job_options *options) {
    pace_job_asked *a = pace_alloc(1, sizeof *a);
    if (!a) return PACE_E_MEMORY;
    pace_status status = pace_job_ask(a, options);
    if (status == PACE_OK) status = pace_report_build(out, "job", "A job's step", build, a);
    pace_job_asked_free(a);
    pace_free(a);
    return status;
}
