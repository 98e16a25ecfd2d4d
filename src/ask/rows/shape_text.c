#include "ask/rows/shape_text.h"
#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static const double largest_dimension = 1e12;

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct {
    pace_shape_text *shape;
    bool open; /* the tensor at hand has a dimension */
} reader;

static void end_tensor(reader *r) {
    if (r->open && r->shape->tensors < PACE_SHAPE_TENSORS) r->shape->tensors++;
    r->open = false;
}

static bool add_dimension(reader *r, double value, char letter) {
    pace_shape_text *s = r->shape;
    if (s->tensors == PACE_SHAPE_TENSORS) return true; /* of the tensors past these nothing is needed */
    if (!r->open) s->dims[s->tensors] = 0;
    if (s->dims[s->tensors] == PACE_SHAPE_DIMS || !(value <= largest_dimension) || value != floor(value)) return false;
    if (s->tensors == 0) s->letter[s->dims[0]] = letter;
    s->dim[s->tensors][s->dims[s->tensors]++] = value;
    r->open = true;
    return true;
}

static bool is_cross(const char *at) {
    return *at == 'x' || *at == 'X' || *at == '*' || memcmp(at, "\xc3\x97", strlen(at) > 1 ? 2 : 1) == 0;
}

/* Whether commas part tensors: where crosses join the dimensions of each. */
static bool commas_part(const char *cell) {
    for (const char *at = cell; *at; at++)
        if (at > cell && pace_is_digit(at[-1]) && is_cross(at)) return strpbrk(cell, "[(") == NULL;
    return false;
}

/* What stands behind a number: "4k" is 4096, as in "4kx4k"; NULL for an amount of bytes, which is no dimension. */
static const char *scale(double *value, const char *at) {
    const char *word = at + strspn(at, " ");
    size_t letters = strspn(word, "KMGTkmgtiBb");
    bool ends = !pace_is_alnum(word[letters]);
    if (ends && letters > 1 && (word[letters - 1] | 0x20) == 'b') return NULL;
    if (letters == 1 && *word == 'B' && !word[1]) return NULL;
    bool joined = (at[0] == 'k' || at[0] == 'K' || at[0] == 'M') &&
                  (!pace_is_alnum(at[1]) || (is_cross(at + 1) && pace_is_digit(at[2])));
    if (!joined) return at;
    *value *= at[0] == 'M' ? 1048576 : 1024;
    return at + 1;
}

bool pace_shape_has_fraction(const char *cell) {
    for (const char *at = cell; *at;) {
        double value;
        const char *end = pace_is_digit(*at) ? pace_number_read(&value, at) : NULL;
        if (end) end = scale(&value, end);
        if (end && value != floor(value)) return true;
        at = end ? end : at + 1;
    }
    return false;
}

bool pace_shape_parse(pace_shape_text *out, const char *cell) {
    pace_shape_text shape = {0};
    reader r = {.shape = &shape};
    bool parted = commas_part(cell);
    char letter = 0;
    for (const char *at = cell; *at;) {
        if (pace_is_digit(*at)) {
            double value;
            const char *end = pace_number_read(&value, at);
            if (end) end = scale(&value, end);
            if (!end || !add_dimension(&r, value, letter)) return false;
            at = end;
            letter = 0;
            continue;
        }
        if (*at == '[' || *at == '(' || *at == '{' || *at == ']' || *at == ')' || *at == '}' || *at == ';' ||
            *at == '|' || *at == '@' || (*at == ',' && parted))
            end_tensor(&r), letter = 0;
        else if (!is_cross(at) && ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') &&
                 !(at > cell && pace_is_alnum(at[-1]) && !pace_is_digit(at[-1])))
            letter = (char)(*at | 0x20);
        else if (*at == '-' && pace_is_digit(at[1])) return false;
        at++;
    }
    end_tensor(&r);
    if (shape.tensors == 0) return false;
    *out = shape;
    return true;
}

