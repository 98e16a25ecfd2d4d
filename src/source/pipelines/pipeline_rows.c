#include "source/pipelines/pipeline_rows.h"
#include "base/order.h"
#include "base/text.h"

pace_status pace_pipeline_rows_init(pace_pipeline_rows *rows) {
    *rows = (pace_pipeline_rows){.stages = 1, .chunks = 1};
    return pace_names_init(&rows->names);
}

void pace_pipeline_rows_free(pace_pipeline_rows *rows) {
    pace_names_free(&rows->names);
    PACE_VEC_FREE(&rows->rows, &rows->steps, &rows->workers, &rows->kinds);
}

PACE_ORDER(by_place, pace_pipeline_row, PACE_UP(stage) PACE_UP(replica) PACE_UP(tensor))

void pace_pipeline_rows_number(pace_pipeline_rows *rows) {
    PACE_SORT(&rows->rows, by_place);
    int64_t rank = 0;
    for (size_t i = 0; i < rows->rows.count; i++) {
        pace_pipeline_row *row = &rows->rows.items[i];
        if (i && by_place(row, row - 1) != 0) rank++;
        row->rank = rank;
    }
}

void pace_step_list_free(pace_step_list *list) { PACE_VEC_FREE_EACH(list, pace_step_free); }

/* Names of Megatron's timers, and those that StragglerAnalysis adds to them: the first that a kind begins with. */
static const struct {
    const char *name;
    pace_pipeline_kind kind;
} kinds[] = {
    {"forward-compute", {PACE_PIPELINE_COMPUTE, PACE_STAGE_FORWARD, NULL, false, true}},
    {"forward-backward", {PACE_PIPELINE_COMPUTE, PACE_STAGE_NONE, NULL, false, true}},
    {"backward-compute", {PACE_PIPELINE_COMPUTE, PACE_STAGE_BACKWARD, NULL, false, true}},
    {"backward-wgrad-compute", {PACE_PIPELINE_COMPUTE, PACE_STAGE_BACKWARD, NULL, false, true}},
    {"forward-send", {PACE_PIPELINE_SEND, PACE_STAGE_FORWARD, "send", false, true}},
    {"forward-recv", {PACE_PIPELINE_RECEIVE, PACE_STAGE_FORWARD, "recv", false, true}},
    {"backward-send", {PACE_PIPELINE_SEND, PACE_STAGE_BACKWARD, "send", true, true}},
    {"backward-recv", {PACE_PIPELINE_RECEIVE, PACE_STAGE_BACKWARD, "recv", true, true}},
    {"params-all-gather", {PACE_PIPELINE_REPLICAS, PACE_STAGE_FORWARD, "allgather", false, true}},
    {"grads-reduce-scatter", {PACE_PIPELINE_REPLICAS, PACE_STAGE_BACKWARD, "reduce_scatter", false, true}},
    {"grads-all-reduce", {PACE_PIPELINE_REPLICAS, PACE_STAGE_BACKWARD, "allreduce", false, true}},
    {"separate-grads-all-reduce", {PACE_PIPELINE_REPLICAS, PACE_STAGE_BACKWARD, "allreduce", false, true}},
    {"all-grads-sync", {PACE_PIPELINE_REPLICAS, PACE_STAGE_BACKWARD, "allreduce", false, true}},
    {"embedding-grads-all-reduce", {PACE_PIPELINE_ENDS, PACE_STAGE_BACKWARD, "allreduce", false, true}},
    {"layernorm-grads-all-reduce", {PACE_PIPELINE_TENSOR, PACE_STAGE_BACKWARD, "allreduce", false, true}},
    {"tp-reducescatter", {PACE_PIPELINE_TENSOR, PACE_STAGE_NONE, "reduce_scatter", false, true}},
    {"tp-allgather", {PACE_PIPELINE_TENSOR, PACE_STAGE_NONE, "allgather", false, true}},
    {"tp-allreduce", {PACE_PIPELINE_TENSOR, PACE_STAGE_NONE, "allreduce", false, true}},
    {"optimizer-clip-main-grad", {PACE_PIPELINE_EVERYONE, PACE_STAGE_UPDATE, "allreduce", false, true}},
    {"optimizer", {PACE_PIPELINE_COMPUTE, PACE_STAGE_UPDATE, NULL, false, true}},
    {"gc", {PACE_PIPELINE_HOST, PACE_STAGE_NONE, NULL, false, true}},
    {"data-load", {PACE_PIPELINE_HOST, PACE_STAGE_INPUT, NULL, false, true}},
    {"data-sync", {PACE_PIPELINE_HOST, PACE_STAGE_INPUT, NULL, false, true}},
    {"batch-generator", {PACE_PIPELINE_HOST, PACE_STAGE_INPUT, NULL, false, true}},
};

/* "forward-send-backward-recv" is two messages at once, which no row tells apart. */
static bool is_joined(const char *name) { return pace_ends(name, "-recv") && strstr(name, "-send-"); }

pace_pipeline_kind pace_pipeline_kind_of(const char *name) {
    if (is_joined(name)) return (pace_pipeline_kind){PACE_PIPELINE_TENSOR, PACE_STAGE_NONE, "coalesced", false, true};
    for (size_t i = 0; i < PACE_COUNT(kinds); i++)
        if (pace_starts(name, kinds[i].name)) return kinds[i].kind;
    return (pace_pipeline_kind){PACE_PIPELINE_COMPUTE, PACE_STAGE_NONE, NULL, false, false};
}
