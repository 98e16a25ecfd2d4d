/* Tables of embeddings. oneDNN has no lookups: rows are copied and added here; their columns are shared out over
 * threads. */
#include "net.h"

#include <string.h>

/* The input of a lookup holds indices. */
static const int32_t *indices_of(const net *n, const node *of) {
    return (const int32_t *)tensor_floats(n, of->inputs[0]->value);
}

static bool take_indices(net *n, node *of) {
    if (of->inputs[0]->layer->kind != PACE_LAYER_INPUT) {
        net_refuse(n, of, "what it looks up is computed");
        return false;
    }
    of->inputs[0]->is_index = true;
    return true;
}

static dnnl_memory_desc_t rows_desc(size_t rows, size_t columns) {
    size_t dims[2] = {rows, columns};
    return desc_of(2, dims, dnnl_ab);
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

static void look_up(net *n, node *of) {
    const int32_t *index = indices_of(n, of);
    const float *table = tensor_floats(n, n->parameters[of->first_parameter].weights);
    float *out = tensor_floats(n, of->value);
    size_t rows = of->rows, columns = of->columns;
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++)
        memcpy(out + r * columns, table + (size_t)index[r] * columns, columns * sizeof *out);
}

/* Each thread has columns of its own, so that rows which occur twice add up in one order. */
static void add_rows(net *n, node *of) {
    const parameter *p = &n->parameters[of->first_parameter];
    const int32_t *index = indices_of(n, of);
    const float *from = tensor_floats(n, of->turned ? of->turned : of->gradient);
    float *to = tensor_floats(n, p->gradient);
    size_t rows = of->rows, columns = of->columns, part = (columns + 15) / 16;
    if (!of->adds) memset(to, 0, tensor_elements(p->gradient) * sizeof *to);
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < 16; c++) {
        size_t first = c * part, last = first + part < columns ? first + part : columns;
        for (size_t r = 0; r < rows; r++)
            for (size_t k = first; k < last; k++) to[(size_t)index[r] * columns + k] += from[r * columns + k];
    }
}

void forward_embedding(net *n, node *of) {
    dnnl_memory_desc_t out = rows_desc(of->rows, of->columns);
    dnnl_memory_desc_t table = rows_desc((size_t)OPT(of, ROWS), of->columns);
    if (!take_indices(n, of)) return;
    if (option_of(of, PACE_OPTION_TIED) > 0) {
        net_refuse(n, of, "its table is another layer's");
        return;
    }
    parameter_new(n, of, PACE_ROLE_TABLE, &table, &table, of->columns);
    of->value = tensor_new(n, &out);
    act_function(n, of, PACE_PASS_FORWARD, look_up);
}

void backward_embedding(net *n, node *of) {
    parameter *p = &n->parameters[of->first_parameter];
    dnnl_memory_desc_t rows = rows_desc(of->rows, of->columns);
    own_gradient(n, of, PACE_PASS_WEIGHTS, &rows);
    of->adds = p->is_shared;
    p->is_shared = true;
    act_function(n, of, PACE_PASS_WEIGHTS, add_rows);
}

/* --- positions: a row is added to each place of a sequence -------------------------------------------------------- */

static dnnl_memory_desc_t places_desc(const net *n, const node *of, size_t batch) {
    size_t dims[3] = {batch, n->sequence, of->columns};
    return desc_of(3, dims, dnnl_abc);
}

void forward_positions(net *n, node *of) {
    dnnl_binary_desc_t operation;
    dnnl_memory_desc_t rows = rows_desc(of->rows, of->columns), table = rows_desc((size_t)OPT(of, ROWS), of->columns);
    dnnl_memory_desc_t all = places_desc(n, of, n->batch), one = places_desc(n, of, 1);
    if ((size_t)OPT(of, ROWS) < n->sequence) {
        net_refuse(n, of, "the sequence is longer than its table");
        return;
    }
    tensor *from = in_layout(n, of, PACE_PASS_FORWARD, of->inputs[0]->value, &rows);
    parameter *p = parameter_new(n, of, PACE_ROLE_TABLE, &table, &table, of->columns);
    of->value = tensor_new(n, &rows);
    if (n->failed || !net_is_fine(n, of, dnnl_binary_desc_init(&operation, dnnl_binary_add, &all, &one, &all), "sum"))
        return;
    act(n, of, PACE_PASS_FORWARD, describe(n, of, &operation, NULL), false,
        BOUND({DNNL_ARG_SRC_0, tensor_in(n, &all, from)}, {DNNL_ARG_SRC_1, tensor_in(n, &one, p->weights)},
              {DNNL_ARG_DST, tensor_in(n, &all, of->value)}));
}

void backward_positions(net *n, node *of) {
    dnnl_reduction_desc_t operation;
    parameter *p = &n->parameters[of->first_parameter];
    dnnl_memory_desc_t rows = rows_desc(of->rows, of->columns);
    dnnl_memory_desc_t all = places_desc(n, of, n->batch), one = places_desc(n, of, 1);
    tensor *from = own_gradient(n, of, PACE_PASS_DATA, &rows);
    if (of->inputs[0]->needs_gradient) {
        tensor *to = gradient_begin(n, of->inputs[0], &rows);
        act_copy(n, of, PACE_PASS_DATA, from, to);
        gradient_end(n, of, of->inputs[0], to);
    }
    if (n->batch == 1) act_copy(n, of, PACE_PASS_WEIGHTS, tensor_in(n, &one, from), tensor_in(n, &one, p->gradient));
    else if (!n->failed &&
             net_is_fine(n, of, dnnl_reduction_desc_init(&operation, dnnl_reduction_sum, &all, &one, 0, 0), "sum"))
        act(n, of, PACE_PASS_WEIGHTS, describe(n, of, &operation, NULL), false,
            BOUND({DNNL_ARG_SRC, tensor_in(n, &all, from)}, {DNNL_ARG_DST, tensor_in(n, &one, p->gradient)}));
}

