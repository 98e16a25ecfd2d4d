#include "shard_rows.h"

#include "base/memory.h"
#include "patient.h"

#include <string.h>

/* --- its life ----------------------------------------------------------------------------------------------------- */

static pace_status add_layer(pace_shard_rows *out, const pace_network *n, size_t tensor) {
    pace_shard_layer *l = &out->layers[out->layer_count++];
    size_t ranks = (size_t)out->processes->count;
    l->tensor = tensor;
    n->engine->rows(n->net, tensor, &l->of);
    l->asked = pace_alloc(l->of.indices + 1, sizeof *l->asked);
    l->place = pace_alloc(l->of.indices + 1, sizeof *l->place);
    l->gradients = pace_alloc(l->of.indices * l->of.width + 1, sizeof *l->gradients);
    l->first = pace_alloc(ranks + 1, sizeof *l->first);
    l->wanted = pace_alloc(ranks, sizeof *l->wanted);
    return l->asked && l->place && l->gradients && l->first && l->wanted ? PACE_OK : PACE_E_MEMORY;
}

pace_status pace_shard_rows_open(pace_shard_rows *out, const pace_network *n, const pace_processes *processes) {
    pace_shard_rows rows = {.processes = processes};
    pace_status status = PACE_OK;
    rows.layers = pace_alloc(n->tensor_count + 1, sizeof *rows.layers);
    if (!rows.layers) return PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < n->tensor_count; i++)
        if (n->tensors[i].sparse && (i == 0 || n->tensors[i - 1].layer != n->tensors[i].layer))
            status = add_layer(&rows, n, i);
    return PACE_GIVE(out, rows, status, pace_shard_rows_close(&rows));
}

static void close_layer(pace_shard_layer *l, size_t ranks) {
    for (size_t r = 0; l->wanted && r < ranks; r++) {
        pace_free(l->wanted[r].asked);
        pace_free(l->wanted[r].numbers);
    }
    pace_free(l->wanted);
    pace_free(l->asked);
    pace_free(l->place);
    pace_free(l->first);
    pace_free(l->gradients);
}

void pace_shard_rows_close(pace_shard_rows *rows) {
    for (size_t i = 0; i < rows->layer_count; i++) close_layer(&rows->layers[i], (size_t)rows->processes->count);
    pace_free(rows->layers);
    *rows = (pace_shard_rows){0};
}

/* --- who has what ------------------------------------------------------------------------------------------------- */

static size_t table_of(const pace_shard_layer *l, size_t lookup) { return lookup / l->of.lookups % l->of.tables; }

static size_t row_of(const pace_shard_layer *l, const pace_network *n, size_t lookup) {
    return (size_t)l->of.index[lookup] %
           n->tensors[l->tensor + table_of(l, lookup)].fan_in; /* rows of the whole table */
}

/* Lookups by the rank that has their row; among those of a rank in the order of samples. */
static void sort_lookups(pace_shard_layer *l, const pace_network *n, size_t ranks) {
    memset(l->first, 0, (ranks + 1) * sizeof *l->first);
    for (size_t i = 0; i < l->of.indices; i++) l->first[row_of(l, n, i) % ranks + 1]++;
    for (size_t r = 0; r < ranks; r++) l->first[r + 1] += l->first[r];
    for (size_t i = 0; i < l->of.indices; i++) {
        size_t row = row_of(l, n, i), at = l->first[row % ranks]++;
        l->asked[at] = (pace_row_asked){(int32_t)table_of(l, i), (int32_t)(row / ranks)};
        l->place[at] = i;
    }
    memmove(l->first + 1, l->first, ranks * sizeof *l->first); /* each was moved to where the next begins */
    l->first[0] = 0;
}

static float *row_at(const pace_shard_layer *l, const pace_network *n, pace_row_asked asked) {
    return n->tensors[l->tensor + (size_t)asked.table].weights + (size_t)asked.row * l->of.width;
}

/* --- from all to all ---------------------------------------------------------------------------------------------- */

typedef struct {
    pace_shard_layer *layer;
    pace_status status;
} taking;

static int take_wanted(void *context, int rank, const void *bytes, size_t length) {
    taking *t = context;
    pace_rows_wanted *w = &t->layer->wanted[rank];
    pace_free(w->asked);
    pace_free(w->numbers);
    w->count = length / sizeof *w->asked;
    w->asked = pace_alloc(w->count + 1, sizeof *w->asked);
    w->numbers = pace_alloc(w->count * t->layer->of.width + 1, sizeof *w->numbers);
    if (!w->asked || !w->numbers) return t->status = PACE_E_MEMORY, 1;
    memcpy(w->asked, bytes, length);
    return 0;
}

static int take_rows(void *context, int rank, const void *bytes, size_t length) {
    const pace_shard_layer *l = ((taking *)context)->layer;
    size_t width = l->of.width, count = l->first[rank + 1] - l->first[rank];
    if (length != count * width * sizeof(float)) return 1;
    for (size_t k = 0; k < count; k++)
        memcpy(l->of.fetched + l->place[l->first[rank] + k] * width, (const float *)bytes + k * width,
               width * sizeof(float));
    return 0;
}