void pace_shape_append(pace_shape_text *out, const pace_shape_text *more) {
    for (unsigned t = 0; t < more->tensors && out->tensors < PACE_SHAPE_TENSORS; t++) {
        out->dims[out->tensors] = more->dims[t];
        memcpy(out->dim[out->tensors++], more->dim[t], sizeof *out->dim);
    }
}

/* --- meaning ------------------------------------------------------------------------------------------------------ */

static void fill(pace_op *op, int at, double value) {
    if (isnan(op->size[at])) op->size[at] = value;
}

static double product(const double *dim, unsigned count) {
    double all = 1;
    for (unsigned i = 0; i < count; i++) all *= dim[i];
    return all;
}

/* Each number under its own letter. */
static bool by_letters(pace_op *op, const double *dim, const char *letters, size_t count) {
    unsigned sizes;
    bool any = false;
    const char *const *names = pace_op_size_names(op->family, &sizes);
    for (unsigned s = 0; s < sizes; s++)
        for (size_t i = 0; i < count; i++)
            if (letters[i] && names[s][0] == letters[i] && names[s][1] == '\0') fill(op, (int)s, dim[i]), any = true;
    return any;
}

typedef struct {
    double b, m, n, k;
} factors;

/* m x k by k x n, or by n x k as a linear layer keeps its weight. */
static bool multiply(factors *out, const pace_shape_text *shape, unsigned ta, unsigned tb) {
    unsigned na = shape->dims[ta], nb = shape->dims[tb];
    if (na < 2 || nb < 2) return false;
    const double *a = shape->dim[ta], *b = shape->dim[tb];
    double k = a[na - 1];
    bool batched = nb > 2, across = b[nb - 1] == k && b[nb - 2] != k;
    if (!across && b[nb - 2] != k) return false;
    *out = (factors){batched ? product(a, na - 2) : 1, batched ? a[na - 2] : product(a, na - 1),
                     across ? b[nb - 2] : b[nb - 1], k};
    return true;
}

/* The first two tensors, or the second and third where the first is the bias or has the form of what they give. */
static void two_factors(pace_op *op, const pace_shape_text *shape) {
    factors f, last;
    bool known = multiply(&f, shape, 0, 1);
    if (shape->tensors > 2 && multiply(&last, shape, 1, 2)) {
        const double *sum = shape->dim[0];
        unsigned dims = shape->dims[0];
        if (!known || (dims >= 2 && sum[dims - 1] == last.n && sum[dims - 2] == last.m)) f = last, known = true;
    }
    if (!known) return;
    fill(op, 0, f.b);
    fill(op, 1, f.m);
    fill(op, 2, f.n);
    fill(op, 3, f.k);
}

static void fill_product(pace_op *op, const pace_shape_text *shape) {
    const double *d = shape->dim[0];
    unsigned dims = shape->dims[0];
    bool square = dims == 1 || (dims == 2 && d[0] == d[1]); /* of such matrices */
    if (shape->tensors > 1) two_factors(op, shape);
    else if (square) {
        for (int i = 1; i <= 3; i++) fill(op, i, d[0]);
    } else if (dims == 3 || dims == 4) {
        fill(op, 0, dims == 4 ? d[0] : 1);
        for (int i = 1; i <= 3; i++) fill(op, i, d[dims - 4 + (unsigned)i]);
    }
}

static void fill_convolution(pace_op *op, const pace_shape_text *shape) {
    enum { N, C, H, W, K, R, S, GROUPS = 12 };
    if (shape->dims[0] == 4)
        for (int i = 0; i < 4; i++) fill(op, N + i, shape->dim[0][i]);
    if (shape->tensors < 2 || shape->dims[1] != 4) return;
    const double *filter = shape->dim[1];
    fill(op, K, filter[0]);
    fill(op, R, filter[2]);
    fill(op, S, filter[3]);
    if (filter[1] > 0 && op->size[C] > filter[1]) fill(op, GROUPS, op->size[C] / filter[1]);
}

static void fill_pooling(pace_op *op, const pace_shape_text *shape) {
    for (int i = 0; i < 4 && shape->dims[0] == 4; i++) fill(op, i, shape->dim[0][i]);
}

