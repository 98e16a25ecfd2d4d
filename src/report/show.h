/*
 * How values look to people: numbers with units, names, text made safe for a screen, and the grid of ready cells
 * that the table and HTML renderers lay out. Independent of the locale.
 */
#pragma once

#include "report/report_node.h"

/** A short formatted text, returned by value. */
typedef struct {
    char text[48];
} pace_shown;

pace_shown pace_show_fixed(double value, int decimals); /**< 12.30, always with a point */
pace_shown pace_show_int(int64_t value);                /**< 12,345 */
pace_shown pace_show_real(double value);                /**< four significant digits */
pace_shown pace_show_count(double count);               /**< 25.56 million, 31.46 trillion */
pace_shown pace_show_ns(int64_t ns);                    /**< 812 ns, 4.210 µs, 12.34 ms */
pace_shown pace_show_days(double days);                 /**< 44.69 days; below one 10.97 h, 8.640 min, 21.13 s */
pace_shown pace_show_bytes(double bytes);               /**< 1.500 GB */
pace_shown pace_show_rate(double per_second);           /**< 312.1 T/s */
pace_shown pace_show_share(double share);               /**< 43.2 % */
pace_shown pace_show_change(double share);              /**< +1.6 %, never -0.0 % */

/** A key as words: "exposed_wait_ns" becomes "exposed wait". Allocated; NULL when memory ran out. */
char *pace_show_label(const char *key);

/** A copy fit for a screen: controls become spaces, bytes that are no UTF-8 become U+FFFD. NULL: out of memory. */
char *pace_show_clean(const char *text);

/** Reads the next UTF-8 character and advances `at`; invalid bytes give U+FFFD. */
uint32_t pace_utf8_next(const char **at);
/** Terminal columns of a clean text. */
size_t pace_text_width(const char *text);
/** Terminal columns of one character. */
size_t pace_code_width(uint32_t code);
/** Whether a text is the name of a file in a folder, of which the end tells more than the beginning. (shorten.c) */
bool pace_text_is_path(const char *text);
/** A C++ function reduced to its name and template arguments, without namespaces; other texts as they are. NULL: out of
 * memory. (shorten.c) */
char *pace_text_simple(const char *text);
/** Shortens a clean text to `width` columns: a C++ function to its name and template arguments, then with '…' in it,
 * keeping more of its head than its tail. NULL: out of memory. (shorten.c) */
char *pace_text_shorten(const char *text, size_t width);

/* Columns of a name within a sentence, and its bytes with the NUL. */
enum { PACE_NAME_COLUMNS = 60, PACE_SHOWN_NAME = 4 * PACE_NAME_COLUMNS + 8 };

/** A name of a trace as a sentence shows it, clean and shortened; "" where memory is out. Returns `out`. (shorten.c) */
const char *pace_show_name(char out[PACE_SHOWN_NAME], const char *name);

typedef struct {
    char *text;
    double value; /* what the cell sorts by when its column is numeric; NaN for none */
} pace_grid_cell;

typedef struct {
    char *title;
    bool numeric, share;
} pace_grid_column;

/** A table or matrix as shown to people: visible columns and formatted cells, row-major. */
typedef struct {
    PACE_VEC(pace_grid_column) columns;
    PACE_VEC(pace_grid_cell) cells;
    size_t row_count, foot_rows; /* the last foot_rows rows are sums */
} pace_grid;

/** The first `row_limit` rows of a table. */
pace_status pace_grid_of_table(pace_grid *grid, const pace_held_table *table, size_t row_limit) PACE_MUST_CHECK;
/** A matrix in one unit, with sums and shares; columns and rows of zeros are left out. */
pace_status pace_grid_of_matrix(pace_grid *grid, const pace_held_matrix *matrix) PACE_MUST_CHECK;
void pace_grid_free(pace_grid *grid);

/** The unit a matrix is shown in: "ns", "us", "ms" or "s". */
const char *pace_matrix_unit(const pace_held_matrix *matrix);
int64_t pace_matrix_row_sum(const pace_held_matrix *matrix, size_t row);
int64_t pace_matrix_column_sum(const pace_held_matrix *matrix, size_t column);
bool pace_matrix_column_shown(const pace_held_matrix *matrix, size_t column);
bool pace_matrix_row_shown(const pace_held_matrix *matrix, size_t row); /**< rows of zeros are left out, too */
/** True if any cell is negative: the matrix is a difference, whose shares have no meaning. */
bool pace_matrix_signed(const pace_held_matrix *matrix);

/** Whether people see anything of this node. */
bool pace_node_visible(const pace_node *node);
/** Whether this node is a single value: an int, real, text, bool or null. */
bool pace_node_is_field(const pace_node *node);
/** A field's value as clean text. NULL: out of memory. */
char *pace_node_field_text(const pace_node *field);