static int take_gradients(void *context, int rank, const void *bytes, size_t length) {
    const pace_shard_layer *l = ((taking *)context)->layer;
    const pace_rows_wanted *w = &l->wanted[rank];
    if (length != w->count * l->of.width * sizeof(float)) return 1;
    memcpy(w->numbers, bytes, length);
    return 0;
}

/* What each rank is given, and what is done with what comes. */
typedef struct {
    const void **to;
    size_t *lengths;
    pace_gathered_fn take;
    const char *name;
} round_trip;

static pace_status all_to_all(pace_shard_rows *rows, pace_shard_layer *l, const round_trip *trip,
                              pace_step_record *record) {
    const pace_processes *p = rows->processes;
    taking t = {l, PACE_OK};
    int64_t start = pace_clock_ns();
    size_t bytes = 0;
    for (int r = 0; r < p->count; r++)
        if (r != p->rank) bytes += trip->lengths[r];
    int failed = p->exchange(p, trip->to, trip->lengths, trip->take, &t);
    rows->sent_bytes += bytes;
    pace_exchange_event event = {.name = trip->name,
                                 .collective = "alltoall",
                                 .elements = bytes / sizeof(float),
                                 .start_ns = start,
                                 .end_ns = pace_clock_ns()};
    pace_record_exchange(record, &event);
    if (t.status != PACE_OK) return t.status;
    return failed ? pace_patient_failed(p, "pearl: a rank answered with other rows than it was asked for") : PACE_OK;
}

static pace_status fetch_layer(pace_shard_rows *rows, pace_shard_layer *l, const pace_network *n, round_trip trip,
                               pace_step_record *record) {
    int ranks = rows->processes->count;
    size_t width = l->of.width;
    sort_lookups(l, n, (size_t)ranks);
    for (int r = 0; r < ranks; r++) {
        trip.to[r] = l->asked + l->first[r];
        trip.lengths[r] = (l->first[r + 1] - l->first[r]) * sizeof *l->asked;
    }
    trip.take = take_wanted, trip.name = "indices of rows";
    PACE_TRY(all_to_all(rows, l, &trip, record));
    for (int r = 0; r < ranks; r++) {
        const pace_rows_wanted *w = &l->wanted[r];
        for (size_t k = 0; k < w->count; k++)
            memcpy(w->numbers + k * width, row_at(l, n, w->asked[k]), width * sizeof(float));
        trip.to[r] = w->numbers;
        trip.lengths[r] = w->count * width * sizeof(float);
    }
    trip.take = take_rows, trip.name = "rows";
    return all_to_all(rows, l, &trip, record);
}

static pace_status return_layer(pace_shard_rows *rows, pace_shard_layer *l, const pace_network *n, round_trip trip,
                                pace_step_record *record) {
    size_t width = l->of.width;
    (void)n;
    for (size_t k = 0; k < l->of.indices; k++) /* all rows of a bag have the gradient of their sum */
        memcpy(l->gradients + k * width, l->of.gradient + l->place[k] / l->of.lookups * width, width * sizeof(float));
    for (int r = 0; r < rows->processes->count; r++) {
        trip.to[r] = l->gradients + l->first[r] * width;
        trip.lengths[r] = (l->first[r + 1] - l->first[r]) * width * sizeof(float);
    }
    trip.take = take_gradients, trip.name = "gradients of rows";
    return all_to_all(rows, l, &trip, record);
}

typedef pace_status (*layer_function)(pace_shard_rows *rows, pace_shard_layer *l, const pace_network *n,
                                      round_trip trip, pace_step_record *record);

static pace_status each_layer(pace_shard_rows *rows, const pace_network *n, pace_step_record *record,
                              layer_function function) {
    size_t ranks = (size_t)rows->processes->count;
    round_trip trip = {.to = pace_alloc(ranks, sizeof *trip.to), .lengths = pace_alloc(ranks, sizeof *trip.lengths)};
    pace_status status = trip.to && trip.lengths ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < rows->layer_count; i++) {
        pace_shard_layer *l = &rows->layers[i];
        n->engine->rows(n->net, l->tensor, &l->of);
        status = function(rows, l, n, trip, record);
    }
    pace_free(trip.to);
    pace_free(trip.lengths);
    return status;
}

pace_status pace_shard_rows_fetch(pace_shard_rows *rows, const pace_network *n, pace_step_record *record) {
    return each_layer(rows, n, record, fetch_layer);
}

pace_status pace_shard_rows_return(pace_shard_rows *rows, const pace_network *n, pace_step_record *record) {
    return each_layer(rows, n, record, return_layer);
}

/* In the order of ranks, as one rank with the whole batch would. */
void pace_shard_rows_update(const pace_shard_rows *rows, const pace_network *n, size_t tensor, float rate) {
    const pace_shard_layer *l = rows->layers;
    while (n->tensors[l->tensor].layer != n->tensors[tensor].layer) l++;
    int32_t table = (int32_t)(tensor - l->tensor);
    size_t width = l->of.width;
    float share = rate / (float)rows->processes->count;
    for (int r = 0; r < rows->processes->count; r++)
        for (size_t k = 0; k < l->wanted[r].count; k++) {
            const float *gradient = l->wanted[r].numbers + k * width;
            if (l->wanted[r].asked[k].table != table) continue;
            float *row = row_at(l, n, l->wanted[r].asked[k]);
            for (size_t c = 0; c < width; c++) row[c] -= share * gradient[c];
        }
}
