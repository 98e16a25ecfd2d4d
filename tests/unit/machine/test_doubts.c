/* The doubts of the catalogue: all there, and a file that lacks, repeats or misspells one is refused by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "machine/device.h"
#include "catalog_of_tests.h"

/* What stands before the spread of a doubt. */
#define FIGURE "host_catalog\n    spread: "

static char directory[] = "/tmp/pace_doubts_XXXXXX", text[65536];

static int make_directory(void **state) {
    (void)state;
    unsetenv("PACELINE_CATALOG");
    test_catalog_close();
    return mkdtemp(directory) ? 0 : 1;
}

static int remove_directory(void **state) {
    (void)state;
    unsetenv("PACELINE_CATALOG");
    test_catalog_close();
    return rmdir(directory);
}

/* The catalogue's file with the first `from` replaced. */
static void change(const char *from, const char *to) {
    const char *source = getenv("PACELINE_SOURCE");
    char path[512];
    snprintf(path, sizeof path, "%s/catalog/doubts.yaml", source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(length + strlen(to) < sizeof text);
    text[length] = '\0';
    char *at = strstr(text, from);
    assert_non_null(at);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

/* What loading such a file gives. */
static pace_status load_changed(pace_doubts *out, const char *from, const char *to) {
    char path[128];
    change(from, to);
    snprintf(path, sizeof path, "%s/doubts.yaml", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    setenv("PACELINE_CATALOG", directory, 1);
    test_catalog_close();
    pace_status status = pace_doubts_load(out, test_catalog());
    unsetenv("PACELINE_CATALOG");
    test_catalog_close();
    unlink(path);
    return status;
}

TEST(every_doubt_has_figure_and_words) {
    pace_doubt_catalog all;
    assert_int_equal(pace_doubt_catalog_load(&all, test_catalog()), PACE_OK);
    for (int i = 0; i < PACE_DOUBTS; i++) {
        const pace_doubt_words *words = &all.words[i];
        bool sure = strcmp(words->confidence, "high") == 0 || strcmp(words->confidence, "medium") == 0 ||
                    strcmp(words->confidence, "low") == 0;
        if (!sure) fail_msg("%s: confidence %s", pace_doubt_name((pace_doubt)i), words->confidence);
        if (pace_doubt_kind_of((pace_doubt)i) == PACE_DOUBT_SPREAD) assert_true(all.doubts.figure[i] > 0);
    }
}

TEST(a_changed_figure_is_read) {
    pace_doubts usual, changed;
    assert_int_equal(pace_doubts_load(&usual, test_catalog()), PACE_OK);
    assert_int_equal(load_changed(&changed, FIGURE, FIGURE "0.75 # not "), PACE_OK);
    for (int i = 0; i < PACE_DOUBTS; i++)
        assert_true((changed.figure[i] != usual.figure[i]) == (i == PACE_DOUBT_HOST_CATALOG));
    assert_true(changed.figure[PACE_DOUBT_HOST_CATALOG] == 0.75);
}

TEST(faults_are_named) {
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"name: walk\n", "name: wolk\n", "nothing uses a doubt \"wolk\""},
        {"name: host_cpu\n", "name: host_catalog\n", "a second doubt \"host_catalog\""},
        {FIGURE, "host_catalog\n    # ", "expected \"spread\""},
        {FIGURE, FIGURE "-0.1 # not ", "expected \"spread\" of 0 to 3, found -0.1"},
        {FIGURE, FIGURE "30 # not ", "expected \"spread\" of 0 to 3, found 30"},
        {"    confidence: medium\n", "", "expected \"confidence\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_doubts doubts = {{0}};
        assert_int_equal(load_changed(&doubts, cases[i].from, cases[i].to), PACE_E_INPUT);
        if (!strstr(pace_message(), cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", pace_message(), cases[i].message);
        assert_true(doubts.figure[PACE_DOUBT_WALK] == 0); /* nothing is written */
    }
    /* One entry less: cut the last. */
    pace_doubts doubts;
    change("doubts:", "doubts:");
    char *last = text, *at;
    while ((at = strstr(last + 1, "\n  - name: "))) last = at;
    char gone[2048];
    snprintf(gone, sizeof gone, "%.2000s", last);
    assert_int_equal(load_changed(&doubts, gone, "\n"), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "expected a doubt \""));
}

TEST(an_unknown_host_link_is_assumed) {
    pace_doubts doubts;
    pace_device device = {.pcie_bytes_per_s = 3e10};
    assert_int_equal(pace_doubts_load(&doubts, test_catalog()), PACE_OK);
    assert_true(pace_device_host_rate(&device, &doubts) == 3e10);
    device.pcie_bytes_per_s = 0;
    assert_true(pace_device_host_rate(&device, &doubts) == doubts.figure[PACE_DOUBT_HOST_LINK]);
}

int main(void) { return run_tests_of_file(make_directory, remove_directory); }
