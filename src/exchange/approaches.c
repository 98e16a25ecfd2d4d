#include "exchange/approaches.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Of costs that nobody measured where they are used: control messages, encoding, staging. */
static const double approach_spread = 0.5;

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t offset;
} figures[] = {
    {"copies", offsetof(pace_approach, copies)},
    {"control_s", offsetof(pace_approach, control_s)},
    {"encode_s_per_byte", offsetof(pace_approach, encode_s_per_byte)},
    {"fuses_bytes", offsetof(pace_approach, fuses_bytes)},
    {"entry_queries", offsetof(pace_approach, entry_queries)},
    {"message_queries", offsetof(pace_approach, message_queries)},
    {"query_s", offsetof(pace_approach, query_s)},
    {"switch_bytes", offsetof(pace_approach, switch_bytes)},
};

static bool says(const pace_yaml_node *entry, const char *key, const char *word) {
    const char *text = pace_yaml_text(pace_yaml_get(entry, key));
    return text && strcmp(text, word) == 0;
}

static pace_status read_row(pace_approach *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const char *name = pace_yaml_text(pace_yaml_get(entry, "name"));
    *out = (pace_approach){0};
    if (!name || strlen(name) >= sizeof out->name ||
        (!says(entry, "family", "server") && !says(entry, "family", "allreduce")))
        return pace_fail(PACE_E_INPUT, "%s: expected a name, and family: server or allreduce",
                         pace_yaml_place(yaml, entry));
    memcpy(out->name, name, strlen(name) + 1);
    out->server = says(entry, "family", "server");
    out->nccl = says(entry, "library", "nccl");
    out->streams = says(entry, "streams", "1");
    out->serial = says(entry, "serial", "1");
    for (size_t i = 0; i < COUNT(figures); i++) {
        const pace_yaml_node *node = pace_yaml_get(entry, figures[i].key);
        double *field = (double *)(void *)((char *)out + figures[i].offset);
        if (node) PACE_TRY(pace_yaml_number(field, yaml, node));
        if (!(*field >= 0)) return pace_fail(PACE_E_INPUT, "%s: expected 0 or more", pace_yaml_place(yaml, node));
    }
    return PACE_OK;
}

static pace_status read_rows(pace_approaches *out, const pace_yaml *yaml) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "approaches");
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        pace_approach row;
        PACE_TRY(read_row(&row, yaml, pace_yaml_item(list, i)));
        PACE_TRY(PACE_PUSH(&out->rows, row));
    }
    return PACE_OK;
}

pace_status pace_approaches_load(pace_approaches *out) {
    pace_yaml *yaml;
    pace_approaches rows = {0};
    PACE_TRY(pace_catalog_load(&yaml, "approaches.yaml"));
    pace_status status = read_rows(&rows, yaml);
    pace_yaml_free(yaml);
    if (status == PACE_OK) *out = rows;
    else pace_approaches_free(&rows);
    return status;
}

void pace_approaches_free(pace_approaches *approaches) { PACE_VEC_FREE(&approaches->rows); }

const pace_approach *pace_approach_find(const pace_approaches *approaches, const char *name) {
    for (size_t i = 0; i < approaches->rows.count; i++)
        if (strcmp(approaches->rows.items[i].name, name) == 0) return &approaches->rows.items[i];
    return NULL;
}

/* --- servers ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const pace_approach *approach;
    const pace_exchange *exchange;
    const pace_gradients *gradients;
    const pace_approach_setup *setup;
} question;

static double sum_of(const pace_gradients *g) {
    double sum = 0;
    for (size_t i = 0; i < g->count; i++) sum += g->bytes[i];
    return sum;
}

static double largest_of(const pace_gradients *g) {
    double largest = 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->bytes[i] > largest) largest = g->bytes[i];
    return largest;
}

static double server_s(const question *q) {
    const pace_machine *m = &q->exchange->machine;
    double bytes = sum_of(q->gradients), node = pace_machine_node_rate(m);
    int senders = q->setup->local_first ? 1 : m->devices; /* of a node, over its NICs */
    double nic = m->nodes > 1 ? node : pace_machine_inside_rate(m);
    pace_server_terms t = {.bytes = bytes, .largest_bytes = largest_of(q->gradients)};
    t.workers = senders * m->nodes;
    t.servers = q->setup->servers > 0 ? q->setup->servers : t.workers;
    t.colocated = q->setup->servers == 0;
    t.worker_rate = m->nodes > 1 ? nic / senders : nic;
    t.server_rate = t.colocated ? t.worker_rate : nic;
    t.stream_rate = q->approach->streams ? m->stream_bytes_per_s : 0;
    double staged = q->approach->copies * bytes * 2 / q->setup->copy_rate;
    double control = q->approach->control_s * (double)q->gradients->count;
    /* One thread sends tensor after tensor and waits for each; several have them all under way. */
    if (!q->approach->serial) control /= t.servers;
    return pace_parameter_server_s(&t) + staged + control + 2 * bytes * q->approach->encode_s_per_byte;
}

