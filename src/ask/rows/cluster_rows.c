#include "ask/rows/cluster_rows.h"
#include "base/intern.h"
#include "base/text.h"
#include "ask/rows/wanted_columns.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS = 8 };

/* What stands in a table of nodes or pods, and in which columns. */
typedef struct {
    pace_csv csv;
    const char *const *names; /* of catalog/columns.yaml */
    int column[MOST_CELLS];
} table;

enum { NODE_CPU, NODE_MEMORY, NODE_GPUS, NODE_MODEL, NODE_NAME, NODE_CELLS };
static const char *const node_names[NODE_CELLS] = {"cpu_milli", "memory_mib", "gpus", "model", "name"};

enum { POD_CPU, POD_MEMORY, POD_GPUS, POD_GPU_MILLI, POD_CREATED, POD_DELETED, POD_SCHEDULED, POD_MODEL, POD_CELLS };
static const char *const pod_names[POD_CELLS] = {"cpu_milli",     "memory_mib",    "gpus",           "gpu_milli",
                                                 "creation_time", "deletion_time", "scheduled_time", "gpu_spec"};

static pace_status find_columns(table *t, pace_catalog *catalog, const char *section, const char *const *names,
                                int count, int needed) {
    pace_wanted_column wanted[MOST_CELLS];
    t->names = names;
    for (int i = 0; i < count; i++)
        wanted[i] = (pace_wanted_column){.key = names[i], .column = &t->column[i], .needed = i < needed};
    return pace_wanted_columns_find(catalog, section, &t->csv, wanted, (size_t)count);
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
    PACE_TRY(whole(&node.cpu_milli, t, row, NODE_CPU, NAN, 1e9));
    PACE_TRY(whole(&node.memory_mib, t, row, NODE_MEMORY, NAN, 1e9));
    PACE_TRY(whole(&gpus, t, row, NODE_GPUS, 0, PACE_NODE_MOST_GPUS));
    node.gpus = (int)gpus;
    const char *model = pace_csv_cell(&t->csv, row, (size_t)t->column[NODE_MODEL]);
    PACE_TRY(add_model(&node.model, cluster, gpus ? model : "none"));
    return PACE_PUSH(&cluster->nodes, node);
}

static pace_status read_model(pace_pod *pod, const pace_cluster *cluster, const table *t, size_t row) {
    const char *text = pace_csv_at(&t->csv, row, t->column[POD_MODEL]);
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
    PACE_TRY(whole(&pod.cpu_milli, t, row, POD_CPU, NAN, 1e9));
    PACE_TRY(whole(&pod.memory_mib, t, row, POD_MEMORY, NAN, 1e9));
    PACE_TRY(whole(&gpus, t, row, POD_GPUS, 0, PACE_NODE_MOST_GPUS));
    PACE_TRY(whole(&milli, t, row, POD_GPU_MILLI, 0, PACE_GPU_WHOLE));
    PACE_TRY(whole(&pod.created_s, t, row, POD_CREATED, NAN, 1e12));
    PACE_TRY(whole(&pod.deleted_s, t, row, POD_DELETED, NAN, 1e12));
    pod.scheduled_s = -1;
    if (*pace_csv_cell(&t->csv, row, (size_t)t->column[POD_SCHEDULED]))
        PACE_TRY(whole(&pod.scheduled_s, t, row, POD_SCHEDULED, NAN, 1e12));
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

/* A kind of table: its section of catalog/columns.yaml, and what a row of it is. */
typedef struct {
    const char *section;
    const char *const *names;
    int count, needed; /* columns; so many first ones must be there */
    row_fn take;
    int once; /* a column no two rows of which say the same; -1 = none */
} table_kind;

/* Tables that were joined list a node twice, which would double its GPUs. */
static pace_status check_once(const table *t, int cell) {
    pace_names seen;
    pace_name name;
    if (cell < 0 || t->column[cell] < 0) return PACE_OK;
    PACE_TRY(pace_names_init(&seen));
    pace_status status = PACE_OK;
    for (size_t row = 0; status == PACE_OK && row < t->csv.rows; row++) {
        const char *text = pace_csv_at(&t->csv, row, t->column[cell]);
        if (*text && pace_names_find(&name, &seen, text, strlen(text)))
            status = pace_fail(PACE_E_INPUT, "%s:%u: %s: \"%.60s\" was there before", t->csv.name,
                               t->csv.lines.items[row], t->names[cell], text);
        else status = pace_names_add(&name, &seen, text, strlen(text));
    }
    pace_names_free(&seen);
    return status;
}

static pace_status read_table(pace_cluster *cluster, pace_catalog *catalog, pace_input *input, const table_kind *kind) {
    table t;
    PACE_TRY(pace_csv_read(&t.csv, input));
    pace_status status = find_columns(&t, catalog, kind->section, kind->names, kind->count, kind->needed);
    if (status == PACE_OK) status = check_once(&t, kind->once);
    if (status == PACE_OK && t.csv.rows == 0)
        status = pace_fail(PACE_E_INPUT, "%s: expected rows, found none", t.csv.name);
    for (size_t row = 0; status == PACE_OK && row < t.csv.rows; row++) status = kind->take(cluster, &t, row);
    pace_csv_free(&t.csv);
    return status;
}

pace_status pace_cluster_read_nodes(pace_cluster *cluster, pace_catalog *catalog, pace_input *input) {
    return read_table(cluster, catalog, input,
                      &(table_kind){"node", node_names, NODE_CELLS, NODE_NAME, read_node, NODE_NAME});
}

pace_status pace_cluster_read_pods(pace_cluster *cluster, pace_catalog *catalog, pace_input *input) {
    return read_table(cluster, catalog, input, &(table_kind){"pod", pod_names, POD_CELLS, POD_MODEL, read_pod, -1});
}
