#include "rows/kernel_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Sizes and times past these are slips of the pen, not measurements. */
static const double largest_size = 1e15, shortest_s = 1e-9, longest_s = 1e5;

typedef struct {
    pace_kernel_rows *rows;
    const pace_device_catalog *catalog;
    const pace_device *fallback;
    const char *last_name; /* devices come in runs */
    const pace_device *last_device;
} reader;

static const char *cell(const pace_kernel_rows *rows, size_t row, int column) {
    return column < 0 ? "" : pace_csv_cell(&rows->csv, row, (size_t)column);
}

/* Tables write "NV_V100" and "A100_SXM": each word for itself. */
static const pace_device *find_device(reader *r, const char *name) {
    if (r->last_name && strcmp(r->last_name, name) == 0) return r->last_device;
    r->last_name = name;
    r->last_device = pace_device_find(r->catalog, name, 0);
    return r->last_device;
}

static bool set_device(pace_kernel_row *out, reader *r, size_t row) {
    const char *name = cell(r->rows, row, r->rows->columns.device);
    out->device = *name ? find_device(r, name) : r->fallback;
    if (out->device) return true;
    if (*name) snprintf(out->status, sizeof out->status, "unknown device \"%.60s\"", name);
    else snprintf(out->status, sizeof out->status, "no device: expected a column \"device\" or --on");
    return false;
}

static bool set_words(pace_kernel_row *out, const reader *r, size_t row) {
    const pace_columns *columns = &r->rows->columns;
    const char *op = cell(r->rows, row, columns->op), *dtype = cell(r->rows, row, columns->dtype);
    const char *pass = cell(r->rows, row, columns->pass);
    out->op.precision = PACE_FP32;
    out->op.element_bytes = 4;
    if (*dtype && !pace_columns_dtype(&out->op, columns, dtype)) {
        snprintf(out->status, sizeof out->status, "unknown precision \"%.40s\"", dtype);
        return false;
    }
    if (*op && !pace_columns_op(&out->op, columns, op)) {
        snprintf(out->status, sizeof out->status, "unknown operation \"%.40s\"", op);
        return false;
    }
    if (*pass && !pace_columns_pass(&out->op, columns, pass)) {
        snprintf(out->status, sizeof out->status, "unknown pass \"%.40s\"", pass);
        return false;
    }
    return true;
}

static void mark_transposes(pace_op *op, const char *a, const char *b) {
    size_t length = strlen(op->kind);
    if ((!*a && !*b) || op->family != PACE_OP_GEMM || length + 3 >= sizeof op->kind) return;
    bool at = strchr("tTyY1", *a ? *a : 'n') != NULL, bt = strchr("tTyY1", *b ? *b : 'n') != NULL;
    snprintf(op->kind + length, sizeof op->kind - length, "%s%c%c", length ? "_" : "", at ? 't' : 'n', bt ? 't' : 'n');
}

static bool read_size(double *out, pace_kernel_row *row, const reader *r, const pace_size_column *size) {
    double product = 1;
    if (size->column[0] < 0) {
        *out = size->fallback;
        return true;
    }
    for (int i = 0; i < PACE_COLUMN_FACTORS && size->column[i] >= 0; i++) {
        const char *text = cell(r->rows, row->row, size->column[i]);
        double value;
        if (!*text && !isnan(size->fallback)) value = size->fallback;
        else if (!pace_csv_number(&value, text) || value < 0 || value > largest_size) {
            snprintf(row->status, sizeof row->status, "%.24s: expected a size, found \"%.30s\"",
                     pace_csv_name(&r->rows->csv, (size_t)size->column[i]), text);
            return false;
        }
        product *= value;
    }
    *out = product;
    return true;
}

