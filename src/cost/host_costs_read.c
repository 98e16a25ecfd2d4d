/* Files of host overheads: our own, with samples, and the seeds', with means. */
#include "cost/host_costs.h"

#include "base/json_reader.h"
#include "cost/host_samples.h"

#include <math.h>
#include <string.h>

enum { LONGEST_NAME = 1024 };

typedef struct {
    pace_json *json;
    pace_input *input;
    pace_host_take_fn take;
    void *context;
} reader;

static pace_status expected(const reader *r, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s: at byte %llu: expected %s", pace_input_name(r->input),
                     (unsigned long long)pace_json_offset(r->json), what);
}

/* The next token; failures of the input are forwarded. */
static pace_status next(reader *r, pace_json_token *token) {
    *token = pace_json_next(r->json);
    return pace_json_failed(*token) ? pace_json_status(r->json) : PACE_OK;
}

static pace_status skip(reader *r) {
    return pace_json_failed(pace_json_skip(r->json)) ? pace_json_status(r->json) : PACE_OK;
}

static pace_status take_name(reader *r, char name[LONGEST_NAME]) {
    size_t length;
    const char *text = pace_json_decoded(r->json, &length);
    if (!text) return PACE_E_MEMORY;
    if (length >= LONGEST_NAME || memchr(text, '\0', length)) return expected(r, "a name of at most 1023 bytes");
    memcpy(name, text, length);
    name[length] = '\0';
    return PACE_OK;
}

static pace_status take_number(reader *r, double *out) {
    pace_json_token token;
    PACE_TRY(next(r, &token));
    if (token == PACE_JSON_NUMBER && pace_json_double(r->json, out) && isfinite(*out) && *out >= 0 && *out < 1e15)
        return PACE_OK;
    return expected(r, "a duration or count of at least 0");
}

static int find_type(const reader *r) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (pace_json_is(r->json, pace_overhead_names[type])) return type;
    return -1;
}

/* --- our own: {"type", "name", "count", "mean_ns", "std_ns", …} -------------------------------------------- */

static pace_status read_row(reader *r) {
    int type = -1;
    char name[LONGEST_NAME] = "", workload[LONGEST_NAME] = "";
    double kept = 0;
    pace_host_cost figure = {0};
    for (pace_json_token token;;) {
        PACE_TRY(next(r, &token));
        if (token == PACE_JSON_OBJECT_END) break;
        if (pace_json_is(r->json, "type")) {
            PACE_TRY(next(r, &token));
            type = token == PACE_JSON_STRING ? find_type(r) : -1;
            if (type < 0) return expected(r, "a type, \"t1\" to \"t5\"");
        } else if (pace_json_is(r->json, "name")) {
            PACE_TRY(next(r, &token));
            if (token == PACE_JSON_STRING) PACE_TRY(take_name(r, name));
            else if (token != PACE_JSON_NULL) return expected(r, "an operator's or call's name");
        } else if (pace_json_is(r->json, "workload")) {
            PACE_TRY(next(r, &token));
            if (token != PACE_JSON_STRING) return expected(r, "a workload's name");
            PACE_TRY(take_name(r, workload));
        } else if (pace_json_is(r->json, "kept")) PACE_TRY(take_number(r, &kept));
        else if (pace_json_is(r->json, "mean_ns")) PACE_TRY(take_number(r, &figure.mean_ns));
        else if (pace_json_is(r->json, "std_ns")) PACE_TRY(take_number(r, &figure.std_ns));
        else PACE_TRY(skip(r));
    }
    if (type < 0) return expected(r, "a row with a \"type\"");
    figure.count = kept;
    return figure.count > 0 ? r->take(r->context, workload, (pace_overhead_type)type, name, figure) : PACE_OK;
}

static pace_status read_rows(reader *r) {
    pace_json_token token;
    PACE_TRY(next(r, &token));
    if (token != PACE_JSON_ARRAY) return expected(r, "an array of rows");
    for (;;) {
        PACE_TRY(next(r, &token));
        if (token == PACE_JSON_ARRAY_END) return PACE_OK;
        if (token != PACE_JSON_OBJECT) return expected(r, "a row");
        PACE_TRY(read_row(r));
    }
}

/* --- the seeds': "t2": {"aten::relu": [mean, std], …}, microseconds ------------------------------------------ */

