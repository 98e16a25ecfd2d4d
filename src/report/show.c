/*
 * How values look to people.
 */
#include "report/show.h"
#include "base/print.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---------------------------------------------------------------------------------------------- */

pace_shown pace_show_fixed(double value, int decimals) {
    static const double SCALE[] = {1, 10, 100, 1000, 10000};
    pace_shown shown;
    if (decimals < 0) decimals = 0;
    if (decimals > 4) decimals = 4;
    double scaled = round(fabs(value) * SCALE[decimals]);
    if (!(scaled < 9e17)) {
        pace_snprintf(shown.text, sizeof shown.text, isfinite(value) ? "%.0e" : "-", value);
        return shown;
    }
    uint64_t units = (uint64_t)scaled, scale = (uint64_t)SCALE[decimals];
    const char *sign = value < 0 && units ? "-" : "";
    if (decimals)
        snprintf(shown.text, sizeof shown.text, "%s%" PRIu64 ".%0*" PRIu64, sign, units / scale, decimals,
                 units % scale);
    else snprintf(shown.text, sizeof shown.text, "%s%" PRIu64, sign, units);
    return shown;
}

pace_shown pace_show_int(int64_t value) {
    pace_shown shown;
    char digits[24];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int count = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    size_t used = 0;
    if (value < 0) shown.text[used++] = '-';
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) shown.text[used++] = ',';
        shown.text[used++] = digits[i];
    }
    shown.text[used] = '\0';
    return shown;
}

/* Decimals that leave four significant digits of a magnitude below 1000. */
static int decimals_of(double magnitude) {
    if (magnitude < 9.9995) return 3;
    if (magnitude < 99.995) return 2;
    return magnitude < 999.95 ? 1 : 0;
}

pace_shown pace_show_real(double value) {
    double magnitude = fabs(value);
    pace_shown shown;
    if (magnitude >= 999.95 && magnitude < 9e15) return pace_show_int(llround(value));
    if ((magnitude >= 0.001 && magnitude < 9e15) || value == 0 || !isfinite(value))
        return pace_show_fixed(value, value == 0 ? 0 : decimals_of(magnitude));
    pace_snprintf(shown.text, sizeof shown.text, "%.2e", value);
    return shown;
}

static pace_shown with_unit(pace_shown number, const char *unit) {
    pace_shown shown;
    snprintf(shown.text, sizeof shown.text, "%.30s %s", number.text, unit);
    return shown;
}

/* value × 1000^-n with the n-th unit, so that the number is below 1000 while there are units. */
static pace_shown scale_to(double value, const char *const *units, size_t unit_count) {
    size_t unit = 0;
    while (unit + 1 < unit_count && fabs(value) >= 999.95) {
        value /= 1000;
        unit++;
    }
    bool whole = unit == 0 && value == floor(value);
    return with_unit(pace_show_fixed(value, whole ? 0 : decimals_of(fabs(value))), units[unit]);
}

static const char *const TIME_UNITS[] = {"ns", "µs", "ms", "s"};

pace_shown pace_show_count(double count) {
    static const char *const words[] = {"", " thousand", " million", " billion", " trillion", " quadrillion"};
    pace_shown shown;
    size_t i = 0;
    for (; count >= 999.95 && i < 5; i++) count /= 1e3;
    snprintf(shown.text, sizeof shown.text, "%.30s%s", pace_show_real(count).text, words[i]);
    return shown;
}

pace_shown pace_show_ns(int64_t ns) { return scale_to((double)ns, TIME_UNITS, 4); }

pace_shown pace_show_days(double days) {
    double seconds = days * 86400;
    if (!(days < 1)) return with_unit(pace_show_real(days), "days");
    if (seconds >= 3600) return with_unit(pace_show_real(seconds / 3600), "h");
    return seconds >= 60 ? with_unit(pace_show_real(seconds / 60), "min") : with_unit(pace_show_real(seconds), "s");
}

pace_shown pace_show_bytes(double bytes) {
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    return scale_to(bytes, UNITS, 6);
}

pace_shown pace_show_rate(double per_second) {
    static const char *const UNITS[] = {"/s", "k/s", "M/s", "G/s", "T/s", "P/s"};
    return scale_to(per_second, UNITS, 6);
}

pace_shown pace_show_change(double share) {
    double percent = 100 * share;
    pace_shown shown;
    pace_snprintf(shown.text, sizeof shown.text, "%+.1f %%", fabs(percent) < 0.05 ? 0 : percent);
    return shown;
}

