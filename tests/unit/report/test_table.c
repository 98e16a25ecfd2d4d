/*
 * Tables declared once: every C type that a cell can be, values that are not there, columns by flags, tables without
 * rows.
 */

#include "cmocka_of_tests.h"
#include <math.h>
#include <string.h>

#include "report/report_node.h"
#include "report/table.h"

typedef struct {
    double real;
    int number;
    unsigned natural;
    int64_t whole;
    size_t size;
    uint8_t byte;
    bool flag;
    const char *text;
    char chars[8];
    uint8_t color;
    struct {
        double low[2];
    } nested;
} row;

static const char *const colors[] = {"red", "green"};

static void put_sum(pace_node *table, const void *at) {
    const row *r = at;
    pace_table_real(table, r->real + r->number);
}

enum { EXTRA = 1, SHOWN = 2 };

static const pace_table everything = {
    "everything", "Everything", PACE_FOR_ALL, 3,
    PACE_CELLS(
        {"real", "Real", PACE_SHOW_REAL, PACE_OF(row, real)}, {"number", "Number", PACE_SHOW_INT, PACE_OF(row, number)},
        {"natural", "Natural", PACE_SHOW_INT, PACE_OF(row, natural)},
        {"whole", "Whole", PACE_SHOW_INT, PACE_OF(row, whole)}, {"size", "Size", PACE_SHOW_INT, PACE_OF(row, size)},
        {"byte", "Byte", PACE_SHOW_INT, PACE_OF(row, byte)}, {"flag", "Flag", PACE_SHOW_INT, PACE_OF(row, flag)},
        {"text", "Text", PACE_SHOW_TEXT, PACE_OF(row, text)}, {"chars", "Chars", PACE_SHOW_TEXT, PACE_OF(row, chars)},
        {"color", "Color", PACE_SHOW_TEXT, PACE_WORD_OF(row, color, colors)},
        {"low", "Low", PACE_SHOW_REAL, PACE_OF(row, nested.low[1])},
        {"extra", "Extra", PACE_SHOW_INT, PACE_OF(row, number), .only_if = EXTRA},
        {"shy", "Shy", PACE_SHOW_INT, PACE_OF(row, number), .shown_if = SHOWN},
        {"sum", "Sum", PACE_SHOW_REAL, PACE_BY(put_sum)})};

static const row full = {1.5, -2, 3, INT64_C(-4000000000), 5, 6, true, "seven", "eight", 1, {{9, 10}}};

static pace_report *new_report(void) {
    pace_report *report;
    assert_int_equal(pace_report_new(&report, "test", "A test"), PACE_OK);
    return report;
}

static size_t column_of(const pace_node *node, const char *key) {
    for (size_t i = 0; i < node->table->columns.count; i++)
        if (strcmp(node->table->columns.items[i].key, key) == 0) return i;
    return SIZE_MAX;
}

static pace_cell cell_of(const pace_node *node, size_t at, const char *key) {
    size_t column = column_of(node, key);
    assert_true(column != SIZE_MAX);
    return pace_table_cell(node->table, at, column);
}

TEST(test_every_type) {
    pace_report *report = new_report();
    pace_put_table(pace_report_root(report), &everything, &full, 1, sizeof full);
    const pace_node *table = pace_report_root(report)->first;
    assert_int_equal(table->table->row_count, 1);
    assert_int_equal(table->table->rows_shown, 3);
    assert_true(cell_of(table, 0, "real").real == 1.5);
    assert_int_equal(cell_of(table, 0, "number").integer, -2);
    assert_int_equal(cell_of(table, 0, "natural").integer, 3);
    assert_true(cell_of(table, 0, "whole").integer == INT64_C(-4000000000));
    assert_int_equal(cell_of(table, 0, "size").integer, 5);
    assert_int_equal(cell_of(table, 0, "byte").integer, 6);
    assert_int_equal(cell_of(table, 0, "flag").integer, 1);
    assert_string_equal(cell_of(table, 0, "text").text, "seven");
    assert_string_equal(cell_of(table, 0, "chars").text, "eight");
    assert_string_equal(cell_of(table, 0, "color").text, "green");
    assert_true(cell_of(table, 0, "low").real == 10);
    assert_true(cell_of(table, 0, "sum").real == -0.5);
    pace_report_free(report);
}

