#include "report/predict_stages.h"

#include "ask/stage_rows.h"
#include "report/show.h"
#include "report/table.h"

static const pace_table stages = {
    "stages", "The stages of the pipeline", PACE_FOR_ALL, 0,
    PACE_CELLS({"stage", "stage", PACE_SHOW_INT, PACE_OF(pace_stage_row, stage)},
               {"rank", "rank", PACE_SHOW_INT, PACE_OF(pace_stage_row, rank)},
               {"stands_for", "ranks alike", PACE_SHOW_INT, PACE_OF(pace_stage_row, stands_for)},
               {"layers", "layers", PACE_SHOW_INT, PACE_OF(pace_stage_row, layers)},
               {"compute_ns", "compute", PACE_SHOW_NS, PACE_OF(pace_stage_row, compute_ns)},
               {"memory_ns", "memory", PACE_SHOW_NS, PACE_OF(pace_stage_row, memory_ns)},
               {"exposed_ns", "exposed", PACE_SHOW_NS, PACE_OF(pace_stage_row, exposed_ns)},
               {"waits_ns", "waits", PACE_SHOW_NS, PACE_OF(pace_stage_row, waits_ns)},
               {"idle_ns", "else idle", PACE_SHOW_NS, PACE_OF(pace_stage_row, idle_ns)},
               {"held_bytes", "holds", PACE_SHOW_BYTES, PACE_OF(pace_stage_row, held_bytes)})};

static double share(const pace_stage_row *row) {
    int64_t all = row->compute_ns + row->memory_ns + row->exposed_ns + row->waits_ns + row->idle_ns;
    return all > 0 ? 100 * (double)row->waits_ns / (double)all : 0;
}

/* Who waits least has most to do: the others wait for it. */
static void put_sentence(pace_node *root, const pace_stage_rows *rows, const pace_config *config) {
    const pace_stage_row *least = &rows->items[0], *most = least;
    for (size_t i = 1; i < rows->count; i++) {
        if (share(&rows->items[i]) < share(least)) least = &rows->items[i];
        if (share(&rows->items[i]) > share(most)) most = &rows->items[i];
    }
    pace_node_sentence(
        root, true,
        "Its %zu pipeline stages (%s) wait for each other %.1f %% (stage %lld) to %.1f %% (stage %lld) of the "
        "step; alike stages would wait %.1f %%, while the pipeline fills and drains.",
        rows->count, pace_config_word(config, "schedule"), share(least), (long long)least->stage, share(most),
        (long long)most->stage, 100 * pace_pipeline_bubble_share(config));
}

pace_status pace_put_stages(pace_report *report, const pace_analysis *walked, const pace_step_asked *step) {
    pace_node *root = pace_report_root(report);
    pace_stage_rows rows;
    PACE_TRY(pace_stage_rows_of(&rows, walked, &step->asked, &step->settled.plan));
    if (rows.count == 0) return PACE_OK;
    put_sentence(root, &rows, &step->asked.config);
    pace_node *table = pace_open_table(root, &stages, 0);
    for (size_t i = 0; i < rows.count; i++) pace_table_put(table, &rows.items[i]);
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}
