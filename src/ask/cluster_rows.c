#include "ask/cluster_rows.h"

#include "base/text.h"
#include "ask/csv.h"
#include "ask/time_column.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS = 8 };

/* Columns by name, and the row that is read. */
typedef struct {
    pace_csv csv;
    const char *const *names;
    int column[MOST_CELLS];
} table;

static pace_status find_columns(table *t, const char *const *names, size_t count) {
    t->names = names;
    for (size_t i = 0; i < count; i++) {
        t->column[i] = pace_csv_find(&t->csv, names[i]);
        if (t->column[i] < 0)
            return pace_fail(PACE_E_INPUT, "%s: expected a column \"%s\", found none; the closest name is \"%.60s\"",
                             t->csv.name, names[i], pace_csv_closest(&t->csv, names[i]));
    }
    return PACE_OK;
}

static pace_status whole(int64_t *out, const table *t, size_t row, int cell, double fallback, double most) {
    double value;
    PACE_TRY(pace_csv_figure(&value, &t->csv, row, t->column[cell], fallback));
    if (value > most || value != floor(value))
        return pace_fail(PACE_E_INPUT, "%s:%u: %s: expected a whole number up to %g, found %g", t->csv.name,
                         t->csv.lines.items[row], t->names[cell], most, value);
    *out = (int64_t)value;
    return PACE_OK;
}

static int model_named(const pace_cluster *cluster, const char *name, size_t length) {
    for (size_t i = 0; i < cluster->models.count; i++)
        if (pace_span_is(name, length, cluster->models.items[i])) return (int)i;
    return -1;
}

static pace_status add_model(int *out, pace_cluster *cluster, const char *name) {
    *out = model_named(cluster, name, strlen(name));
    if (*out >= 0) return PACE_OK;
    *out = (int)cluster->models.count;
    return pace_texts_add(&cluster->models, name);
}

static pace_status read_node(pace_cluster *cluster, const table *t, size_t row) {
    pace_node_capacity node = {0};
    int64_t gpus = 0;
    PACE_TRY(whole(&node.cpu_milli, t, row, 0, NAN, 1e9));
    PACE_TRY(whole(&node.memory_mib, t, row, 1, NAN, 1e9));
    PACE_TRY(whole(&gpus, t, row, 2, 0, PACE_NODE_MOST_GPUS));
    node.gpus = (int)gpus;
    const char *model = pace_csv_cell(&t->csv, row, (size_t)t->column[3]);
    PACE_TRY(add_model(&node.model, cluster, gpus ? model : "none"));
    return PACE_PUSH(&cluster->nodes, node);
}

static pace_status read_model(pace_pod *pod, const pace_cluster *cluster, const table *t, size_t row) {
    int column = pace_csv_find(&t->csv, "gpu_spec");
    const char *text = column >= 0 ? pace_csv_cell(&t->csv, row, (size_t)column) : "";
    size_t length = strcspn(text, "|");
    pod->model = length && pod->gpus ? model_named(cluster, text, length) : -1;
    if (length && pod->gpus && pod->model < 0)
        return pace_fail(PACE_E_INPUT, "%s:%u: gpu_spec: no node has a \"%.40s\"", t->csv.name, t->csv.lines.items[row],
                         text);
    return PACE_OK;
}

static pace_status read_pod(pace_cluster *cluster, const table *t, size_t row) {
    enum { LONGEST = 100000000 }; /* three years in seconds */
    pace_pod pod = {0};
    int64_t gpus = 0, milli = 0;
    PACE_TRY(whole(&pod.cpu_milli, t, row, 0, NAN, 1e9));
    PACE_TRY(whole(&pod.memory_mib, t, row, 1, NAN, 1e9));
    PACE_TRY(whole(&gpus, t, row, 2, 0, PACE_NODE_MOST_GPUS));
    PACE_TRY(whole(&milli, t, row, 3, 0, PACE_GPU_WHOLE));
    PACE_TRY(whole(&pod.created_s, t, row, 4, NAN, 1e12));
    PACE_TRY(whole(&pod.deleted_s, t, row, 5, NAN, 1e12));
    pod.scheduled_s = -1;
    if (*pace_csv_cell(&t->csv, row, (size_t)t->column[6])) PACE_TRY(whole(&pod.scheduled_s, t, row, 6, NAN, 1e12));
    pod.gpus = milli > 0 ? (int)gpus : 0;
    pod.gpu_milli = gpus > 0 ? (int)milli : 0;
    if (pod.gpus > 1 && pod.gpu_milli < PACE_GPU_WHOLE)
        return pace_fail(PACE_E_INPUT, "%s:%u: gpu_milli is %d: expected 1000 for %d GPUs", t->csv.name,
                         t->csv.lines.items[row], pod.gpu_milli, pod.gpus);
    bool scheduled = pod.scheduled_s >= 0;
    if (pod.deleted_s < pod.created_s ||
        (scheduled && (pod.scheduled_s < pod.created_s || pod.deleted_s < pod.scheduled_s)))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected creation_time <= scheduled_time <= deletion_time", t->csv.name,
                         t->csv.lines.items[row]);
    if (scheduled && pod.deleted_s - pod.scheduled_s > LONGEST)
        return pace_fail(PACE_E_INPUT, "%s:%u: the pod ran for %lld s: are the times in seconds?", t->csv.name,
                         t->csv.lines.items[row], (long long)(pod.deleted_s - pod.scheduled_s));
    PACE_TRY(read_model(&pod, cluster, t, row));
    return PACE_PUSH(&cluster->pods, pod);
}

typedef pace_status (*row_fn)(pace_cluster *cluster, const table *t, size_t row);

static pace_status read_table(pace_cluster *cluster, pace_input *input, const char *const *names, size_t count,
                              row_fn take) {
    table t;
    PACE_TRY(pace_csv_read(&t.csv, input));
    pace_status status = find_columns(&t, names, count);
    if (status == PACE_OK && t.csv.rows == 0)
        status = pace_fail(PACE_E_INPUT, "%s: expected rows, found none", t.csv.name);
    for (size_t row = 0; status == PACE_OK && row < t.csv.rows; row++) status = take(cluster, &t, row);
    pace_csv_free(&t.csv);
    return status;
}

pace_status pace_cluster_read_nodes(pace_cluster *cluster, pace_input *input) {
    static const char *const names[] = {"cpu_milli", "memory_mib", "gpu", "model"};
    return read_table(cluster, input, names, sizeof names / sizeof *names, read_node);
}

pace_status pace_cluster_read_pods(pace_cluster *cluster, pace_input *input) {
    static const char *const names[] = {"cpu_milli",     "memory_mib",    "num_gpu",       "gpu_milli",
                                        "creation_time", "deletion_time", "scheduled_time"};
    return read_table(cluster, input, names, sizeof names / sizeof *names, read_pod);
}