TEST(test_missing_values) {
    pace_report *report = new_report();
    row none = full;
    none.real = NAN;
    none.whole = PACE_NO_INT;
    none.text = NULL;
    pace_put_table(pace_report_root(report), &everything, &none, 1, sizeof none);
    const pace_node *table = pace_report_root(report)->first;
    assert_int_equal(cell_of(table, 0, "real").kind, PACE_CELL_NONE);
    assert_int_equal(cell_of(table, 0, "whole").kind, PACE_CELL_NONE);
    assert_int_equal(cell_of(table, 0, "text").kind, PACE_CELL_NONE);
    assert_int_equal(cell_of(table, 0, "chars").kind, PACE_CELL_TEXT);
    pace_report_free(report);
}

typedef struct {
    double seconds, figure;
    int64_t count;
    const char *text;
    pace_estimate time_s;
} made_row;

PACE_TABLE(made, "made", "Made of members", PACE_FOR_ALL, 0, {"ns", NULL, PACE_SHOW_NS, PACE_NS_OF(made_row, seconds)},
           {"us", NULL, PACE_SHOW_REAL, PACE_US_OF(made_row, seconds)},
           {"whole", NULL, PACE_SHOW_INT, PACE_WHOLE_OF(made_row, figure)},
           {"known", NULL, PACE_SHOW_REAL, PACE_KNOWN_OF(made_row, figure)},
           {"known_count", NULL, PACE_SHOW_INT, PACE_KNOWN_OF(made_row, count)},
           {"from_0", NULL, PACE_SHOW_INT, PACE_WHOLE_OF(made_row, count)},
           {"said", NULL, PACE_SHOW_TEXT, PACE_KNOWN_OF(made_row, text)},
           {"median", NULL, PACE_SHOW_REAL, PACE_OF(made_row, time_s)},
           {"median_ns", NULL, PACE_SHOW_NS, PACE_NS_OF(made_row, time_s)},
           {"low_ns", NULL, PACE_SHOW_NS, PACE_LOW_NS_OF(made_row, time_s)},
           {"high_ns", NULL, PACE_SHOW_NS, PACE_HIGH_NS_OF(made_row, time_s)},
           {"low_us", NULL, PACE_SHOW_REAL, PACE_LOW_US_OF(made_row, time_s)},
           {"high_us", NULL, PACE_SHOW_REAL, PACE_HIGH_US_OF(made_row, time_s)});

