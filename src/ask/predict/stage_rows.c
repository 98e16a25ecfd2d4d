#include "ask/predict/stage_rows.h"
#include "model/pipeline_stages.h"

static pace_stage_row row_of(const pace_rank *rank, size_t stage, const pace_step_case *asked,
                             const pace_step_plan *plan) {
    const pace_config *config = &asked->config;
    const pace_pipeline pipeline = pace_config_pipeline(config);
    pace_stage_row row = {.stage = (int64_t)stage,
                          .rank = rank->step.rank,
                          .stands_for = (int64_t)(config->tp * config->cp * config->dp),
                          .layers = (int64_t)pace_held_layers(&pipeline, plan->slots->layers, (uint32_t)stage),
                          .held_bytes = pace_step_stage_memory(plan, (double)stage).all_bytes};
    if (rank->marks.items.count == 0) return row;
    const pace_mark *mark = &rank->marks.items.items[rank->marks.items.count - 1];
    pace_matrix m = pace_rank_matrix(rank, mark->from_ns, mark->to_ns);
    row.compute_ns = pace_matrix_columns(&m, PACE_COMPUTE_BOUND, PACE_COMPUTE_BOUND);
    row.memory_ns = pace_matrix_columns(&m, PACE_MEMORY_BOUND, PACE_COPY);
    row.exposed_ns = pace_matrix_columns(&m, PACE_EXPOSED_COMMUNICATION, PACE_EXPOSED_COMMUNICATION);
    row.waits_ns = pace_matrix_columns(&m, PACE_IDLE_RANK, PACE_IDLE_RANK);
    row.idle_ns = pace_matrix_columns(&m, PACE_IDLE_HOST, PACE_IDLE_OTHER) - row.waits_ns;
    return row;
}

pace_status pace_stage_rows_of(pace_stage_rows *out, const pace_analysis *walked, const pace_step_case *asked,
                               const pace_step_plan *plan) {
    pace_stage_rows rows = {0};
    pace_status status = PACE_OK;
    size_t stages = (size_t)asked->config.pp, ranks = walked->ranks.count;
    for (size_t i = 0; status == PACE_OK && stages > 1 && i < stages && i < ranks; i++)
        status = PACE_PUSH(&rows, row_of(walked->ranks.items[i], i, asked, plan));
    return PACE_GIVE(out, rows, status, PACE_VEC_FREE(&rows));
}

double pace_pipeline_bubble_share(const pace_config *config) {
    double waits = (config->pp - 1) / config->vpp, work = pace_config_micro_batches(config);
    if (config->schedule == PACE_SCHEDULE_ZERO_BUBBLE || config->schedule == PACE_SCHEDULE_DUALPIPE_V) waits /= 3;
    if (config->schedule == PACE_SCHEDULE_ZB_V) waits = 0;
    return waits / (work + waits);
}
