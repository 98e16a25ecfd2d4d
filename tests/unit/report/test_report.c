/*
 * Reports: a small one in every format against text written down here, and what must hold of hostile names.
 */

#include "cmocka_of_tests.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report/report.h"
#include "report/show.h"
#include "report/timeline.h"

typedef struct {
    char text[262144];
    size_t used;
} capture;

static capture captured;

static int take(void *context, const void *bytes, size_t length) {
    capture *to = context;
    if (to->used + length >= sizeof to->text) return ENOSPC;
    memcpy(to->text + to->used, bytes, length);
    to->used += length;
    to->text[to->used] = '\0';
    return 0;
}

static int refuse(void *context, const void *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
    return ENOSPC;
}

static const char *write_as(const pace_report *report, pace_format format, const pace_write_options *options) {
    captured.used = 0;
    captured.text[0] = '\0';
    assert_int_equal(pace_report_write(report, format, options, take, &captured), PACE_OK);
    return captured.text;
}

static const pace_column KERNEL_COLUMNS[] = {
    {"name", "Kernel", PACE_SHOW_TEXT},  {"count", "Calls", PACE_SHOW_INT}, {"time_ns", "Time", PACE_SHOW_NS},
    {"share", "Share", PACE_SHOW_SHARE}, {"hidden", NULL, PACE_SHOW_INT},
};

static void add_kernel(pace_node *table, const char *name, int64_t count, int64_t ns, double share) {
    pace_table_row(table);
    pace_table_text(table, name);
    pace_table_int(table, count);
    pace_table_int(table, ns);
    pace_table_real(table, share);
    pace_table_none(table);
}

static void add_matrix(pace_node *parent) {
    const char *rows[] = {"forward", "backward"}, *columns[] = {"compute", "idle", "copy"};
    const int64_t cells[] = {3000000, 500000, 0, 6000000, 500000, 0};
    pace_node_matrix(parent, "matrix", "Phases", PACE_FOR_ALL, rows, 2, columns, 3, cells);
}

static pace_report *small_report(void) {
    pace_report *report;
    const char *const command[] = {"paceline", "analyze", "a.json"};
    assert_int_equal(pace_report_new(&report, "analyze", "Where the time goes"), PACE_OK);
    pace_report_set_command(report, command, 3);
    pace_report_add_input(report, "a.json", 1500);
    pace_report_warn(report, PACE_WARN_EVENTS_LEFT_OUT, "a.json", "%d odd events", 2);
    pace_node *root = pace_report_root(report);
    pace_node *step = pace_node_object(root, "step", "The step", PACE_FOR_ALL);
    pace_node_int(step, "duration_ns", 10000000);
    pace_node_real(step, "mfu", NAN);
    pace_node_bool(step, "steady", true);
    pace_node *hidden = pace_node_object(root, "hidden", "Hidden", PACE_FOR_JSON);
    pace_node_int(hidden, "nothing", PACE_NO_INT);
    pace_node_object(root, "shown", "Shown", PACE_FOR_PEOPLE);
    add_matrix(root);
    pace_node *table = pace_node_table(root, "kernels", "Kernels", PACE_FOR_ALL, KERNEL_COLUMNS, 5, 2);
    add_kernel(table, "gemm, \"big\"", 1234, 6000000, 0.6);
    add_kernel(table, "=größe\xff", 2, 800, 0.00008);
    add_kernel(table, "last", 1, 0, 0);
    pace_node_note(root, "Medians.");
    pace_node_sentence(root, true, "A step takes %d ms.", 10);
    assert_int_equal(pace_report_status(report), PACE_OK);
    return report;
}

/* The text without white space outside of strings: how the JSON writer indents is its own matter. */
static void squeeze(char *text) {
    bool inside = false;
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at == '"' && (at == text || at[-1] != '\\')) inside = !inside;
        if (inside || !strchr(" \n", *at)) *to++ = *at;
    }
    *to = '\0';
}