/* Behind the opening bracket. Means without counts weigh alike. */
static pace_status read_pair(reader *r, pace_overhead_type type, const char *name) {
    pace_host_cost figure = {.count = 1};
    pace_json_token token;
    PACE_TRY(take_number(r, &figure.mean_ns));
    PACE_TRY(take_number(r, &figure.std_ns));
    PACE_TRY(next(r, &token));
    if (token != PACE_JSON_ARRAY_END) return expected(r, "[mean, std]");
    figure.mean_ns *= 1e3;
    figure.std_ns *= 1e3;
    return r->take(r->context, "", type, name ? name : "", figure);
}

static pace_status read_type(reader *r, pace_overhead_type type) {
    pace_json_token token;
    PACE_TRY(next(r, &token));
    if (token == PACE_JSON_ARRAY) return read_pair(r, type, NULL);
    if (token != PACE_JSON_OBJECT) return expected(r, "[mean, std] or an object of them");
    for (;;) {
        char name[LONGEST_NAME];
        PACE_TRY(next(r, &token));
        if (token == PACE_JSON_OBJECT_END) return PACE_OK;
        PACE_TRY(take_name(r, name));
        PACE_TRY(next(r, &token));
        if (token != PACE_JSON_ARRAY) return expected(r, "[mean, std]");
        PACE_TRY(read_pair(r, type, name));
    }
}

static pace_status read_document(reader *r) {
    size_t known = 0;
    pace_json_token token;
    PACE_TRY(next(r, &token));
    if (token != PACE_JSON_OBJECT) return expected(r, "an object of host overheads");
    for (;;) {
        PACE_TRY(next(r, &token));
        if (token == PACE_JSON_OBJECT_END) break;
        int type = find_type(r);
        if (pace_json_is(r->json, "rows")) PACE_TRY(read_rows(r));
        else if (type >= 0) PACE_TRY(read_type(r, (pace_overhead_type)type));
        else {
            PACE_TRY(skip(r));
            continue;
        }
        known++;
    }
    PACE_TRY(next(r, &token)); /* nothing may follow */
    if (token != PACE_JSON_END) return expected(r, "the end of the file");
    return known ? PACE_OK : expected(r, "\"rows\", or \"t1\" to \"t5\"");
}

static pace_status read_input(reader *r) {
    PACE_TRY(pace_json_open(&r->json, r->input));
    pace_status status = read_document(r);
    pace_json_free(r->json);
    return status;
}

pace_status pace_host_costs_scan(pace_input *input, pace_host_take_fn take, void *context) {
    return read_input(&(reader){.input = input, .take = take, .context = context});
}

/* --- pooled ------------------------------------------------------------------------------------------------------ */

typedef struct {
    pace_host_costs *costs;
    pace_host_samples *by_workload; /* of those that say of which they are */
} pool;

static pace_status pool_figure(void *context, const char *workload, pace_overhead_type type, const char *name,
                               pace_host_cost figure) {
    const pool *to = context;
    if (*workload) PACE_TRY(pace_host_samples_add(to->by_workload, workload, 0, type, name, figure));
    return pace_host_costs_add(to->costs, type, name, figure);
}

static pace_status add_optimizers(pool *to) {
    const pace_host_samples *samples = to->by_workload;
    pace_host_samples_finish(to->by_workload);
    PACE_ITEMS (const pace_host_sample, sample, &samples->items) {
        const char *name = pace_names_text(&samples->names, sample->op);
        if (sample->type == PACE_T2 && pace_is_optimizer_step(name))
            PACE_TRY(pace_host_costs_add_optimizer(to->costs, name,
                                                   samples->workloads.items[sample->workload].parameters,
                                                   sample->figure.mean_ns));
    }
    return PACE_OK;
}

pace_status pace_host_costs_read_input(void *costs, pace_input *input) {
    pace_host_samples by_workload;
    pool to = {costs, &by_workload};
    PACE_TRY(pace_host_samples_init(&by_workload));
    pace_status status = read_input(&(reader){.input = input, .take = pool_figure, .context = &to});
    if (status == PACE_OK) status = add_optimizers(&to);
    pace_host_samples_free(&by_workload);
    return status;
}

pace_status pace_host_costs_read(pace_host_costs *costs, const char *path) {
    return pace_input_read_file(costs, path, pace_host_costs_read_input);
}