/* The ends of an interval of 90 % are exp(-+1.6449 spread) times the median, in whole nanoseconds rounded outwards. */
TEST(test_made_of_members) {
    pace_report *report = new_report();
    const made_row rows[] = {{2.6e-9, 2.6, 7, "word", {2, 0.1, PACE_RUNG_FORMULA, 0}},
                             {-1e-9, 0, 0, "", {1, 0, PACE_RUNG_FORMULA, 0}},
                             {NAN, NAN, -1, NULL, {1, 0, PACE_RUNG_FORMULA, 0}}};
    pace_put_table(pace_report_root(report), &made, rows, 3, sizeof *rows);
    const pace_node *table = pace_report_root(report)->first;
    assert_int_equal(cell_of(table, 0, "ns").integer, 3);
    assert_true(fabs(cell_of(table, 0, "us").real / 2.6e-3 - 1) < 1e-12);
    assert_int_equal(cell_of(table, 0, "whole").integer, 3);
    assert_true(cell_of(table, 0, "known").real == 2.6);
    assert_int_equal(cell_of(table, 0, "known_count").integer, 7);
    assert_string_equal(cell_of(table, 0, "said").text, "word");
    assert_true(cell_of(table, 0, "median").real == 2);
    assert_int_equal(cell_of(table, 0, "median_ns").integer, 2000000000);
    assert_int_equal(cell_of(table, 0, "low_ns").integer, 1696660348);
    assert_int_equal(cell_of(table, 0, "high_ns").integer, INT64_C(2357572631));
    assert_true(fabs(cell_of(table, 0, "low_us").real - 1696660.3482) < 1e-3);
    assert_true(fabs(cell_of(table, 0, "high_us").real - 2357572.6303) < 1e-3);
    static const char *const none[] = {"ns", "known", "known_count", "said"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        for (size_t at = 1; at < 3; at++) assert_int_equal(cell_of(table, at, none[i]).kind, PACE_CELL_NONE);
    assert_int_equal(cell_of(table, 1, "whole").integer, 0);
    assert_int_equal(cell_of(table, 1, "from_0").integer, 0);
    assert_true(cell_of(table, 1, "us").real < 0);
    assert_int_equal(cell_of(table, 2, "whole").kind, PACE_CELL_NONE);
    assert_int_equal(cell_of(table, 2, "from_0").kind, PACE_CELL_NONE);
    assert_int_equal(cell_of(table, 2, "us").kind, PACE_CELL_NONE);
    pace_report_free(report);
}

/* A column that is left out shifts no cell: those behind it stay under their own headings. */
TEST(test_flags) {
    pace_report *report = new_report();
    pace_node *plain = pace_open_table(pace_report_root(report), &everything, 0);
    pace_node *extra = pace_open_table(pace_report_root(report), &everything, EXTRA | SHOWN);
    pace_table_put(plain, &full);
    pace_table_put(extra, &full);
    assert_true(column_of(plain, "extra") == SIZE_MAX);
    assert_int_equal(cell_of(extra, 0, "extra").integer, -2);
    assert_null(plain->table->columns.items[column_of(plain, "shy")].title);
    assert_string_equal(extra->table->columns.items[column_of(extra, "shy")].title, "Shy");
    assert_int_equal(cell_of(plain, 0, "shy").integer, -2);
    assert_true(cell_of(plain, 0, "sum").real == -0.5);
    assert_true(cell_of(extra, 0, "sum").real == -0.5);
    pace_report_free(report);
}

PACE_TABLE_IF_ROWS(shy, "shy", "Shy", PACE_FOR_ALL, 0, {"number", "Number", PACE_SHOW_INT, PACE_OF(row, number)});

TEST(test_hidden_when_empty) {
    pace_report *report = new_report();
    pace_node *empty = pace_open_table(pace_report_root(report), &shy, 0);
    pace_node *filled = pace_open_table(pace_report_root(report), &shy, 0);
    pace_table_put(filled, &full);
    assert_int_equal(empty->audience, PACE_FOR_JSON);
    assert_int_equal(filled->audience, PACE_FOR_ALL);
    pace_report_free(report);
}

/* Rows are as far apart as the caller says: here each is the head of a longer one. */
TEST(test_rows_of_longer_structs) {
    struct {
        row head;
        double tail;
    } rows[] = {{full, 1}, {full, 2}, {full, 3}};
    pace_report *report = new_report();
    rows[2].head.number = 33;
    pace_put_table(pace_report_root(report), &shy, rows, 3, sizeof *rows);
    assert_int_equal(cell_of(pace_report_root(report)->first, 2, "number").integer, 33);
    pace_report_free(report);
}

TEST(test_failed_report_takes_no_rows) {
    pace_report *report = new_report();
    report->status = PACE_E_MEMORY;
    pace_table_put(pace_open_table(pace_report_root(report), &shy, 0), &full);
    assert_null(pace_report_root(report)->first);
    pace_report_free(report);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