TEST(test_json) {
    pace_report *report = small_report();
    write_as(report, PACE_FORMAT_JSON, NULL);
    assert_non_null(strstr(captured.text, "\n  \"schema\": \"paceline.analyze/1\",\n"));
    squeeze(captured.text);
    char expected[2048];
    snprintf(expected, sizeof expected,
             "{\"schema\":\"paceline.analyze/1\",\"paceline\":\"%s\",\"command\":[\"paceline\",\"analyze\",\"a.json\"],"
             "\"inputs\":[{\"path\":\"a.json\",\"bytes\":1500}],"
             "\"step\":{\"duration_ns\":10000000,\"mfu\":null,\"steady\":true},\"hidden\":{\"nothing\":null},"
             "\"matrix\":{\"forward\":{\"compute_ns\":3000000,\"idle_ns\":500000,\"copy_ns\":0},"
             "\"backward\":{\"compute_ns\":6000000,\"idle_ns\":500000,\"copy_ns\":0}},\"kernels\":["
             "{\"name\":\"gemm, \\\"big\\\"\",\"count\":1234,\"time_ns\":6000000,\"share\":0.6,\"hidden\":null},"
             "{\"name\":\"=größe\xef\xbf\xbd\",\"count\":2,\"time_ns\":800,\"share\":8e-05,\"hidden\":null},"
             "{\"name\":\"last\",\"count\":1,\"time_ns\":0,\"share\":0,\"hidden\":null}],"
             "\"summary\":[\"A step takes 10 ms.\"],\"notes\":[\"Medians.\"],"
             "\"warnings\":[{\"code\":\"events_left_out\",\"place\":\"a.json\",\"text\":\"2 odd events\"}]}",
             pace_version());
    assert_string_equal(captured.text, expected);
    pace_report_free(report);
}

TEST(test_table) {
    pace_report *report = small_report();
    assert_string_equal(write_as(report, PACE_FORMAT_TABLE, NULL), "A step takes 10 ms.\n"
                                                                   "Warning: 2 odd events\n"
                                                                   "\n"
                                                                   "The step\n"
                                                                   "duration  10.00 ms\n"
                                                                   "mfu       -\n"
                                                                   "steady    yes\n"
                                                                   "\n"
                                                                   "Phases (ms)\n"
                                                                   "          compute    idle      sum    share\n"
                                                                   "forward     3.000   0.500    3.500   35.0 %\n"
                                                                   "backward    6.000   0.500    6.500   65.0 %\n"
                                                                   "───────────────────────────────────────────\n"
                                                                   "sum         9.000   1.000   10.000  100.0 %\n"
                                                                   "share      90.0 %  10.0 %  100.0 %\n"
                                                                   "\n"
                                                                   "Kernels\n"
                                                                   "Kernel       Calls      Time   Share\n"
                                                                   "gemm, \"big\"  1,234  6.000 ms  60.0 %\n"
                                                                   "=größe\xef\xbf\xbd          2    800 ns  <0.1 %\n"
                                                                   "… 1 more (--format json for all)\n"
                                                                   "Medians.\n");
    pace_report_free(report);
}

TEST(test_table_in_colour_and_narrow) {
    pace_report *report;
    assert_int_equal(pace_report_new(&report, "analyze", "T"), PACE_OK);
    pace_node *root = pace_report_root(report);
    pace_node *table = pace_node_table(root, "kernels", NULL, PACE_FOR_ALL, KERNEL_COLUMNS, 5, 0);
    add_kernel(table, "日本語日本語_elementwise_kernel_with_a_long_name\x1b[31m_end", 12, 5, 1);
    const char *text = write_as(report, PACE_FORMAT_TABLE, &(pace_write_options){.width = 44, .color = true});
    assert_non_null(strstr(text, "\x1b[1mT\x1b[0m\n"));
    assert_null(strstr(text, "\x1b[31m"));
    const char *row = strstr(text, "日本語");
    assert_non_null(row);
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(row, "\n"), row);
    assert_non_null(strstr(line, "…"));
    assert_non_null(strstr(line, "_end"));
    assert_in_range(pace_text_width(line), 43, 44); /* a wide character may leave a column */
    pace_report_free(report);
}

TEST(test_csv) {
    pace_report *report = small_report();
    assert_string_equal(write_as(report, PACE_FORMAT_CSV, NULL), "name,count,time_ns,share,hidden\r\n"
                                                                 "\"gemm, \"\"big\"\"\",1234,6000000,0.6,\r\n"
                                                                 "'=größe\xff,2,800,8e-05,\r\n"
                                                                 "last,1,0,0,\r\n");
    assert_string_equal(write_as(report, PACE_FORMAT_CSV, &(pace_write_options){.table = "matrix"}),
                        "row,compute_ns,idle_ns,copy_ns\r\n"
                        "forward,3000000,500000,0\r\n"
                        "backward,6000000,500000,0\r\n");
    pace_report_free(report);
}

TEST(test_csv_unknown_table_lists_keys) {
    pace_report *report = small_report();
    const pace_write_options options = {.table = "kernel"};
    assert_int_equal(pace_report_write(report, PACE_FORMAT_CSV, &options, take, &captured), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "\"kernel\""));
    assert_non_null(strstr(pace_message(), "matrix, kernels"));
    pace_report_free(report);
}

