#include "ask/rows/size_cell.h"
#include "ask/rows/shape_text.h"
#include "machine/machine.h"
#include "base/csv.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static const double largest_size = 1e15;

bool pace_size_cell_flag(double *out, const char *text) {
    bool yes = pace_strcasecmp(text, "true") == 0 || pace_strcasecmp(text, "yes") == 0;
    *out = yes;
    return yes || pace_strcasecmp(text, "false") == 0 || pace_strcasecmp(text, "no") == 0;
}

static bool read_equal(double *out, const char *text) {
    pace_shape_text shape;
    if (!strpbrk(text, "([x,") || !pace_shape_parse(&shape, text)) return false;
    for (unsigned i = 1; i < shape.dims[0]; i++)
        if (shape.dim[0][i] != shape.dim[0][0]) return false;
    *out = shape.dim[0][0];
    return true;
}

static bool read_bytes(double *out, const char *text) {
    return pace_has_suffix(text, "B") && pace_parse_bytes(out, text);
}

bool pace_size_cell_is_shape(const char *text, bool bytes) {
    double amount;
    return *text && !read_bytes(&amount, text) && !(bytes && pace_size_cell_read(&amount, text, 1));
}

bool pace_size_cell_is_part(const char *text) {
    double value;
    return pace_csv_number(&value, text) && value != floor(value);
}

bool pace_size_cell_read(double *out, const char *text, double each) {
    if (pace_csv_number(out, text)) return *out >= 0 && *out <= largest_size;
    if (read_bytes(out, text)) return *out *= each, each > 0 && *out <= largest_size;
    if (pace_parse_bytes(out, text)) return *out <= largest_size;
    return read_equal(out, text);
}