static bool set_sizes(pace_kernel_row *out, const reader *r) {
    unsigned count;
    const pace_layout *layout = pace_columns_layout(&r->rows->columns, out->op.family);
    if (!layout || layout->missing >= 0) {
        const char *missing = layout ? pace_op_size_names(layout->family, &count)[layout->missing] : "sizes";
        snprintf(out->status, sizeof out->status, "family %s needs a column \"%s\"",
                 pace_op_family_name(out->op.family), missing);
        return false;
    }
    bool named = out->op.family != PACE_OP_UNKNOWN;
    out->op.family = layout->family;
    pace_op_size_names(layout->family, &count);
    for (unsigned i = 0; i < count; i++) {
        /* The op's name says how many tensors an element-wise operation reads, unless a column does. */
        if (layout->family == PACE_OP_ELEMENTWISE && named && i > 0 && layout->size[i].column[0] < 0) continue;
        if (!read_size(&out->op.size[i], out, r, &layout->size[i])) return false;
    }
    mark_transposes(&out->op, cell(r->rows, out->row, r->rows->columns.trans_a),
                    cell(r->rows, out->row, r->rows->columns.trans_b));
    out->shape = pace_hash(out->op.size, sizeof out->op.size) ^ (uint64_t)out->op.family;
    return true;
}

static bool set_time(pace_kernel_row *out, const reader *r, const pace_measured_column *measured) {
    const char *text = cell(r->rows, out->row, measured->column);
    double value;
    out->time_s = NAN;
    if (measured->pass != PACE_PASSES) out->op.pass = measured->pass;
    if (!*text || strcasecmp(text, "nan") == 0) return true;
    if (pace_csv_number(&value, text) && value * measured->unit_s >= shortest_s &&
        value * measured->unit_s <= longest_s)
        out->time_s = value * measured->unit_s;
    else
        snprintf(out->status, sizeof out->status, "%.24s: not a time that was measured: \"%.30s\"",
                 pace_csv_name(&r->rows->csv, (size_t)measured->column), text);
    return true;
}

static pace_status add_row(reader *r, size_t row) {
    const pace_columns *columns = &r->rows->columns;
    pace_kernel_row asked = {.row = (uint32_t)row, .time_s = NAN};
    asked.source = cell(r->rows, row, columns->source);
    bool good = set_device(&asked, r, row) && set_words(&asked, r, row) && set_sizes(&asked, r);
    for (unsigned i = 0; i < columns->measured_count || i == 0; i++) {
        pace_kernel_row one = asked;
        one.measured = i;
        if (columns->measured_count > 0 && (good || i > 0 || columns->measured_count == 1))
            set_time(&one, r, &columns->measured[i]);
        if (!good) memcpy(one.status, asked.status, sizeof one.status);
        else if (!pace_op_complete(&one.op) && !*one.status)
            snprintf(one.status, sizeof one.status, "sizes of family %s are not all above 0",
                     pace_op_family_name(one.op.family));
        PACE_TRY(PACE_PUSH(&r->rows->rows, one));
    }
    return PACE_OK;
}

static pace_status read_rows(pace_kernel_rows *rows, const pace_device_catalog *catalog, const pace_device *device) {
    reader r = {rows, catalog, device, NULL, NULL};
    PACE_TRY(pace_columns_find(&rows->columns, &rows->csv));
    if (rows->columns.op < 0 && !pace_columns_layout(&rows->columns, PACE_OP_UNKNOWN))
        return pace_columns_fail(&rows->columns, &rows->csv, PACE_OP_UNKNOWN);
    for (size_t i = 0; i < rows->csv.rows; i++) PACE_TRY(add_row(&r, i));
    return PACE_OK;
}

pace_status pace_kernel_rows_read(pace_kernel_rows *out, pace_input *input, const pace_device_catalog *catalog,
                                  const pace_device *device) {
    pace_kernel_rows rows = {0};
    PACE_TRY(pace_csv_read(&rows.csv, input));
    pace_status status = read_rows(&rows, catalog, device);
    if (status != PACE_OK) pace_kernel_rows_free(&rows);
    else *out = rows;
    return status;
}

pace_status pace_kernel_rows_open(pace_kernel_rows *out, const char *path, const pace_device_catalog *catalog,
                                  const pace_device *device) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_kernel_rows_read(out, input, catalog, device);
    pace_input_free(input);
    return status;
}

void pace_kernel_rows_free(pace_kernel_rows *rows) {
    pace_csv_free(&rows->csv);
    pace_columns_free(&rows->columns);
    PACE_VEC_FREE(&rows->rows);
}