pace_shown pace_show_share(double share) {
    pace_shown shown;
    double percent = share * 100;
    if (percent > 0 && percent < 0.05) snprintf(shown.text, sizeof shown.text, "<0.1 %%");
    else snprintf(shown.text, sizeof shown.text, "%.30s %%", pace_show_fixed(percent, 1).text);
    return shown;
}

/* ---- text ------------------------------------------------------------------------------------------------- */

static pace_show show_of_key(const char *key, bool is_integer) {
    if (pace_ends(key, "_ns")) return PACE_SHOW_NS;
    if (pace_ends(key, "_bytes")) return PACE_SHOW_BYTES;
    if (pace_ends(key, "_share")) return PACE_SHOW_SHARE;
    if (pace_ends(key, "_per_s")) return PACE_SHOW_RATE;
    return is_integer ? PACE_SHOW_INT : PACE_SHOW_REAL;
}

static pace_shown show_number(pace_show show, double value) {
    switch (show) {
    case PACE_SHOW_NS: return pace_show_ns(fabs(value) < 9e18 ? (int64_t)value : 0);
    case PACE_SHOW_S:
        if (value == 0) return (pace_shown){"0 s"};
        return pace_show_ns(fabs(value) < 9e9 ? llround(value * 1e9) : 0);
    case PACE_SHOW_SHARE: return pace_show_share(value);
    case PACE_SHOW_BYTES: return pace_show_bytes(value);
    case PACE_SHOW_RATE: return pace_show_rate(value);
    case PACE_SHOW_COUNT:
        return value == floor(value) && fabs(value) < 9e15 ? pace_show_int((int64_t)value) : pace_show_real(value);
    default: return pace_show_real(value);
    }
}

/* A field's value by the unit in its key: _ns, _bytes, _share, _per_s; else a plain number. */
static pace_shown show_keyed(const char *key, double value, bool is_integer) {
    pace_show show = show_of_key(key, is_integer);
    if (show == PACE_SHOW_INT && fabs(value) < 9e18) return pace_show_int((int64_t)value);
    return isfinite(value) ? show_number(show, value) : (pace_shown){"-"};
}

char *pace_show_label(const char *key) {
    static const char *const UNITS[] = {"_ns", "_bytes", "_share", "_per_s"};
    static const char *const WORDS[][2] = {{"idle_host", "idle: host"},
                                           {"idle_rank", "idle: late rank"},
                                           {"idle_input", "idle: input"},
                                           {"idle_other", "idle, cause unknown"},
                                           {"before it", "gap before"}};
    for (size_t i = 0; i < PACE_COUNT(WORDS); i++)
        if (strcmp(key, WORDS[i][0]) == 0) return pace_show_clean(WORDS[i][1]);
    char *label = pace_show_clean(key);
    if (!label) return NULL;
    for (size_t i = 0; i < 4; i++)
        if (pace_ends(label, UNITS[i])) label[strlen(label) - strlen(UNITS[i])] = '\0';
    for (char *at = label; *at; at++)
        if (*at == '_') *at = ' ';
    char *long_word = strstr(label, "communication");
    if (long_word) memmove(long_word + 4, long_word + 13, strlen(long_word + 13) + 1); /* comm, as in all tables */
    return label;
}

/* The bytes the lead byte asks for, 0 when it cannot lead. */
static unsigned utf8_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead < 0xe0) return 2;
    if (lead >= 0xe0 && lead < 0xf0) return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

