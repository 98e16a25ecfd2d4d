#include "table_rows.h"

#include "base/memory.h"
#include "patient.h"

#include <string.h>

static size_t part_bytes(const pace_layer_rows *l) {
    return l->indices * sizeof(int32_t) + l->gradients * sizeof(float);
}

/* A layer's tables follow each other among the tensors. */
static pace_status add_layer(pace_table_rows *out, const pace_network *n, size_t tensor) {
    pace_engine_rows own;
    pace_layer_rows l = {.layer = n->tensors[tensor].layer, .tensor = tensor};
    if (out->layer_count && out->layers[out->layer_count - 1].layer == l.layer) return PACE_OK;
    n->engine->rows(n->net, tensor, &own);
    l.indices = own.indices, l.gradients = own.gradients;
    l.all = pace_alloc((size_t)out->processes->count, part_bytes(&l));
    if (!l.all) return PACE_E_MEMORY;
    out->layers[out->layer_count++] = l;
    return PACE_OK;
}

pace_status pace_table_rows_open(pace_table_rows *out, const pace_network *n, const pace_processes *processes) {
    pace_table_rows rows = {.processes = processes};
    pace_status status = PACE_OK;
    if (!processes || processes->count < 2) return PACE_OK;
    rows.layers = pace_alloc(n->tensor_count + 1, sizeof *rows.layers);
    if (!rows.layers) return PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < n->tensor_count; i++)
        if (n->tensors[i].sparse) status = add_layer(&rows, n, i);
    return PACE_GIVE(out, rows, status, pace_table_rows_close(&rows));
}

void pace_table_rows_close(pace_table_rows *rows) {
    for (size_t i = 0; i < rows->layer_count; i++) pace_free(rows->layers[i].all);
    pace_free(rows->layers);
    *rows = (pace_table_rows){0};
}

/* --- the exchange ------------------------------------------------------------------------------------------------- */

static int take(void *context, int rank, const void *bytes, size_t length) {
    const pace_layer_rows *l = context;
    char *to = l->all + (size_t)rank * part_bytes(l);
    if (length != part_bytes(l)) return 1;
    if (to != bytes) memcpy(to, bytes, length);
    return 0;
}

static pace_status gather(const pace_table_rows *rows, const pace_layer_rows *l, const pace_network *n) {
    const pace_processes *p = rows->processes;
    const void **to = pace_alloc((size_t)p->count, sizeof *to);
    size_t *lengths = pace_alloc((size_t)p->count, sizeof *lengths);
    char *own = l->all + (size_t)p->rank * part_bytes(l);
    pace_engine_rows looked_up;
    n->engine->rows(n->net, l->tensor, &looked_up);
    memcpy(own, looked_up.index, l->indices * sizeof(int32_t));
    memcpy(own + l->indices * sizeof(int32_t), looked_up.gradient, l->gradients * sizeof(float));
    for (int r = 0; to && lengths && r < p->count; r++) to[r] = own, lengths[r] = part_bytes(l);
    bool room = to && lengths;
    int failed = room ? p->exchange(p, to, lengths, take, (void *)(uintptr_t)l) : -1;
    pace_free(to);
    pace_free(lengths);
    if (!room) return PACE_E_MEMORY;
    return failed ? pace_patient_failed(p, "ranks looked up different numbers of rows") : PACE_OK;
}

pace_status pace_table_rows_gather(pace_table_rows *rows, const pace_network *n, pace_step_record *record) {
    for (size_t i = 0; i < rows->layer_count; i++) {
        const pace_layer_rows *l = &rows->layers[i];
        int64_t start = pace_clock_ns();
        PACE_TRY(gather(rows, l, n));
        pace_exchange_event event = {.name = "rows of tables",
                                     .collective = "allgather",
                                     .elements = part_bytes(l) / sizeof(float) * (size_t)rows->processes->count,
                                     .start_ns = start,
                                     .end_ns = pace_clock_ns()};
        pace_record_exchange(record, &event);
    }
    return PACE_OK;
}

void pace_table_rows_update(const pace_table_rows *rows, const pace_network *n, size_t tensor, float rate) {
    const pace_layer_rows *l = rows->layers;
    while (l->layer != n->tensors[tensor].layer) l++;
    int count = rows->processes->count;
    for (int r = 0; r < count; r++) {
        const char *part = l->all + (size_t)r * part_bytes(l);
        pace_engine_rows theirs = {.index = (const int32_t *)(const void *)part,
                                   .gradient = (const float *)(const void *)(part + l->indices * sizeof(int32_t)),
                                   .indices = l->indices,
                                   .gradients = l->gradients};
        n->engine->update_rows(n->net, tensor, rate / (float)count, &theirs);
    }
}

uint64_t pace_table_rows_sent_bytes(const pace_table_rows *rows) {
    uint64_t sum = 0;
    for (size_t i = 0; i < rows->layer_count; i++)
        sum += (uint64_t)part_bytes(&rows->layers[i]) * (uint64_t)(rows->processes->count - 1);
    return sum;
}