/* Tables of the same key are told apart by the keys and numbers around them, as in JSON. */
TEST(test_csv_paths) {
    static const char *const rows[] = {"forward"}, *const columns[] = {"copy"};
    pace_report *report = small_report();
    pace_node *list = pace_node_list(pace_report_root(report), "steps");
    for (int64_t i = 0; i < 3; i++) {
        pace_node *item = pace_node_item(list), *group = pace_node_object(item, NULL, NULL, PACE_FOR_JSON);
        pace_node_matrix(group, "matrix", NULL, PACE_FOR_JSON, rows, 1, columns, 1, &i);
        if (i == 1) pace_node_matrix(item, "only", NULL, PACE_FOR_JSON, rows, 1, columns, 1, &i);
    }
    const char *text = write_as(report, PACE_FORMAT_CSV, &(pace_write_options){.table = "steps.2.matrix"});
    assert_string_equal(text, "row,copy_ns\r\nforward,2\r\n");
    text = write_as(report, PACE_FORMAT_CSV, &(pace_write_options){.table = "only"});
    assert_string_equal(text, "row,copy_ns\r\nforward,1\r\n");
    text = write_as(report, PACE_FORMAT_CSV, &(pace_write_options){.table = "matrix"});
    assert_non_null(strstr(text, "row,compute_ns,idle_ns")); /* the root's own */
    const char *const unknown[] = {"steps.3.matrix", "steps.matrix", "steps.0.", "steps", "", "steps.0.only"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const pace_write_options options = {.table = unknown[i]};
        assert_int_equal(pace_report_write(report, PACE_FORMAT_CSV, &options, take, &captured), PACE_E_USAGE);
        assert_non_null(strstr(pace_message(), "matrix, kernels, steps.N.matrix"));
    }
    pace_report_free(report);
}

/* A timeline with hostile names everywhere, and more slices than a picture has parts. */
static pace_status draw_hostile(void *context, pace_timeline *timeline) {
    const pace_slice_detail detail = {.shapes = "[[2,3]]\n</script><img src=x>", .collective = "<!--", .bytes = 64};
    pace_timeline_group(timeline, "</script><img src=x onerror='y'>", true);
    pace_timeline_lane(timeline, "</script><img src=x onerror='y'>", PACE_LANE_STREAM);
    pace_timeline_put(timeline, &(pace_timeline_slice){.end_ns = 400000,
                                                       .name = "a\"b</SCRIPT ><script><!--<script>c\xff",
                                                       .color = PACE_CLASS_COMPUTE,
                                                       .kind = PACE_SLICE_KERNEL,
                                                       .stage = "</script>",
                                                       .detail = &detail});
    for (int64_t i = 0; i < 5000; i++)
        pace_timeline_put(timeline, &(pace_timeline_slice){.start_ns = 500000 + i * 100,
                                                           .end_ns = 500000 + i * 100 + 50,
                                                           .name = "tiny",
                                                           .color = PACE_CLASS_COPY,
                                                           .kind = PACE_SLICE_COPY});
    pace_timeline_note(timeline, "%s", "</script><img src=x>");
    ++*(int *)context;
    return PACE_OK;
}

static size_t occurrences(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) count++;
    return count;
}

TEST(test_html_is_escaped_and_self_contained) {
    pace_report *report = small_report();
    int drawn = 0;
    pace_node_timeline(pace_report_root(report), "Lanes & more", 0, 1000000, draw_hostile, &drawn, NULL);
    write_as(report, PACE_FORMAT_JSON, NULL);
    assert_int_equal(drawn, 0); /* pages alone have it */
    const char *text = write_as(report, PACE_FORMAT_HTML, NULL);
    assert_int_equal(drawn, 1);
    assert_non_null(strstr(text, "<p>A step takes 10 ms.</p>"));
    assert_non_null(strstr(text, "&lt;/script&gt;&lt;img src=x onerror=&#39;y&#39;&gt;"));
    assert_non_null(strstr(text, "gemm, &quot;big&quot;"));
    assert_non_null(strstr(text, "=größe\xef\xbf\xbd"));
    assert_null(strstr(text, "http://"));
    assert_null(strstr(text, "https://"));
    assert_null(strstr(text, "Hidden"));
    assert_in_range(occurrences(text, "<rect class=\"c-copy\""), 1, 240);
    pace_report_free(report);
}

/* Names stand in the data as JSON: markup may not end the script element, nor open a comment in it. */
TEST(test_timeline_data_stays_data) {
    pace_report *report = small_report();
    int drawn = 0;
    pace_node_timeline(pace_report_root(report), "Lanes", 0, 1000000, draw_hostile, &drawn, NULL);
    const char *text = write_as(report, PACE_FORMAT_HTML, NULL);
    const char *data = strstr(text, "<script type=\"application/json\"");
    assert_non_null(data);
    const char *end = strstr(data, "</script>");
    assert_non_null(end);
    assert_memory_equal(end - 2, "]}", 2); /* the whole document stands before it */
    for (const char *at = data; at < end; at++) {
        assert_false(strncasecmp(at, "</script", 8) == 0 && at != end);
        assert_false(strncmp(at, "<!--", 4) == 0);
    }
    assert_int_equal(occurrences(text, "</script>"), 2); /* the data's and the script's */
    assert_int_equal(occurrences(text, "</SCRIPT"), 0);
    assert_null(strstr(text, "<p class=\"note\"></script>"));
    pace_report_free(report);
}

