/* A kind of rows that only this test knows is found, predicted, fitted and scored by the code that all kinds share: the
 * fall of a stone, whose time from a height is sqrt(2 h / g). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "ask/context.h"
#include "ask/engine_options.h"
#include "ask/rows/row_kinds.h"
#include "ask/validate/validate.h"
#include "report/predict/report_rows.h"

/* --- the kind ----------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_csv csv;
    double gravity; /* m/s^2, by formula or learned */
    int height, seconds;
} stones;

static pace_status open_stones(void *state, const pace_rows_options *options) {
    (void)options;
    ((stones *)state)->gravity = 10;
    return PACE_OK;
}

static void close_stones(void *state) { pace_csv_free(&((stones *)state)->csv); }

static pace_status read_stones(void *state, pace_input *input) {
    stones *s = state;
    PACE_TRY(pace_csv_read(&s->csv, input));
    s->height = pace_csv_find(&s->csv, "drop_m");
    s->seconds = pace_csv_find(&s->csv, "fell_s");
    return s->height >= 0 ? PACE_OK : pace_fail(PACE_E_INPUT, "%s: expected a column drop_m", s->csv.name);
}

static pace_row_table table_of(const void *state, size_t table) {
    const stones *s = state;
    assert_int_equal(table, 0);
    return (pace_row_table){&s->csv, s->csv.name, s->csv.bytes, s->csv.rows, false};
}

static double figure(const stones *s, size_t row, int column) {
    double value = NAN;
    return column >= 0 && pace_csv_number(&value, pace_csv_cell(&s->csv, row, (size_t)column)) ? value : NAN;
}

static void question_of(pace_row_question *out, const void *state, size_t table, size_t question) {
    const stones *s = state;
    assert_int_equal(table, 0);
    *out = (pace_row_question){(uint32_t)question, figure(s, question, s->seconds)};
}

static void answer_row(pace_row_answer *out, void *state, size_t table, size_t question) {
    const stones *s = state;
    double height = figure(s, question, s->height);
    assert_int_equal(table, 0);
    out->known = height > 0;
    out->unit = "s";
    out->time_s = (pace_estimate){sqrt(2 * height / s->gravity), 0.05, PACE_RUNG_FORMULA, 0};
    out->cells[0].number = s->gravity * out->time_s.median;
    pace_row_answer_time(out, 1);
    snprintf(out->status, sizeof out->status, "%s", out->known ? "ok" : "no height");
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    stones *s = state;
    double sum = 0, count = 0;
    for (size_t i = 0; i < s->csv.rows; i++) {
        double seconds = figure(s, i, s->seconds);
        if (isnan(seconds) || (keep && !keep(context, 0, i))) continue;
        sum += 2 * figure(s, i, s->height) / (seconds * seconds);
        count++;
    }
    s->gravity = sum / count;
    return PACE_OK;
}

static pace_status describe(pace_findings *out, const void *state) {
    static const pace_column columns[] = {{"place", "Place", PACE_SHOW_TEXT},
                                          {"rows", "Rows", PACE_SHOW_INT},
                                          {"gravity", "Gravity", PACE_SHOW_REAL}};
    const stones *s = state;
    pace_found_real(out, "gravity_m_per_s2", s->gravity);
    pace_found_real(out, "by.moon.share", s->gravity / 1.62);
    pace_found_table(out, "places", "Places", columns, 3);
    pace_found_cell_text(out, "here");
    pace_found_cell_number(out, (double)s->csv.rows);
    pace_found_cell_number(out, s->gravity);
    return PACE_OK;
}

static int claims(const pace_columns *columns, const pace_csv *csv) {
    (void)columns;
    return pace_csv_find(csv, "drop_m") >= 0 ? 100 : 0;
}

static const pace_column answer_columns[] = {{"speed_m_per_s", "speed_m_per_s", PACE_SHOW_REAL}};
static const pace_row_kind stone_kind = {.name = "stone",
                                         .columns = answer_columns,
                                         .column_count = 1,
                                         .claims = claims,
                                         .size = sizeof(stones),
                                         .open = open_stones,
                                         .close = close_stones,
                                         .read = read_stones,
                                         .table = table_of,
                                         .question = question_of,
                                         .answer = answer_row,
                                         .learn = learn,
                                         .describe = describe};

/* --- all kinds and this one --------------------------------------------------------------------------------------- */

static const pace_row_kind *items[32];
static pace_context *context;

static int open_context(void **state) {
    (void)state;
    return pace_context_open(&context) != PACE_OK;
}

static int close_context(void **state) {
    (void)state;
    pace_context_free(context);
    return 0;
}

static pace_row_kinds kinds(void) {
    size_t count = pace_all_row_kinds.count;
    assert_true(count + 1 <= sizeof items / sizeof *items);
    memcpy(items, pace_all_row_kinds.items, count * sizeof *items);
    items[count] = &stone_kind;
    return (pace_row_kinds){items, count + 1};
}

