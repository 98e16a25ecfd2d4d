#include "ask/rows/kernel_rows.h"
#include "ask/rows/device_cell.h"
#include "ask/rows/kernel_rates.h"
#include "ask/rows/size_cell.h"
#include "base/decimal.h"
#include "base/sort.h"
#include "exchange/algorithms.h"
#include "ask/rows/column_words.h"
#include "ask/rows/measured_cell.h"
#include "ask/rows/measured_columns.h"
#include "ask/rows/shape_text.h"
#include "base/print.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes and times past these are slips of the pen, not measurements. */
static const double shortest_s = 1e-9, longest_s = 1e5;

/* A word and what it means: tables say few words many times. */
typedef struct {
    const char *text;
    bool known;
    char refused[PACE_DEVICE_CELL_REFUSED]; /* figures of a device that it cannot have */
    pace_op_words words;
    const pace_device *device;
} memo;

typedef struct {
    pace_kernel_rows *rows;
    pace_device_catalog *catalog;
    const pace_device *fallback;
    size_t memos; /* of each kind: a power of two */
    memo *ops, *dtypes, *passes, *devices;
} reader;

/* The place of a text; *fresh: what it means is not there yet. */
static memo *recall(const reader *r, memo *memos, const char *text, bool *fresh) {
    memo *at = &memos[pace_hash(text, strlen(text)) & (r->memos - 1)];
    *fresh = !at->text || strcmp(at->text, text) != 0;
    if (*fresh) *at = (memo){.text = text};
    return at;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static bool set_device(pace_kernel_row *out, reader *r, size_t row) {
    const char *name = pace_csv_at(&r->rows->csv, row, r->rows->columns.device);
    bool fresh;
    memo *known = recall(r, r->devices, name, &fresh);
    if (fresh)
        known->device =
            pace_device_cell_is_place(name) ? r->fallback : pace_device_cell_read(known->refused, r->catalog, name);
    out->device = known->device;
    if (out->device) return true;
    if (*known->refused) snprintf(out->status, sizeof out->status, "%s", known->refused);
    else if (!pace_device_cell_is_place(name))
        snprintf(out->status, sizeof out->status, "unknown device \"%.60s\"; the closest name is \"%.40s\"", name,
                 pace_device_cell_closest(r->catalog, name));
    else snprintf(out->status, sizeof out->status, "no device: expected a column \"device\" or --on");
    return false;
}

static bool set_dtype(pace_kernel_row *out, reader *r, const char *dtype) {
    bool fresh;
    memo *known = recall(r, r->dtypes, dtype, &fresh);
    if (fresh) known->known = pace_columns_dtype(&known->words.op, &r->rows->columns, dtype);
    if (!known->known) return false;
    out->op.precision = known->words.op.precision;
    out->op.element_bytes = known->words.op.element_bytes;
    return true;
}

static bool set_op(pace_op_words *out, reader *r, const char *op) {
    bool fresh;
    memo *known = recall(r, r->ops, op, &fresh);
    if (fresh) {
        known->words = PACE_OP_NO_WORDS;
        known->known = pace_columns_op(&known->words, &r->rows->columns, op);
    }
    if (known->known) *out = known->words;
    return known->known;
}

static bool set_pass(pace_op_words *out, reader *r, const char *pass) {
    bool fresh;
    memo *known = recall(r, r->passes, pass, &fresh);
    if (fresh) known->known = pace_columns_pass(&known->words, &r->rows->columns, pass);
    if (!known->known) return false;
    out->op.pass = known->words.op.pass;
    out->both = known->words.both;
    return true;
}

static bool no_op(pace_kernel_row *out, const reader *r, const char *op) {
    pace_collective collective;
    if (pace_collective_find(&collective, op))
        snprintf(out->status, sizeof out->status, "\"%.40s\" is an exchange: ask with --kind exchange", op);
    else if (r->rows->columns.op_is_hint)
        snprintf(out->status, sizeof out->status, "\"%.60s\" names no operation with sizes: expected a column \"op\"",
                 op);
    else snprintf(out->status, sizeof out->status, "unknown operation \"%.60s\"", op);
    return false;
}

/* What does not multiply 4 bits multiplies the unpacked operands in ways no table tells of. */
static bool has_rate(pace_kernel_row *out) {
    if (out->op.precision != PACE_FP4 || out->device->flop_per_s[PACE_FP4] > 0) return true;
    snprintf(out->status, sizeof out->status, "no rate of %.40s for products of 4 bits is known", out->device->name);
    return false;
}

static bool set_words(pace_kernel_row *out, pace_op_words *words, reader *r, size_t row, const char *op) {
    const pace_columns *columns = &r->rows->columns;
    const char *dtype = pace_csv_at(&r->rows->csv, row, columns->dtype);
    const char *pass = pace_csv_at(&r->rows->csv, row, columns->pass);
    pace_op_words moved;
    *words = PACE_OP_NO_WORDS;
    if (*op && !set_op(words, r, op)) return no_op(out, r, op);
    bool direction = *pass && !set_pass(words, r, pass); /* of a transfer: "h2d" */
    if (direction && set_op(&moved, r, pass) && moved.op.family == PACE_OP_TRANSFER) *words = moved;
    else if (direction) {
        snprintf(out->status, sizeof out->status, "unknown pass \"%.40s\"", pass);
        return false;
    }
    out->op = words->op;
    if (out->op.element_bytes == 0) out->op.precision = PACE_FP32, out->op.element_bytes = 4;
    if (!*dtype || set_dtype(out, r, dtype)) return has_rate(out);
    if ((columns->op < 0 || columns->op_is_hint) &&
        set_op(&moved, r, dtype)) { /* a column "type" may name the operation */
        *words = moved;
        words->op.precision = out->op.precision;
        words->op.element_bytes = out->op.element_bytes;
        out->op = words->op;
        return true;
    }
    snprintf(out->status, sizeof out->status, "unknown precision \"%.40s\"", dtype);
    return false;
}

/* A layer's product of 8 or 4 bits may hold more than the product. */
static void mark_quantised(pace_kernel_row *out, const reader *r) {
    const pace_columns *columns = &r->rows->columns;
    pace_op *op = &out->op;
    bool narrow = op->precision == PACE_FP8 || op->precision == PACE_INT8 || op->precision == PACE_FP4;
    if (!narrow || op->family != PACE_OP_GEMM || op->pass != PACE_PASS_FORWARD) return;
    const char *how =
        pace_columns_quantised(columns, out->source, pace_csv_at(&r->rows->csv, out->row, columns->dtype));
    size_t length = strlen(op->kind);
    if (*how && length + 1 + strlen(how) < sizeof op->kind) pace_list(op->kind, sizeof op->kind, "_", "%s", how);
}

static bool is_order(const char *layout) { return strlen(layout) == 2 && strspn(layout, "nNtT") == 2; }

/* Which column says how operands lie, and whether that is a word for products. */
static void find_order(pace_kernel_row *out, const char *a, const char *b, const char *layout) {
    static const char no[] = "nNfF0-", yes[] = "tTyY1cC";
    const char *text = *layout ? layout : *a && !strchr(no, *a) ? a : *b && !strchr(no, *b) ? b : "";
    bool usual = !*text || (is_order(layout) && strspn(layout, "nN") == 2);
    out->ordered = usual ? "" : text == layout ? "layout" : text == a ? "trans_a" : "trans_b";
    out->order_known =
        out->op.family == PACE_OP_GEMM && (text == layout ? is_order(layout) : *text && strchr(yes, *text));
}

/* "NT", "TN": of the columns trans_a and trans_b, or of one. */
static void mark_transposes(pace_kernel_row *out, const char *a, const char *b, const char *layout) {
    pace_op *op = &out->op;
    size_t length = strlen(op->kind);
    find_order(out, a, b, layout);
    if (is_order(layout)) a = layout, b = layout + 1;
    if ((!*a && !*b) || op->family != PACE_OP_GEMM || length + 3 >= sizeof op->kind) return;
    bool at = strchr("tTyY1cC", *a ? *a : 'n') != NULL, bt = strchr("tTyY1cC", *b ? *b : 'n') != NULL;
    pace_list(op->kind, sizeof op->kind, "_", "%c%c", at ? 't' : 'n', bt ? 't' : 'n');
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

typedef enum { NOT_THERE, READ, WRONG } reading;

/* What a byte of an amount of bytes counts as; 0 where that says no size. */
static double count_of_byte(const pace_layout *layout, const pace_op *op) {
    if (layout->in_bytes || layout->family == PACE_OP_TRANSFER) return 1;
    return layout->family == PACE_OP_COPY ? 1.0 / op->element_bytes : 0;
}

/* Whether a size may be a mean: of what each sample looks up. */
static bool may_be_mean(const pace_layout *layout, unsigned at) {
    return layout->family == PACE_OP_EMBEDDING && strcmp(layout->names[at], "lookups") == 0;
}

/* Whether a size is a flag, of which "True" is 1. */
static bool is_flag(const pace_layout *layout, unsigned at) {
    return layout->family == PACE_OP_ATTENTION && strcmp(layout->names[at], "causal") == 0;
}

static reading read_source(double *out, pace_kernel_row *row, const reader *r, const pace_size_source *source,
                           const pace_layout *layout, unsigned at) {
    double of_byte = source->scale == 1 ? count_of_byte(layout, &row->op) : 0;
    bool whole = source->scale == 1 && !may_be_mean(layout, at);
    double product = 1, sum = 0;
    for (unsigned i = 0; i < source->count; i++) {
        const char *text = pace_csv_at(&r->rows->csv, row->row, source->column[i]);
        double value;
        if (!*text || pace_strcasecmp(text, "nan") == 0 || pace_strcasecmp(text, "none") == 0 || strcmp(text, "-") == 0)
            return NOT_THERE;
        bool part = whole && pace_size_cell_is_part(text);
        bool flag = is_flag(layout, at) && pace_size_cell_flag(&value, text);
        if (part || (!flag && !pace_size_cell_read(&value, text, of_byte))) {
            snprintf(row->status, sizeof row->status, "%.24s: expected a %s, found \"%.30s\"",
                     pace_csv_name(&r->rows->csv, (size_t)source->column[i]), part ? "whole number" : "size", text);
            return WRONG;
        }
        product *= value;
        sum += value;
    }
    *out = (source->sum ? sum : product) * source->scale;
    return READ;
}

static bool is_shape_column(const pace_columns *columns, int column) {
    for (unsigned i = 0; i < columns->shape_count; i++)
        if (columns->shape[i] == column) return true;
    return false;
}

/* The first source that is there; NAN when none is. */
static bool read_size(double *out, pace_kernel_row *row, const reader *r, const pace_layout *layout, unsigned at) {
    const pace_size_column *size = &layout->size[at];
    *out = NAN;
    for (unsigned i = 0; i < size->count; i++) {
        reading got = read_source(out, row, r, &size->from[i], layout, at);
        if (got == READ) return true;
        if (got == NOT_THERE) continue;
        pace_shape_text shape;
        const char *text = pace_csv_at(&r->rows->csv, row->row, size->from[i].column[0]);
        if (!is_shape_column(&r->rows->columns, size->from[i].column[0]) || !pace_shape_parse(&shape, text))
            return false;
        *row->status = '\0'; /* a shape, to be read as one */
    }
    return true;
}

/* What the columns of shapes say: those without an order of their own are tensor after tensor of one operation. */
static void read_shapes(pace_op *op, size_t row, const reader *r) {
    const pace_columns *columns = &r->rows->columns;
    pace_shape_text all = {0};
    for (unsigned i = 0; i < columns->shape_count; i++) {
        pace_shape_text shape;
        const char *text = pace_csv_at(&r->rows->csv, row, columns->shape[i]);
        if (!*text || !pace_shape_parse(&shape, text)) continue;
        if (*columns->shape_order[i] || shape.letter[0]) pace_shape_fill(op, &shape, columns->shape_order[i]);
        else pace_shape_append(&all, &shape);
    }
    if (all.tensors > 0) pace_shape_fill(op, &all, "");
}

/* Whether shapes alone give other work than the sizes found. Tables order sizes and split batches in their own ways. */
static bool shapes_differ(const pace_kernel_row *row, const reader *r) {
    pace_op said = row->op;
    double of_shapes = 1, found = 1;
    for (unsigned i = 0; i < PACE_OP_SIZES; i++) said.size[i] = NAN;
    read_shapes(&said, row->row, r);
    for (unsigned i = 0; i < PACE_OP_SIZES; i++)
        if (!isnan(said.size[i])) of_shapes *= said.size[i], found *= row->op.size[i];
    return of_shapes != found;
}

/* Whether a cell of a shape gives nothing. */
static bool shape_unread(const pace_kernel_row *row, const reader *r) {
    pace_op said = row->op;
    bool any = false;
    for (unsigned i = 0; i < PACE_OP_SIZES; i++) said.size[i] = NAN;
    read_shapes(&said, row->row, r);
    for (unsigned i = 0; i < PACE_OP_SIZES; i++) any |= !isnan(said.size[i]);
    return !any;
}

/* Whether columns of shapes say something in vain; a number of what counts bytes is no shape. */
static bool shape_in_vain(const pace_kernel_row *row, const reader *r) {
    const pace_columns *columns = &r->rows->columns;
    bool any = false;
    for (unsigned i = 0; i < columns->shape_count; i++)
        any |= pace_size_cell_is_shape(pace_csv_at(&r->rows->csv, row->row, columns->shape[i]),
                                       row->op.family == PACE_OP_TRANSFER);
    return any && (shapes_differ(row, r) || shape_unread(row, r));
}

/* A shape whose dimensions have fractions is none. */
static void say_fraction(pace_kernel_row *out, const reader *r) {
    const pace_columns *columns = &r->rows->columns;
    for (unsigned i = 0; i < columns->shape_count && !*out->status; i++) {
        const char *text = pace_csv_at(&r->rows->csv, out->row, columns->shape[i]);
        if (pace_shape_has_fraction(text))
            snprintf(out->status, sizeof out->status, "%.24s: expected whole numbers, found \"%.40s\"",
                     pace_csv_name(&r->rows->csv, (size_t)columns->shape[i]), text);
    }
}

static void say_missing(pace_kernel_row *out, const reader *r, const pace_layout *layout, unsigned size) {
    say_fraction(out, r);
    if (*out->status) return;
    snprintf(out->status, sizeof out->status, "%s %s needs a column \"%s\"", layout->compound ? "operation" : "family",
             layout->compound ? pace_compound_name(layout->compound) : pace_op_family_name(layout->family),
             layout->names[size]);
}

enum { KV_HEADS = 2, QUERIES, KEYS, HEAD_DIM, CAUSAL }; /* sizes of attention */

/* Words for no window; another that is no number has no effect. */
static void slide_window(pace_kernel_row *out, const reader *r) {
    double window;
    const char *text = pace_csv_at(&r->rows->csv, out->row, r->rows->columns.window);
    if (out->op.family != PACE_OP_ATTENTION) {
        out->windowed = *text ? "window" : "";
        return;
    }
    if (!pace_csv_number(&window, text)) {
        out->windowed = *text && !pace_says_no_window(text) ? "window" : "";
        return;
    }
    pace_attention_slide(out->op.size, window);
}

/* Sizes as one layout finds them, then as shapes say, then by default. */
static bool fill_sizes(pace_kernel_row *out, const pace_op_words *words, const reader *r, const pace_layout *layout) {
    bool named = words->op.family != PACE_OP_UNKNOWN;
    out->op.family = layout->family;
    for (unsigned i = 0; i < layout->count; i++)
        if (!read_size(&out->op.size[i], out, r, layout, i)) return false;
    if (layout->in_bytes) out->op.size[0] /= out->op.element_bytes;
    if (layout->family == PACE_OP_ATTENTION) {
        if (!isnan(words->queries)) out->op.size[QUERIES] = words->queries;
        if (!isnan(words->kv_heads)) out->op.size[KV_HEADS] = words->kv_heads;
        if (!isnan(words->head_dim)) out->op.size[HEAD_DIM] = words->head_dim;
        if (isnan(out->op.size[CAUSAL])) out->op.size[CAUSAL] = words->causal;
    }
    if (r->rows->columns.shape_count > 0 && !layout->compound) read_shapes(&out->op, out->row, r);
    for (unsigned i = 0; i < layout->count; i++) {
        /* The op's name says how many tensors an element-wise operation reads, unless a column does. */
        bool tensors = layout->family == PACE_OP_ELEMENTWISE && named && i > 0;
        if (isnan(out->op.size[i])) out->op.size[i] = tensors ? words->op.size[i] : layout->size[i].fallback;
        if (!isnan(out->op.size[i])) continue;
        say_missing(out, r, layout, i);
        return false;
    }
    out->shaped = !layout->compound && shape_in_vain(out, r) ? "shape" : "";
    slide_window(out, r);
    return true;
}

/* Without an operation's name, two tensors of four dimensions are a convolution, other shapes a product; not one size
 * with bytes a second, which copies and exchanges have too. */
static pace_op_family family_of_shape(pace_kernel_row *row, const reader *r) {
    const pace_columns *columns = &r->rows->columns;
    pace_shape_text shape;
    for (unsigned i = 0; i < columns->shape_count; i++) {
        if (!pace_shape_parse(&shape, pace_csv_at(&r->rows->csv, row->row, columns->shape[i]))) continue;
        if (shape.tensors == 1 && shape.dims[0] == 1 && pace_measured_tells_bytes(columns)) {
            snprintf(row->status, sizeof row->status,
                     "bytes a second of one size may be any operation's: name it in a column \"op\" or by --set op=");
            break;
        }
        return shape.tensors > 1 && shape.dims[0] == 4 && shape.dims[1] == 4 && shape.dim[0][0] != shape.dim[1][0]
                   ? PACE_OP_CONVOLUTION
                   : PACE_OP_GEMM;
    }
    return PACE_OP_UNKNOWN;
}

static bool set_sizes(pace_kernel_row *out, const pace_op_words *words, const reader *r, pace_compound *compound) {
    const pace_columns *columns = &r->rows->columns;
    pace_op_family family = words->op.family;
    const pace_op asked = out->op;
    const pace_layout *layout = NULL;
    if (family == PACE_OP_UNKNOWN && !words->compound &&
        !pace_columns_layout(columns, PACE_OP_UNKNOWN, PACE_COMPOUND_NONE, NULL))
        family = family_of_shape(out, r);
    while ((layout = pace_columns_layout(columns, family, words->compound, layout))) {
        out->op = asked;
        *compound = layout->compound;
        if (fill_sizes(out, words, r, layout)) {
            *out->status = '\0';
            mark_quantised(out, r);
            mark_transposes(out, pace_csv_at(&r->rows->csv, out->row, columns->trans_a),
                            pace_csv_at(&r->rows->csv, out->row, columns->trans_b),
                            pace_csv_at(&r->rows->csv, out->row, columns->layout));
            out->shape = pace_hash(out->op.size, sizeof out->op.size) ^ (uint64_t)out->op.family;
            return true;
        }
    }
    out->op = asked;
    say_fraction(out, r);
    if (!*out->status)
        snprintf(out->status, sizeof out->status, "no sizes: expected columns such as m, n, k, or \"shape\"");
    return false;
}

/* --- times -------------------------------------------------------------------------------------------------------- */

void pace_kernel_unit_refuse(pace_kernel_row *row, const pace_kernel_rows *rows, const char *found) {
    snprintf(row->status, sizeof row->status, "%.24s: expected a unit of time such as us, found \"%.30s\"",
             pace_csv_name(&rows->csv, (size_t)rows->columns.unit), found);
}

/* A time in the column's unit, else in that of the row's own column of units, else in the cell's own; where nothing
 * says one, pace_kernel_units_settle() does. */
static pace_measured_cell read_time(double *out, pace_kernel_row *row, const reader *r, const char *text, double unit) {
    const pace_yaml *yaml = r->rows->columns.yaml;
    const char *said = unit > 0 ? "" : pace_csv_at(&r->rows->csv, row->row, r->rows->columns.unit);
    if (*said && (unit = pace_time_unit(yaml, said)) > 0) row->unit = said, row->unit_s = unit;
    pace_measured_cell told = pace_measured_time(out, yaml, text, unit);
    if (told != PACE_CELL_REFUSED || unit > 0 || *said) return told;
    told = pace_measured_time(out, yaml, text, 1);
    row->open_unit = told == PACE_CELL_MEASURED;
    return told;
}

static void set_time(pace_kernel_row *out, const reader *r, const pace_measured_column *measured) {
    const char *text = pace_csv_at(&r->rows->csv, out->row, measured->column);
    bool rate = measured->kind != PACE_MEASURED_TIME;
    double value;
    pace_measured_cell told =
        rate ? pace_measured_rate(&value, text) : read_time(&value, out, r, text, measured->unit_s);
    if (told == PACE_CELL_SILENT) return;
    if (told == PACE_CELL_MEASURED && rate) value *= measured->unit_s;
    bool can_be = rate || out->open_unit || (value >= shortest_s && value <= longest_s);
    const char *unit = rate || measured->unit_s > 0 ? "" : pace_csv_at(&r->rows->csv, out->row, r->rows->columns.unit);
    if (told == PACE_CELL_MEASURED && can_be) out->time_s = value;
    else if (*unit && !out->unit) pace_kernel_unit_refuse(out, r->rows, unit);
    else pace_measured_refuse(out->status, pace_csv_name(&r->rows->csv, (size_t)measured->column), rate, text);
}

static void set_timed(pace_kernel_row *out, const pace_columns *columns, const char *text) {
    if (*text && !pace_columns_timed(&out->called, columns->yaml, text)) out->timed = "timed";
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static pace_status add_parts(pace_kernel_rows *rows, pace_kernel_row *one, const pace_op_part *parts, unsigned count) {
    if (one->part_count == 0) one->first_part = (uint32_t)rows->parts.count;
    for (unsigned i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&rows->parts, parts[i]));
    one->part_count += count;
    return PACE_OK;
}

static void sum_work(pace_op *op, const pace_kernel_rows *rows, const pace_kernel_row *row) {
    op->flop = op->read_bytes = op->write_bytes = 0;
    for (uint32_t i = 0; i < row->part_count; i++) {
        const pace_op_part *part = &rows->parts.items[row->first_part + i];
        op->flop += part->count * part->op.flop;
        op->read_bytes += part->count * part->op.read_bytes;
        op->write_bytes += part->count * part->op.write_bytes;
    }
}

/* The work of one question: of the operation, of its parts, or of both passes. */
static pace_status complete(pace_kernel_row *one, reader *r, pace_compound compound, bool both) {
    bool good = true;
    int passes = both ? 2 : compound ? 1 : 0;
    if (passes == 0) good = pace_op_complete(&one->op);
    for (int pass = 0; good && pass < passes; pass++) {
        pace_op_part parts[PACE_COMPOUND_PARTS] = {{one->op, 1}};
        unsigned count = 1;
        if (both) parts[0].op.pass = pass ? PACE_PASS_BACKWARD : PACE_PASS_FORWARD;
        pace_op like = parts[0].op;
        if (compound) count = pace_compound_parts(parts, compound, &like);
        else good = pace_op_complete(&parts[0].op);
        good = good && count > 0;
        if (good) PACE_TRY(add_parts(r->rows, one, parts, count));
    }
    if (good && one->part_count > 0) sum_work(&one->op, r->rows, one);
    if (!good && !*one->status)
        snprintf(one->status, sizeof one->status, "sizes of %s are not all above 0",
                 compound ? pace_compound_name(compound) : pace_op_family_name(one->op.family));
    if (!good) one->op.flop = one->op.read_bytes = one->op.write_bytes = 0;
    return PACE_OK;
}

/* What a row asks of the operation of this name; false where it cannot be asked. */
static bool set_row(pace_kernel_row *out, pace_op_words *words, pace_compound *compound, reader *r, size_t row,
                    const char *op) {
    *out = (pace_kernel_row){
        .row = (uint32_t)row, .ordered = "", .windowed = "", .shaped = "", .timed = "", .time_s = NAN};
    *words = PACE_OP_NO_WORDS;
    *compound = PACE_COMPOUND_NONE;
    out->source = pace_csv_at(&r->rows->csv, row, r->rows->columns.source);
    set_timed(out, &r->rows->columns, pace_csv_at(&r->rows->csv, row, r->rows->columns.timed));
    return set_device(out, r, row) && set_words(out, words, r, row, op) && set_sizes(out, words, r, compound);
}

static pace_status add_row(reader *r, size_t row) {
    const pace_columns *columns = &r->rows->columns;
    pace_kernel_row asked;
    pace_op_words words;
    pace_compound compound = PACE_COMPOUND_NONE;
    const char *set = NULL;
    bool good = false;
    for (unsigned i = 0; i < columns->measured_count || i == 0; i++) {
        const pace_measured_column *measured = columns->measured_count > 0 ? &columns->measured[i] : NULL;
        const char *op = measured && measured->link ? pace_csv_name(&r->rows->csv, (size_t)measured->column)
                                                    : pace_csv_at(&r->rows->csv, row, columns->op);
        if (op != set) good = set_row(&asked, &words, &compound, r, row, op);
        set = op;
        pace_kernel_row one = asked;
        one.measured = i;
        if (good && measured) {
            set_time(&one, r, measured);
            if (measured->pass != PACE_PASSES) one.op.pass = measured->pass;
        }
        bool both = measured && measured->pass != PACE_PASSES ? false : words.both || (measured && measured->both);
        if (good) PACE_TRY(complete(&one, r, compound, both));
        if (measured && measured->kind != PACE_MEASURED_TIME && one.time_s > 0)
            one.time_s = pace_kernel_rate_work(measured->kind, &one.op) / one.time_s;
        PACE_TRY(PACE_PUSH(&r->rows->rows, one));
    }
    return PACE_OK;
}

bool pace_kernel_row_can_ask(const pace_kernel_row *row) {
    return row->device && row->op.flop + row->op.read_bytes + row->op.write_bytes > 0;
}

pace_status pace_kernel_row_price(pace_estimate *out_s, const pace_cost *cost, const pace_kernel_rows *rows,
                                  const pace_kernel_row *row) {
    pace_estimate sum = {0, 0, PACE_RUNG_MEASURED, 0};
    if (row->part_count == 0) return pace_cost_op_from(out_s, cost, row->device, &row->op, row->source);
    for (uint32_t i = 0; i < row->part_count; i++) {
        const pace_op_part *part = &rows->parts.items[row->first_part + i];
        pace_estimate one;
        PACE_TRY(pace_cost_op_from(&one, cost, row->device, &part->op, row->source));
        sum.median += part->count * one.median;
        sum.least += part->count * one.least;
        sum.spread += part->count * one.median * one.spread;
        if (one.rung > sum.rung) sum.rung = one.rung;
    }
    sum.spread /= sum.median;
    *out_s = sum;
    return PACE_OK;
}

const char *pace_kernel_row_beyond(const pace_cost *cost, const pace_kernel_rows *rows, const pace_kernel_row *row) {
    const char *beyond = NULL;
    if (row->part_count == 0) return pace_cost_beyond(cost, row->device, &row->op, row->source);
    for (uint32_t i = 0; i < row->part_count && !beyond; i++)
        beyond = pace_cost_beyond(cost, row->device, &rows->parts.items[row->first_part + i].op, row->source);
    return beyond;
}

static pace_status read_rows(pace_kernel_rows *rows, pace_device_catalog *catalog, const pace_device *device) {
    enum { MOST_MEMOS = 256 };
    reader r = {.rows = rows, .catalog = catalog, .fallback = device};
    r.memos = pace_slots_for(rows->csv.rows, MOST_MEMOS);
    if (!(r.ops = pace_alloc(4 * r.memos, sizeof *r.ops))) return PACE_E_MEMORY;
    r.dtypes = r.ops + r.memos, r.passes = r.dtypes + r.memos, r.devices = r.passes + r.memos;
    pace_status status = pace_columns_find(&rows->columns, catalog->documents, &rows->csv);
    const pace_columns *columns = &rows->columns;
    if (status == PACE_OK && columns->op < 0 && columns->dtype < 0 && columns->shape_count == 0 &&
        !pace_measured_links(columns) && !pace_columns_layout(columns, PACE_OP_UNKNOWN, PACE_COMPOUND_NONE, NULL))
        status = pace_columns_fail(columns, &rows->csv, PACE_OP_UNKNOWN);
    for (size_t i = 0; status == PACE_OK && i < rows->csv.rows; i++) status = add_row(&r, i);
    pace_free(r.ops);
    return status;
}

pace_status pace_kernel_rows_read(pace_kernel_rows *out, pace_input *input, pace_device_catalog *catalog,
                                  const pace_device *device) {
    pace_kernel_rows rows = {0};
    PACE_TRY(pace_csv_read(&rows.csv, input));
    pace_status status = read_rows(&rows, catalog, device);
    return PACE_GIVE(out, rows, status, pace_kernel_rows_free(&rows));
}

void pace_kernel_rows_free(pace_kernel_rows *rows) {
    pace_csv_free(&rows->csv);
    PACE_VEC_FREE(&rows->rows, &rows->parts);
}
