/*
 * Answers are the same bytes under a locale that writes and reads a comma for the decimal point. The test makes the
 * locale itself, so that it hangs on none that the machine has: a file of LC_NUMERIC as glibc reads it.
 */

#include "cmocka_of_tests.h"
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"
#include "ask/predict/scenarios.h"
#include "report/engines.h"
#include "base/print.h"
#include "paceline/paceline.h"
#include "catalog_of_tests.h"

static char folder[] = "/tmp/paceline-locale-XXXXXX", rows[64], fit[64];

typedef struct {
    char text[16 << 20];
    size_t used;
} capture;

static int take(void *context, const void *bytes, size_t length) {
    capture *to = context;
    if (to->used + length >= sizeof to->text) return ENOSPC;
    memcpy(to->text + to->used, bytes, length);
    to->used += length;
    return 0;
}

static void put(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* localedef(1) of a decimal_point ",", thousands_sep "." and grouping 3;3. */
static const unsigned char comma_locale[] =
    "\x14\x11\x03\x20\x06\0\0\0\x20\0\0\0\x22\0\0\0\x24\0\0\0\x28\0\0\0\x2c\0\0\0\x30\0\0\0"
    ",\0.\0\3\3\0\0,\0\0\0.\0\0\0ANSI_X3.4-1968";

static bool use_commas(void) {
    char text[8];
    setlocale(LC_NUMERIC, "xx_XX");
    snprintf(text, sizeof text, "%.1f", 1.5);
    return strcmp(text, "1,5") == 0;
}

static int make_files(void **state) {
    (void)state;
    char path[96];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/xx_XX", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/LC_NUMERIC");
    put(path, comma_locale, sizeof comma_locale);
    assert_int_equal(setenv("LOCPATH", folder, 1), 0);
    snprintf(rows, sizeof rows, "%s/rows.csv", folder);
    snprintf(fit, sizeof fit, "%s/fit.json", folder);
    FILE *file = fopen(rows, "w");
    fputs("device,m,n,k,latency_us\n", file);
    for (int m = 1; m <= 8; m++)
        for (int n = 1; n <= 8; n++) fprintf(file, "v100-sxm2-16,%d,%d,64,%d.5\n", 64 * m, 32 * n, 12 + m * n);
    return fclose(file);
}

static int remove_files(void **state) {
    (void)state;
    char path[96];
    remove(rows);
    remove(fit);
    snprintf(path, sizeof path, "%s/xx_XX/LC_NUMERIC", folder);
    remove(path);
    snprintf(path, sizeof path, "%s/xx_XX", folder);
    rmdir(path);
    return rmdir(folder);
}

static void add_message(capture *out) { assert_int_equal(take(out, pace_message(), strlen(pace_message())), 0); }

/* Every format, and what is said where there is no answer. */
static void render(capture *out, pace_status status, pace_report **report) {
    static const pace_format formats[] = {PACE_FORMAT_TABLE, PACE_FORMAT_JSON, PACE_FORMAT_CSV, PACE_FORMAT_HTML};
    if (status != PACE_OK) {
        add_message(out);
        return;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (pace_report_write(*report, formats[i], NULL, take, out) != PACE_OK) add_message(out);
    pace_report_free(*report);
}

static void add_file(capture *out, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    out->used += fread(out->text + out->used, 1, sizeof out->text - out->used, file);
    fclose(file);
}

#define WORDS(...) \
    { (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *) }

static void ask_everything(capture *out) {
    pace_report *report = NULL;
    char trace[512];
    const char *source = getenv("PACELINE_SOURCE");
    snprintf(trace, sizeof trace, "%s/tests/data/demo.json.gz", source ? source : ".");
    const char *inputs[] = {trace}, *model[] = {"bert_base"}, *tables[] = {rows};
    pace_predict_options what_if = {.context = test_context(), .on = WORDS("a100-40-sxm memory=2.5TB/s fp16=1.5x")};
    *pace_what_if_words(&what_if, "scale") = (pace_words)WORDS(".:0.5");
    render(out, pace_predict(&report, inputs, 1, &what_if), &report);
    pace_predict_options of_model = {.context = test_context(),
                                     .on = WORDS("a100-40-sxm"),
                                     .set = WORDS("dropout=0.1", "micro_batch=8")};
    render(out, pace_predict(&report, model, 1, &of_model), &report);
    pace_predict_options refused = {.context = test_context(), .on = WORDS("a100-40-sxm memory=2.5TX/s")};
    render(out, pace_predict(&report, inputs, 1, &refused), &report);
    pace_exchange_options exchange = {.context = test_context(),
                                      .on = "a100*4 nvlink=300.5GB/s latency=2.5us",
                                      .bytes = "1M,2.5MB"};
    render(out, pace_predict_exchange(&report, &exchange), &report);
    pace_rows_options learn = {.context = test_context(), .kind = "kernel", .fit_path = fit};
    render(out, pace_fit(&report, tables, 1, &learn), &report);
    add_file(out, fit);
    render(out, pace_predict_rows(&report, rows, &learn), &report);
}

TEST(test_answers) {
    static capture plain, commas;
    ask_everything(&plain);
    if (!use_commas()) {
        print_message("skipped: this C library takes no locale from LOCPATH\n");
        skip();
    }
    ask_everything(&commas);
    assert_true(use_commas()); /* the caller's locale is as it was */
    setlocale(LC_NUMERIC, "C");
    assert_true(plain.used > 100000);
    size_t same = 0;
    while (same < plain.used && same < commas.used && plain.text[same] == commas.text[same]) same++;
    if (same < plain.used || same < commas.used)
        print_error("%.200s\n---\n%.200s\n", plain.text + (same > 60 ? same - 60 : 0),
                    commas.text + (same > 60 ? same - 60 : 0));
    assert_int_equal(same, plain.used);
    assert_int_equal(same, commas.used);
}

TEST(test_numbers) {
    char text[32];
    double value;
    if (!use_commas()) skip();
    assert_int_equal(pace_snprintf(text, sizeof text, "%.2f %g", 1.25, 0.5), 8);
    assert_string_equal(text, "1.25 0.5");
    assert_true(pace_number_parse(&value, "0.1") && value == 1 / 10.0);
    assert_false(pace_number_parse(&value, "0,1"));
    pace_number_write(text, 5e-324);
    assert_string_equal(text, "5e-324");
    assert_true(use_commas());
    setlocale(LC_NUMERIC, "C");
}

int main(void) { return run_tests_of_file(make_files, remove_files); }