/* --- bags: sums of rows, of many tables --------------------------------------------------------------------------- */

static size_t rows_of_table(const net *n, const node *of, size_t table) {
    return (size_t)n->of->rows[(size_t)option_of(of, PACE_OPTION_ROWS) + table];
}

static void sum_rows(net *n, node *of) {
    const int32_t *index = indices_of(n, of);
    float *out = tensor_floats(n, of->value);
    size_t tables = (size_t)OPT(of, TABLES), lookups = (size_t)OPT(of, LOOKUPS), width = (size_t)OPT(of, WIDTH);
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < of->rows; s++)
        for (size_t t = 0; t < tables; t++) {
            const float *table = tensor_floats(n, n->parameters[of->first_parameter + t].weights);
            size_t rows = rows_of_table(n, of, t);
            float *to = out + (s * tables + t) * width;
            memset(to, 0, width * sizeof *to);
            for (size_t l = 0; l < lookups; l++) {
                const float *row = table + (size_t)index[(s * tables + t) * lookups + l] % rows * width;
                for (size_t c = 0; c < width; c++) to[c] += row[c];
            }
        }
}

static bool is_split(const net *n) { return n->of->shards > 1; }

/* Of a table; one at least, since oneDNN knows no tensor without elements. */
static size_t rows_here(const net *n, size_t rows) {
    if (!is_split(n)) return rows;
    return rows > n->of->shard ? (rows - n->of->shard - 1) / n->of->shards + 1 : 1;
}

static size_t indices_count(const node *of) { return of->rows * (size_t)OPT(of, TABLES) * (size_t)OPT(of, LOOKUPS); }

/* Rows that others may have sent: those of a bag lie behind each other. */
static void sum_fetched(net *n, node *of) {
    const float *from = tensor_floats(n, of->kept[0]);
    float *out = tensor_floats(n, of->value);
    size_t bags = of->rows * (size_t)OPT(of, TABLES), lookups = (size_t)OPT(of, LOOKUPS),
           width = (size_t)OPT(of, WIDTH);
#pragma omp parallel for schedule(static)
    for (size_t bag = 0; bag < bags; bag++) {
        float *to = out + bag * width;
        memset(to, 0, width * sizeof *to);
        for (size_t l = 0; l < lookups; l++)
            for (size_t c = 0; c < width; c++) to[c] += from[(bag * lookups + l) * width + c];
    }
}

void forward_embedding_bag(net *n, node *of) {
    dnnl_memory_desc_t out = rows_desc(of->rows, of->columns);
    if (!take_indices(n, of)) return;
    for (size_t t = 0; t < (size_t)OPT(of, TABLES) && !n->failed; t++) {
        dnnl_memory_desc_t table = rows_desc(rows_here(n, rows_of_table(n, of, t)), (size_t)OPT(of, WIDTH));
        parameter_new(n, of, PACE_ROLE_TABLE, &table, &table, rows_of_table(n, of, t));
    }
    of->value = tensor_new(n, &out);
    if (is_split(n)) {
        dnnl_memory_desc_t fetched = rows_desc(indices_count(of), (size_t)OPT(of, WIDTH));
        of->kept[0] = tensor_new(n, &fetched);
    }
    act_function(n, of, PACE_PASS_FORWARD, is_split(n) ? sum_fetched : sum_rows);
}

/* Nothing is computed: the update takes the gradient of the sums, which stays until then. */
void backward_embedding_bag(net *n, node *of) {
    dnnl_memory_desc_t rows = rows_desc(of->rows, of->columns);
    own_gradient(n, of, PACE_PASS_WEIGHTS, &rows);
    tensor_also(n, of->gradient);
}

void rows_of_tables(const net *n, const parameter *p, pace_engine_rows *out) {
    const node *of = &n->nodes[p->layer];
    *out = (pace_engine_rows){.index = indices_of(n, of),
                              .gradient = tensor_floats(n, of->turned ? of->turned : of->gradient),
                              .indices = indices_count(of),
                              .gradients = of->rows * of->columns,
                              .tables = (size_t)OPT(of, TABLES),
                              .lookups = (size_t)OPT(of, LOOKUPS),
                              .width = (size_t)OPT(of, WIDTH),
                              .fetched = is_split(n) ? tensor_floats(n, of->kept[0]) : NULL};
}

void update_table_rows(net *n, parameter *p, float rate, const pace_engine_rows *given) {
    const node *of = &n->nodes[p->layer];
    pace_engine_rows own;
    rows_of_tables(n, p, &own);
    const int32_t *index = given ? given->index : own.index;
    const float *from = given ? given->gradient : own.gradient;
    float *table = tensor_floats(n, p->weights);
    size_t t = (size_t)(p - n->parameters) - of->first_parameter, rows = rows_of_table(n, of, t);
    size_t tables = (size_t)OPT(of, TABLES), lookups = (size_t)OPT(of, LOOKUPS), width = (size_t)OPT(of, WIDTH);
    size_t part = (width + 3) / 4;
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < 4; c++) {
        size_t first = c * part, last = first + part < width ? first + part : width;
        for (size_t s = 0; s < of->rows; s++)
            for (size_t l = 0; l < lookups; l++) {
                float *row = table + (size_t)index[(s * tables + t) * lookups + l] % rows * width;
                const float *slope = from + (s * tables + t) * width;
                for (size_t k = first; k < last; k++) row[k] -= rate * slope[k];
            }
    }
}