/* --- all-reduce ----------------------------------------------------------------------------------------------------
 */

/* Asking the driver where a buffer lies, at entry and for both ends of every message of lg n steps. */
static double queries_s(const question *q) {
    const pace_machine *m = &q->exchange->machine;
    double steps = ceil(log2((double)m->devices * m->nodes));
    return q->approach->query_s * (q->approach->entry_queries + q->approach->message_queries * 2 * steps);
}

static pace_status one_buffer(double *out_s, const question *q, double bytes) {
    pace_exchange_question asked = {PACE_ALLREDUCE, bytes, 0, 0, PACE_ANY, PACE_ANY, 0};
    bool on_host = bytes < q->approach->switch_bytes;
    pace_estimate s;
    if (on_host) asked.algorithm = pace_exchange_algorithm_find("recursive_doubling");
    PACE_TRY(pace_exchange_time(&s, q->exchange, &asked));
    *out_s = s.median + q->approach->control_s + queries_s(q);
    *out_s += (q->approach->copies + (on_host ? 2 : 0)) * bytes / q->setup->copy_rate;
    return PACE_OK;
}

/* Tensors fill a buffer in order; what does not fit starts the next. Copying in and out is at memory speed and small.
 */
static pace_status allreduce_s(double *out_s, const question *q) {
    double sum = 0, held = 0, s;
    for (size_t i = 0; i < q->gradients->count; i++) {
        double bytes = q->gradients->bytes[i];
        if (held > 0 && held + bytes > q->approach->fuses_bytes) {
            PACE_TRY(one_buffer(&s, q, held));
            sum += s;
            held = 0;
        }
        held += bytes;
    }
    if (held > 0) {
        PACE_TRY(one_buffer(&s, q, held));
        sum += s;
    }
    *out_s = sum;
    return PACE_OK;
}

pace_status pace_approach_time(pace_estimate *out_s, const pace_approach *approach, const pace_exchange *exchange,
                               const pace_gradients *gradients, const pace_approach_setup *setup) {
    question q = {approach, exchange, gradients, setup};
    double s = 0;
    if (!(setup->copy_rate > 0) || setup->servers < 0)
        return pace_fail(PACE_E_USAGE, "expected a rate of copies above 0 and 0 or more servers");
    if (!approach->server && approach->nccl != (exchange->library == PACE_LIBRARY_NCCL))
        return pace_fail(PACE_E_USAGE, "%s exchanges with %s: expected that library", approach->name,
                         approach->nccl ? "NCCL" : "MPI, the textbook's algorithms");
    if (exchange->machine.devices * exchange->machine.nodes > 1) {
        if (approach->server) s = server_s(&q);
        else PACE_TRY(allreduce_s(&s, &q));
    }
    *out_s = (pace_estimate){s, approach_spread, PACE_RUNG_FORMULA};
    return PACE_OK;
}

pace_status pace_pearl_time(pace_estimate *out_s, const pace_exchange *exchange, double dense_bytes,
                            double touched_bytes) {
    pace_exchange_question dense = {PACE_ALLREDUCE, dense_bytes, 0, 0, PACE_ANY, PACE_ANY, 0};
    pace_exchange_question gather = {PACE_ALLGATHER, touched_bytes, 0, 0, PACE_ANY, PACE_ANY, 0};
    pace_exchange_question scatter = {PACE_REDUCESCATTER, touched_bytes, 0, 0, PACE_ANY, PACE_ANY, 0};
    pace_estimate parts[3];
    PACE_TRY(pace_exchange_time(&parts[0], exchange, &dense));
    PACE_TRY(pace_exchange_time(&parts[1], exchange, &gather));
    PACE_TRY(pace_exchange_time(&parts[2], exchange, &scatter));
    double sum = parts[0].median + parts[1].median + parts[2].median;
    *out_s = (pace_estimate){sum, parts[0].spread, PACE_RUNG_FORMULA};
    return PACE_OK;
}