uint32_t pace_utf8_next(const char **at) {
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char MASK[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *bytes = (const unsigned char *)*at;
    unsigned length = utf8_length(bytes[0]);
    uint32_t code = bytes[0] & MASK[length];
    for (unsigned i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            *at += i;
            return 0xfffd;
        }
        code = code << 6 | (bytes[i] & 0x3f);
    }
    *at += length ? length : 1;
    bool valid = length && code >= LEAST[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return valid ? code : 0xfffd;
}

/* Controls, and the marks that turn the direction of the text around them. */
static bool is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

char *pace_show_clean(const char *text) {
    char *clean = pace_alloc(strlen(text) * 3 + 1, 1); /* one bad byte becomes the three of U+FFFD */
    if (!clean) return NULL;
    char *to = clean;
    for (const char *at = text; *at;) {
        const char *from = at;
        uint32_t code = pace_utf8_next(&at);
        const char *piece = is_control(code) ? " " : code == 0xfffd ? "\xef\xbf\xbd" : from;
        size_t length = piece == from ? (size_t)(at - from) : strlen(piece);
        memcpy(to, piece, length);
        to += length;
    }
    *to = '\0';
    return clean;
}

size_t pace_code_width(uint32_t code) {
    static const uint32_t NONE[][2] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const uint32_t WIDE[][2] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
    for (size_t i = 0; i < PACE_COUNT(NONE); i++)
        if (code >= NONE[i][0] && code <= NONE[i][1]) return 0;
    for (size_t i = 0; i < PACE_COUNT(WIDE); i++)
        if (code >= WIDE[i][0] && code <= WIDE[i][1]) return 2;
    return 1;
}

size_t pace_text_width(const char *text) {
    size_t width = 0;
    while (*text) width += pace_code_width(pace_utf8_next(&text));
    return width;
}

/* ---- grids ------------------------------------------------------------------------------------------------ */

void pace_grid_free(pace_grid *grid) {
    for (size_t i = 0; i < grid->columns.count; i++) pace_free(grid->columns.items[i].title);
    for (size_t i = 0; i < grid->cells.count; i++) pace_free(grid->cells.items[i].text);
    PACE_VEC_FREE(&grid->columns, &grid->cells);
}

static pace_status add_column(pace_grid *grid, const char *title, bool numeric, bool share) {
    pace_grid_column column = {.title = pace_show_clean(title), .numeric = numeric, .share = share};
    if (!column.title) return PACE_E_MEMORY;
    return PACE_KEEP(&grid->columns, column, pace_free(column.title));
}

static pace_status add_cell(pace_grid *grid, const char *text, double value) {
    pace_grid_cell cell = {.text = pace_show_clean(text), .value = value};
    if (!cell.text) return PACE_E_MEMORY;
    return PACE_KEEP(&grid->cells, cell, pace_free(cell.text));
}

/* Words of closed lists that say too little to people: resources of advice, types of host overheads. */
static const char *word_for_people(const char *word) {
    static const char *const WORDS[][2] = {
        {"compute", "compute bound"}, {"memory", "memory bound"},      {"copy", "copies"},
        {"t1", "between operators"},  {"t2", "before its first call"}, {"t3", "after its last call"},
        {"t4", "in the call"},        {"t5", "between its calls"}};
    for (size_t i = 0; i < PACE_COUNT(WORDS); i++)
        if (strcmp(word, WORDS[i][0]) == 0) return WORDS[i][1];
    return word;
}

static pace_status add_word(pace_grid *grid, const char *word) {
    char *label = pace_show_label(word_for_people(word));
    if (!label) return PACE_E_MEMORY;
    pace_status status = add_cell(grid, label, NAN);
    pace_free(label);
    return status;
}

static pace_status add_table_cell(pace_grid *grid, const pace_held_column *column, pace_cell cell) {
    if (cell.kind == PACE_CELL_TEXT && column->show == PACE_SHOW_WORD) return add_word(grid, cell.text);
    if (cell.kind == PACE_CELL_TEXT) return add_cell(grid, cell.text, NAN);
    if (cell.kind == PACE_CELL_NONE || (cell.kind == PACE_CELL_REAL && !isfinite(cell.real)))
        return add_cell(grid, "-", NAN);
    double value = cell.kind == PACE_CELL_INT ? (double)cell.integer : cell.real;
    bool plain = column->show == PACE_SHOW_TEXT || column->show == PACE_SHOW_INT || column->show == PACE_SHOW_REAL;
    if (cell.kind == PACE_CELL_INT && plain) return add_cell(grid, pace_show_int(cell.integer).text, value);
    return add_cell(grid, show_number(column->show, value).text, value);
}

/* A column where nothing is known in any row says nothing to people. */
static bool column_shown(const pace_held_table *table, size_t column) {
    if (!table->columns.items[column].title) return false;
    for (size_t row = 0; row < table->row_count; row++)
        if (pace_table_cell(table, row, column).kind != PACE_CELL_NONE) return true;
    return table->row_count == 0;
}

static bool is_text(const pace_held_column *column) {
    return column->show == PACE_SHOW_TEXT || column->show == PACE_SHOW_WORD;
}

static pace_status fill_table(pace_grid *grid, const pace_held_table *table) {
    for (size_t i = 0; i < table->columns.count; i++) {
        const pace_held_column *column = &table->columns.items[i];
        if (!column_shown(table, i)) continue;
        PACE_TRY(add_column(grid, column->title, !is_text(column), column->show == PACE_SHOW_SHARE));
    }
    for (size_t row = 0; row < grid->row_count; row++)
        for (size_t i = 0; i < table->columns.count; i++)
            if (column_shown(table, i))
                PACE_TRY(add_table_cell(grid, &table->columns.items[i], pace_table_cell(table, row, i)));
    return PACE_OK;
}

pace_status pace_grid_of_table(pace_grid *grid, const pace_held_table *table, size_t row_limit) {
    *grid = (pace_grid){.row_count = table->row_count < row_limit ? table->row_count : row_limit};
    pace_status status = fill_table(grid, table);
    if (status != PACE_OK) pace_grid_free(grid);
    return status;
}

int64_t pace_matrix_row_sum(const pace_held_matrix *matrix, size_t row) {
    int64_t sum = 0;
    for (size_t i = 0; i < matrix->columns.count; i++) sum += matrix->cells[row * matrix->columns.count + i];
    return sum;
}

int64_t pace_matrix_column_sum(const pace_held_matrix *matrix, size_t column) {
    int64_t sum = 0;
    for (size_t i = 0; i < matrix->rows.count; i++) sum += matrix->cells[i * matrix->columns.count + column];
    return sum;
}

bool pace_matrix_column_shown(const pace_held_matrix *matrix, size_t column) {
    for (size_t i = 0; i < matrix->rows.count; i++)
        if (matrix->cells[i * matrix->columns.count + column]) return true;
    return false;
}

bool pace_matrix_row_shown(const pace_held_matrix *matrix, size_t row) {
    for (size_t i = 0; i < matrix->columns.count; i++)
        if (matrix->cells[row * matrix->columns.count + i]) return true;
    return false;
}

bool pace_matrix_signed(const pace_held_matrix *matrix) {
    for (size_t i = 0; i < matrix->rows.count * matrix->columns.count; i++)
        if (matrix->cells[i] < 0) return true;
    return false;
}

static int64_t matrix_total(const pace_held_matrix *matrix) {
    int64_t sum = 0;
    for (size_t i = 0; i < matrix->rows.count; i++) sum += pace_matrix_row_sum(matrix, i);
    return sum;
}

/* The largest cell or row sum, without its sign. */
static double matrix_peak(const pace_held_matrix *matrix) {
    double largest = 0;
    for (size_t i = 0; i < matrix->rows.count; i++)
        largest = fmax(largest, fabs((double)pace_matrix_row_sum(matrix, i)));
    for (size_t i = 0; i < matrix->rows.count * matrix->columns.count; i++)
        largest = fmax(largest, fabs((double)matrix->cells[i]));
    return largest;
}

/* The power of 1000 that brings the peak below 2000, as far as there are units. */
static size_t matrix_scale(const pace_held_matrix *matrix) {
    double largest = matrix_peak(matrix);
    size_t scale = 0;
    for (; scale < 3 && largest >= 2000; largest /= 1000) scale++;
    return scale;
}

const char *pace_matrix_unit(const pace_held_matrix *matrix) { return TIME_UNITS[matrix_scale(matrix)]; }

typedef struct {
    pace_grid *grid;
    double unit_ns;
    int decimals;
    bool plus;   /* write the sign of positive numbers too */
    bool shares; /* there is a share column and a share row */
    double total;
} matrix_style;

static pace_status add_time(const matrix_style *style, int64_t ns) {
    pace_shown shown = pace_show_fixed((double)ns / style->unit_ns, style->decimals);
    char text[64];
    snprintf(text, sizeof text, "%s%s", style->plus && ns > 0 ? "+" : "", ns ? shown.text : "-");
    return add_cell(style->grid, text, (double)ns);
}

static pace_status add_share(const matrix_style *style, int64_t ns) {
    double share = (double)ns / style->total;
    return add_cell(style->grid, pace_show_share(share).text, share);
}

static pace_status add_matrix_row(const matrix_style *style, const pace_held_matrix *matrix, size_t row) {
    PACE_TRY(add_word(style->grid, matrix->rows.items[row]));
    for (size_t i = 0; i < matrix->columns.count; i++)
        if (pace_matrix_column_shown(matrix, i))
            PACE_TRY(add_time(style, matrix->cells[row * matrix->columns.count + i]));
    int64_t sum = pace_matrix_row_sum(matrix, row);
    PACE_TRY(add_time(style, sum));
    return style->shares ? add_share(style, sum) : PACE_OK;
}

static pace_status add_matrix_foot(const matrix_style *style, const pace_held_matrix *matrix, const char *name,
                                   bool as_share) {
    PACE_TRY(add_cell(style->grid, name, NAN));
    for (size_t i = 0; i < matrix->columns.count; i++) {
        if (!pace_matrix_column_shown(matrix, i)) continue;
        int64_t sum = pace_matrix_column_sum(matrix, i);
        PACE_TRY(as_share ? add_share(style, sum) : add_time(style, sum));
    }
    int64_t total = matrix_total(matrix);
    PACE_TRY(as_share ? add_share(style, total) : add_time(style, total));
    if (!style->shares) return PACE_OK;
    return as_share ? add_cell(style->grid, "", NAN) : add_share(style, total);
}

static pace_status fill_matrix(const matrix_style *style, const pace_held_matrix *matrix) {
    PACE_TRY(add_column(style->grid, "", false, false));
    for (size_t i = 0; i < matrix->columns.count; i++) {
        if (!pace_matrix_column_shown(matrix, i)) continue;
        char *label = pace_show_label(matrix->columns.items[i]);
        if (!label) return PACE_E_MEMORY;
        pace_status status = add_column(style->grid, label, true, false);
        pace_free(label);
        PACE_TRY(status);
    }
    PACE_TRY(add_column(style->grid, "sum", true, false));
    if (style->shares) PACE_TRY(add_column(style->grid, "share", true, true));
    for (size_t row = 0; row < matrix->rows.count; row++) {
        if (!pace_matrix_row_shown(matrix, row)) continue;
        PACE_TRY(add_matrix_row(style, matrix, row));
        style->grid->row_count++;
    }
    if (style->grid->foot_rows > 0) PACE_TRY(add_matrix_foot(style, matrix, "sum", false));
    if (style->grid->foot_rows > 1) PACE_TRY(add_matrix_foot(style, matrix, "share", true));
    return PACE_OK;
}

pace_status pace_grid_of_matrix(pace_grid *grid, const pace_held_matrix *matrix) {
    static const double UNIT_NS[] = {1, 1e3, 1e6, 1e9};
    size_t scale = matrix_scale(matrix);
    bool with_sign = pace_matrix_signed(matrix);
    matrix_style style = {.grid = grid, .unit_ns = UNIT_NS[scale], .plus = with_sign};
    style.total = (double)matrix_total(matrix);
    style.shares = !with_sign && style.total > 0;
    style.decimals = scale == 0 ? 0 : matrix_peak(matrix) / style.unit_ns < 10 ? 3 : 2;
    size_t foot = matrix->rows.count < 2 && !style.shares ? 0 : style.shares ? 2 : 1;
    *grid = (pace_grid){.row_count = foot, .foot_rows = foot};
    pace_status status = fill_matrix(&style, matrix);
    if (status != PACE_OK) pace_grid_free(grid);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------ */

bool pace_node_is_field(const pace_node *node) { return node->kind >= PACE_NODE_INT && node->kind <= PACE_NODE_NULL; }

/* Whether the fields of this object are shown. */
static bool node_shows_fields(const pace_node *object) {
    return object->kind == PACE_NODE_OBJECT && object->audience != PACE_FOR_JSON && object->title;
}

bool pace_node_visible(const pace_node *node) {
    if (node->audience == PACE_FOR_JSON) return false;
    if (pace_node_is_field(node)) return node->parent && node_shows_fields(node->parent);
    if (node->kind == PACE_NODE_STRONG) return false; /* these lead the report instead */
    if (node->kind != PACE_NODE_OBJECT) return true;
    for (const pace_node *child = node->first; child; child = child->next)
        if (pace_node_visible(child)) return true;
    return false;
}

char *pace_node_field_text(const pace_node *field) {
    pace_shown shown = {"-"};
    switch (field->kind) {
    case PACE_NODE_INT: shown = show_keyed(field->key ? field->key : "", (double)field->integer, true); break;
    case PACE_NODE_REAL: shown = show_keyed(field->key ? field->key : "", field->real, false); break;
    case PACE_NODE_BOOL: snprintf(shown.text, sizeof shown.text, "%s", field->flag ? "yes" : "no"); break;
    case PACE_NODE_TEXT:
        if (field->text) return pace_show_clean(field->text);
        break;
    default: break;
    }
    return pace_copy_text(shown.text, strlen(shown.text));
}