static pace_status write_trace(void *context, const pace_report *report, pace_sink *sink) {
    (void)report;
    pace_sink_text(sink, context);
    return PACE_OK;
}

static int freed;
static void count_free(void *context) {
    (void)context;
    freed++;
}

TEST(test_perfetto) {
    pace_report *report = small_report();
    assert_int_equal(pace_report_write(report, PACE_FORMAT_PERFETTO, NULL, take, &captured), PACE_E_USAGE);
    assert_string_equal(pace_message(), "this report has no timeline to write as perfetto");
    char body[] = "{}";
    pace_report_set_trace(report, write_trace, body, count_free);
    assert_string_equal(write_as(report, PACE_FORMAT_PERFETTO, NULL), "{}");
    pace_report_free(report);
    assert_int_equal(freed, 1);
}

TEST(test_failing_sink) {
    pace_report *report = small_report();
    for (int format = PACE_FORMAT_TABLE; format <= PACE_FORMAT_HTML; format++)
        assert_int_equal(pace_report_write(report, (pace_format)format, NULL, refuse, NULL), PACE_E_IO);
    pace_report_free(report);
}

TEST(test_warnings) {
    pace_report *report = small_report();
    assert_int_equal(pace_report_warning_count(report), 1);
    assert_string_equal(pace_report_warning(report, 0).text, "2 odd events");
    assert_string_equal(pace_report_warning(report, 0).code, "events_left_out");
    assert_true(pace_report_warning(report, 0).strict);
    assert_string_equal(pace_report_warning(report, 1).text, "");
    pace_report_free(report);
}

static void build_all(pace_report **report) {
    if (pace_report_new(report, "analyze", "T") != PACE_OK) return;
    pace_node *root = pace_report_root(*report);
    add_matrix(root);
    add_kernel(pace_node_table(root, "kernels", "Kernels", PACE_FOR_ALL, KERNEL_COLUMNS, 5, 0), "k", 1, 2, 0.5);
    static int drawn;
    pace_node_timeline(root, "Lanes", 0, 10, draw_hostile, &drawn, NULL);
    pace_node_text(pace_node_item(pace_node_list(root, "list")), "key", "value");
    pace_report_warn(*report, PACE_WARN_BATCH_ASSUMED, "p", "w");
    pace_report_lead(*report, PACE_WARN_DOES_NOT_FIT, "l");
}

/* Every allocation fails once, in building and in writing: a status, no crash, nothing left behind. */
TEST(test_out_of_memory) {
    int64_t before = pace_memory_live();
    bool passed = false;
    for (uint64_t n = 1; n < 1000 && !passed; n++) {
        pace_report *report = NULL;
        bool written = true;
        pace_memory_fail_at(n);
        build_all(&report);
        for (int format = 0; report && format <= PACE_FORMAT_HTML; format++) {
            captured.used = 0;
            pace_status status = pace_report_write(report, (pace_format)format, NULL, take, &captured);
            assert_true(status == PACE_OK || status == PACE_E_MEMORY);
            written = written && status == PACE_OK;
        }
        pace_memory_fail_at(0);
        passed = report && written;
        pace_report_free(report);
        assert_int_equal(pace_memory_live(), before);
    }
    assert_true(passed);
}

TEST(test_numbers) {
    assert_string_equal(pace_show_ns(812).text, "812 ns");
    assert_string_equal(pace_show_ns(999960).text, "1.000 ms");
    assert_string_equal(pace_show_ns(-12340000).text, "-12.34 ms");
    assert_string_equal(pace_show_ns(INT64_C(1500000000)).text, "1.500 s");
    assert_string_equal(pace_show_int(-1234567).text, "-1,234,567");
    assert_string_equal(pace_show_int(INT64_MIN).text, "-9,223,372,036,854,775,808");
    assert_string_equal(pace_show_share(0.4321).text, "43.2 %");
    assert_string_equal(pace_show_share(0.0001).text, "<0.1 %");
    assert_string_equal(pace_show_bytes(1.5e9).text, "1.500 GB");
    assert_string_equal(pace_show_rate(312.1e12).text, "312.1 T/s");
    assert_string_equal(pace_show_real(0.25).text, "0.250");
    assert_string_equal(pace_show_real(NAN).text, "-");
}

int main(void) { return run_tests_of_file(NULL, NULL); }
