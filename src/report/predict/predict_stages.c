#include "report/predict/predict_parts.h"
#include "ask/predict/stage_rows.h"
#include "report/show.h"
#include "report/table.h"

PACE_TABLE(stages, "stages", "The stages of the pipeline", PACE_FOR_ALL, 0,
           {"stage", "stage", PACE_SHOW_INT, PACE_OF(pace_stage_row, stage)},
           {"rank", "rank", PACE_SHOW_INT, PACE_OF(pace_stage_row, rank)},
           {"stands_for", "ranks alike", PACE_SHOW_INT, PACE_OF(pace_stage_row, stands_for)},
           {"layers", "layers", PACE_SHOW_INT, PACE_OF(pace_stage_row, layers)},
           {"compute_ns", "compute", PACE_SHOW_NS, PACE_OF(pace_stage_row, compute_ns)},
           {"memory_ns", "memory", PACE_SHOW_NS, PACE_OF(pace_stage_row, memory_ns)},
           {"exposed_ns", "exposed", PACE_SHOW_NS, PACE_OF(pace_stage_row, exposed_ns)},
           {"waits_ns", "waits", PACE_SHOW_NS, PACE_OF(pace_stage_row, waits_ns)},
           {"idle_ns", "else idle", PACE_SHOW_NS, PACE_OF(pace_stage_row, idle_ns)},
           {"held_bytes", "holds", PACE_SHOW_BYTES, PACE_OF(pace_stage_row, held_bytes)});

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
    bool interleaved = config->vpp > 1 && !pace_schedule_is_v(config->schedule);
    pace_node_sentence(
        root, true,
        "Its %zu pipeline stages (%s%s) wait for each other %.1f %% (stage %lld) to %.1f %% (stage %lld) of the "
        "step; alike stages would wait %.1f %%, while the pipeline fills and drains.",
        rows->count, interleaved ? "interleaved " : "", pace_config_word(config, "schedule"), share(least),
        (long long)least->stage, share(most), (long long)most->stage, 100 * pace_pipeline_bubble_share(config));
}

pace_status pace_put_stages(pace_report *report, const pace_analysis *walked, const pace_step_asked *step) {
    pace_node *root = pace_report_root(report);
    pace_stage_rows rows;
    PACE_TRY(pace_stage_rows_of(&rows, walked, &step->asked, &step->settled.plan));
    if (rows.count == 0) return PACE_OK;
    put_sentence(root, &rows, &step->asked.config);
    PACE_PUT_ROWS(root, &stages, &rows);
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}

typedef struct {
    int64_t stage, at_ns;
    double held_bytes;
} memory_row;

PACE_TABLE(memory_rows, "stage_memory", "What each stage holds", PACE_FOR_JSON, 0,
           {"stage", NULL, PACE_SHOW_INT, PACE_OF(memory_row, stage)},
           {"at_ns", NULL, PACE_SHOW_NS, PACE_OF(memory_row, at_ns)},
           {"held_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(memory_row, held_bytes)});

enum { CURVES_MOST = 8 };

static void draw_points(pace_node *chart, const pace_memory_points *points) {
    double before = 0;
    for (size_t i = 0; i < points->count; i++) {
        double at_s = (double)points->items[i].at_ns / 1e9, gb = points->items[i].held_bytes / 1e9;
        if (i > 0) pace_chart_point(chart, at_s, before);
        pace_chart_point(chart, at_s, gb);
        before = gb;
    }
}

static int64_t last_ns(const pace_memory_series *memory) {
    int64_t last = 0;
    for (size_t i = 0; i < memory->count; i++) {
        const pace_memory_points *points = &memory->stages[i];
        if (points->count && points->items[points->count - 1].at_ns > last)
            last = points->items[points->count - 1].at_ns;
    }
    return last;
}

/* Of many stages some, the first and the last among them. */
static void draw_memory(pace_node *root, const pace_memory_series *memory, double device_bytes) {
    pace_node *chart = pace_node_chart(root, "Memory of each stage over the step", "seconds; GB", 0);
    size_t last = memory->count - 1, curves = memory->count < CURVES_MOST ? memory->count : CURVES_MOST;
    for (size_t i = 0; i < curves; i++) {
        size_t stage = last * i / (curves - 1);
        pace_chart_curve(chart, PACE_CURVE_LINE, "stage %zu", stage);
        draw_points(chart, &memory->stages[stage]);
    }
    if (!(device_bytes > 0)) return;
    pace_chart_curve(chart, PACE_CURVE_PALE, "the device has");
    pace_chart_point(chart, 0, device_bytes / 1e9);
    pace_chart_point(chart, (double)last_ns(memory) / 1e9, device_bytes / 1e9);
}

static void put_fullest(pace_node *root, const pace_memory_series *memory) {
    const pace_memory_point *most = NULL;
    size_t fullest = 0;
    for (size_t i = 0; i < memory->count; i++) {
        const pace_memory_point *one = pace_memory_fullest(&memory->stages[i]);
        if (!one || (most && one->held_bytes <= most->held_bytes)) continue;
        most = one;
        fullest = i;
    }
    if (most)
        pace_node_note(root, "Stage %zu holds most, %s, %s into its step.", fullest,
                       pace_show_bytes(most->held_bytes).text, pace_show_ns(most->at_ns).text);
}

void pace_put_stage_memory(pace_report *report, const pace_memory_series *memory, double device_bytes) {
    pace_node *root = pace_report_root(report);
    if (memory->count < 2) return;
    pace_node *table = pace_open_table(root, &memory_rows, 0);
    for (size_t stage = 0; stage < memory->count; stage++)
        PACE_ITEMS (const pace_memory_point, point, &memory->stages[stage])
            pace_table_put(table, &(memory_row){(int64_t)stage, point->at_ns, point->held_bytes});
    put_fullest(root, memory);
    draw_memory(root, memory, device_bytes);
}
