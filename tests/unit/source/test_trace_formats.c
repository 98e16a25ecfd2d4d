/* A format is a row: one that the library does not have is told apart beside those it has. */
#include "source/traces/trace_formats.h"

#include <paceline/paceline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

static bool begins_own(const char *path, const unsigned char *bytes, size_t length) {
    (void)path;
    return length >= 4 && memcmp(bytes, "OWN1", 4) == 0;
}

static pace_status read_own(pace_graph *out, pace_read_notes *notes, pace_input *input) {
    uint32_t node;
    (void)notes, (void)input;
    PACE_TRY(pace_graph_init(out));
    return pace_graph_add_node(&node, out, PACE_TASK_OP, "own", PACE_NO_NODE, 0);
}

static const char *name_of(const char *text, const pace_trace_format *formats, size_t count) {
    char path[] = "/tmp/paceline_formats_XXXXXX";
    int file = mkstemp(path);
    const pace_trace_format *found;
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    pace_status status = pace_trace_format_among(&found, path, formats, count);
    if (status == PACE_OK && found->read_graph == read_own) {
        pace_graph graph;
        pace_read_notes notes = {0};
        assert_int_equal(pace_graph_read(&graph, &notes, found, path), PACE_OK);
        assert_int_equal(graph.nodes.count, 1);
        pace_graph_free(&graph);
    }
    unlink(path);
    assert_int_equal(status, PACE_OK);
    return found->name;
}

TEST(test_a_row_is_a_format) {
    size_t count = pace_trace_format_count;
    pace_trace_format formats[32];
    assert_true(count + 2 <= 32);
    memcpy(formats, pace_trace_formats, count * sizeof *formats);
    formats[count] =
        (pace_trace_format){.name = "own", .holds = PACE_HOLDS_GRAPH, .begins = begins_own, .read_graph = read_own};
    formats[count + 1] = (pace_trace_format){.name = "own JSON", .holds = PACE_HOLDS_STEP, .members = " mine myOwn "};
    static const struct {
        const char *text, *name;
    } files[] = {
        {"OWN1 and more", "own"},
        {"{\"version\": 2, \"myOwn\": []}", "own JSON"},
        {"{\"traceEvents\": [], \"myOwn\": []}", "Kineto trace"},
        {"{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": []}", "PyTorch execution trace"},
        {"{\"workload_graph\": []}", "Chakra trace in JSON"},
        {"family: mine\nparameters: {a: 1}\n", "model"},
        {"{\"else\": 1}", "Kineto trace"},
        {"nothing that is known", "Kineto trace"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_string_equal(name_of(files[i].text, formats, count + 2), files[i].name);
}

TEST(test_names_of_traces_are_those_of_the_rows) {
    char patterns[128];
    pace_trace_patterns(patterns, sizeof patterns);
    assert_true(pace_is_trace_name("a/rank0.json.gz") && pace_is_trace_name("rank0.sqlite"));
    assert_false(pace_is_trace_name("a/.hidden.json") || pace_is_trace_name("a.csv") || pace_is_trace_name("json"));
    for (char *rest = patterns, *one; (one = strtok_r(rest, "*, ", &rest));) {
        char name[64];
        snprintf(name, sizeof name, "x%s", one);
        assert_true(pace_is_trace_name(name));
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