/* Stones measured under 9.81 m/s^2; the last has no height. */
static void write_table(char path[64]) {
    snprintf(path, 64, "/tmp/paceline-stones-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    fprintf(file, "name,drop_m,fell_s\n");
    for (int i = 1; i <= 20; i++) fprintf(file, "s%d,%d,%.17g\n", i % 4, i, sqrt(2 * i / 9.81));
    fprintf(file, "s4,,\n");
    fclose(file);
}

static int keep_text(void *kept, const void *bytes, size_t length) {
    char *text = kept;
    size_t used = strlen(text);
    assert_true(used + length < 8192);
    memcpy(text + used, bytes, length);
    text[used + length] = '\0';
    return 0;
}

/* The report in the format, freed. */
static void print(char text[8192], pace_report *report, pace_format format) {
    *text = '\0';
    assert_int_equal(pace_report_write(report, format, NULL, keep_text, text), PACE_OK);
    pace_report_free(report);
}

TEST(test_found) {
    const pace_row_kinds all = kinds();
    const pace_row_kind *kind;
    char path[64];
    (void)state;
    write_table(path);
    assert_ptr_equal(pace_row_kind_of_file(&all, context->catalog, path), &stone_kind);
    assert_ptr_equal(pace_row_kind_of_file(&pace_all_row_kinds, context->catalog, path), pace_all_row_kinds.items[0]);
    assert_int_equal(pace_row_kind_find(&kind, &all, "stone", true), PACE_OK);
    assert_ptr_equal(kind, &stone_kind);
    assert_int_equal(pace_row_kind_find(&kind, &pace_all_row_kinds, "stone", true), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "expected kernel, exchange, step, scaling or job"));
    assert_int_equal(pace_row_kind_find(&kind, &all, "overhead", true), PACE_E_USAGE);
    assert_int_equal(pace_row_kind_find(&kind, &all, "overhead", false), PACE_OK);
    unlink(path);
}

TEST(test_predicted) {
    pace_report *report;
    char path[64], text[8192];
    (void)state;
    write_table(path);
    assert_int_equal(pace_predict_rows_of_kind(&report, &stone_kind, path, &(pace_rows_options){.context = context}),
                     PACE_OK);
    print(text, report, PACE_FORMAT_CSV);
    assert_non_null(strstr(text, "name,drop_m,fell_s,predicted,low,high,unit,rung,status,speed_m_per_s"));
    assert_non_null(strstr(text, ",1,")); /* 5 m under 10 m/s^2 take 1 s */
    assert_non_null(strstr(text, "s4,,,,,,s,,no height,"));
    unlink(path);
}

TEST(test_fitted) {
    pace_report *report;
    char path[64], text[8192];
    const char *paths[] = {path};
    (void)state;
    write_table(path);
    assert_int_equal(pace_fit_rows_of_kind(&report, &stone_kind, paths, 1, &(pace_rows_options){.context = context}),
                     PACE_OK);
    print(text, report, PACE_FORMAT_JSON);
    const char *found = strstr(text, "\"gravity_m_per_s2\":");
    assert_non_null(found);
    assert_true(fabs(atof(strchr(found, ':') + 1) - 9.81) < 1e-9);
    assert_non_null(strstr(text, "\"places\""));
    found = strstr(strstr(text, "\"by\":"), "\"share\":");
    assert_non_null(found);
    assert_true(fabs(atof(strchr(found, ':') + 1) - 9.81 / 1.62) < 1e-9);
    unlink(path);
}

/* The figure of a metric of a case about the table. */
static double scored(size_t *rows, pace_case *one, const char *metric, const char *path) {
    const pace_row_kinds all = kinds();
    pace_case_score score;
    double value;
    one->name = "stones", one->kind = "stone", one->files[0] = path + strlen("/tmp/"), one->file_count = 1;
    assert_int_equal(pace_validate_case(&score, context, one, &all, "/tmp"), PACE_OK);
    assert_int_equal(pace_case_metric(&value, rows, &score, one, metric), PACE_OK);
    pace_case_score_free(&score);
    return value;
}

TEST(test_scored) {
    char path[64];
    size_t rows;
    pace_case formula = {.fit = false}, fitted = {.fit = true, .by = "drop_m", .folds = 3},
              turn = {.fit = true, .each = "name"}, found = {.fit = true, .found = "places"},
              from = {.fit = true, .from = "name"};
    (void)state;
    write_table(path);
    assert_true(fabs(scored(&rows, &formula, "mape", path) - (1 - sqrt(0.981))) < 1e-12);
    assert_int_equal(rows, 20);
    assert_true(scored(&rows, &formula, "coverage", path) == 1);
    assert_true(scored(&rows, &fitted, "mape", path) < 1e-12);
    assert_int_equal(rows, 20);
    assert_true(scored(&rows, &turn, "max", path) < 1e-12);
    assert_int_equal(rows, 20);
    assert_true(scored(&rows, &from, "median_error", path) < 1e-12);
    assert_int_equal(rows, 60); /* each of four names from each other */
    assert_true(fabs(scored(&rows, &found, "gravity", path) - 9.81) < 1e-9);
    assert_int_equal(rows, 21);
    unlink(path);
}

int main(void) { return run_tests_of_file(open_context, close_context); }