static void fill_attention(pace_op *op, const pace_shape_text *shape) {
    enum { B, HEADS, KV_HEADS, QUERIES, KEYS, HEAD_DIM };
    const double *q = shape->dim[0], *k = shape->tensors > 1 ? shape->dim[1] : q;
    if (shape->dims[0] != 4) return;
    bool both = shape->tensors > 1 && shape->dims[1] == 4;
    fill(op, B, q[0]);
    fill(op, HEADS, q[1]);
    fill(op, KV_HEADS, both ? k[1] : q[1]);
    fill(op, QUERIES, q[2]);
    fill(op, KEYS, both ? k[2] : q[2]);
    fill(op, HEAD_DIM, q[3]);
}

/* The table, then the indices: [rows, d], [b, lookups]; one table. */
static void fill_embedding(pace_op *op, const pace_shape_text *shape) {
    enum { B, TABLES, ROWS, LOOKUPS, D };
    if (shape->tensors < 2 || shape->dims[0] != 2) return;
    const double *indices = shape->dim[1];
    fill(op, TABLES, 1);
    fill(op, ROWS, shape->dim[0][0]);
    fill(op, D, shape->dim[0][1]);
    fill(op, B, product(indices, shape->dims[1]));
    fill(op, LOOKUPS, 1);
}

static void fill_rows(pace_op *op, const pace_shape_text *shape) {
    const double *d = shape->dim[0];
    unsigned dims = shape->dims[0];
    bool channels = strcmp(op->kind, "batch_norm") == 0 && dims >= 3; /* n c h w */
    fill(op, 0, channels ? product(d, dims) / fmax(d[1], 1) : product(d, dims - 1));
    fill(op, 1, channels ? d[1] : d[dims - 1]);
}

/* The largest tensor's elements; for an update, the sum of all. */
static void fill_elements(pace_op *op, const pace_shape_text *shape) {
    double most = 0, sum = 0;
    for (unsigned t = 0; t < shape->tensors; t++) {
        double here = product(shape->dim[t], shape->dims[t]);
        if (here > most) most = here;
        sum += here;
    }
    if (op->family == PACE_OP_TRANSFER) most *= op->element_bytes;
    fill(op, 0,
         op->family == PACE_OP_OPTIMIZER || (op->family == PACE_OP_COPY && strcmp(op->kind, "concat") == 0) ? sum
                                                                                                            : most);
}

static void fill_matrix(pace_op *op, const pace_shape_text *shape) {
    unsigned dims = shape->dims[0];
    if (dims < 2) return;
    fill(op, 0, product(shape->dim[0], dims - 2));
    fill(op, 1, shape->dim[0][dims - 2]);
    fill(op, 2, shape->dim[0][dims - 1]);
}

void pace_shape_fill(pace_op *op, const pace_shape_text *shape, const char *order) {
    bool named = order && *order && strlen(order) == shape->dims[0];
    if (shape->tensors == 1 && named && by_letters(op, shape->dim[0], order, shape->dims[0])) return;
    if (shape->letter[0] && by_letters(op, shape->dim[0], shape->letter, shape->dims[0])) return;
    switch (op->family) {
    case PACE_OP_GEMM: fill_product(op, shape); return;
    case PACE_OP_CONVOLUTION: fill_convolution(op, shape); return;
    case PACE_OP_POOLING: fill_pooling(op, shape); return;
    case PACE_OP_ATTENTION: fill_attention(op, shape); return;
    case PACE_OP_EMBEDDING: fill_embedding(op, shape); return;
    case PACE_OP_NORMALIZATION:
    case PACE_OP_SOFTMAX:
    case PACE_OP_REDUCTION:
    case PACE_OP_LOSS: fill_rows(op, shape); return;
    case PACE_OP_TRANSPOSE:
    case PACE_OP_TRIL: fill_matrix(op, shape); return;
    default: fill_elements(op, shape); return;
    }
}
