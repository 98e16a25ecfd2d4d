/* Times, durations and lists of schedulers; nodes that runs held. Times against those of date(1). */
#include <string.h>

#include "cmocka_of_tests.h"

#include "base/decimal.h"
#include "fleet/usage_nodes.h"
#include "source/usage/usage_words.h"

static pace_usage_text text(const char *words) { return (pace_usage_text){words, strlen(words)}; }

TEST(times_are_those_of_the_calendar) {
    static const struct {
        const char *text;
        double seconds;
        bool zoned;
    } good[] = {{"1970-01-01T00:00:00", 0, false},
                {"2000-02-29 12:00:00Z", 951825600, true},
                {"2023-03-01 00:18:22+08:00", 1677601102, true},
                {"2026-11-22T18:32:26.5-0330", 1795384946.5, true},
                {"2017-10-07 01:12:09", 1507338729, false},
                {"2100-03-01", 4107542400, false},
                {"1969-12-31T23:59:59Z", -1, true},
                {"1772355600", 1772355600, true},
                {"1772355600500", 1772355600.5, true},
                {"2023/03/01 00:18:22.5", 1677629902.5, false},
                {"03/29/2026 01:00:00", 1774746000, false},
                {"29/03/2026 01:00:00", 1774746000, false},
                {"29.03.2026 01:00", 1774746000, false},
                {"4.3.2026", 1772582400, false},
                {"05/05/2026", 1777939200, false},
                {"3/29/2026 1:00:00 PM +02:00", 1774782000, true},
                {"3/29/2026 12:30 am", 1774744200, false},
                {"Sun Mar 29 01:00:00 2026", 1774746000, false},
                {"Mar  9 01:00 2026", 1773018000, false},
                {"Sun Mar 29 01:00:00 UTC 2026", 1774746000, true},
                {"12.5", 12.5, true}};
    static const char *const bad[] = {"",
                                      "Unknown",
                                      "2026-13-01",
                                      "2026-01-32",
                                      "2026-01-01T25:00",
                                      "2026-01-01T",
                                      "2026-01-01 1:2x",
                                      "2026-01-01T00:00+1x",
                                      "26-01-01T00",
                                      "2026-01/01",
                                      "-",
                                      "2026-01-01T00:00:00 CET",
                                      "2026-02-29",
                                      "03/04/2026 01:00:00",
                                      "03/29/26 01:00:00",
                                      "13/29/2026",
                                      "Mar 29 01:00",
                                      "Mar 32 01:00 2026",
                                      "Mar 29 2026",
                                      "Sun 29 01:00:00 2026",
                                      "Mar 29 01:00 2026 L",
                                      "03/29/2026 13:00 PM"};
    static const pace_usage_times unsaid = {NULL, PACE_DATES_UNSAID};
    double seconds;
    bool zoned;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(pace_usage_time(&seconds, &zoned, text(good[i].text), &unsaid));
        assert_true(seconds == good[i].seconds);
        assert_int_equal(zoned, good[i].zoned);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pace_usage_time(&seconds, &zoned, text(bad[i]), &unsaid));
}

TEST(dates_of_either_order_need_a_word) {
    static const pace_usage_times month = {NULL, PACE_DATES_MONTH_FIRST}, day = {NULL, PACE_DATES_DAY_FIRST};
    double seconds;
    bool zoned;
    (void)state;
    assert_true(pace_usage_time(&seconds, &zoned, text("03/04/2026"), &month) && seconds == 1772582400);
    assert_true(pace_usage_time(&seconds, &zoned, text("03/04/2026"), &day) && seconds == 1775174400);
    assert_false(pace_usage_time(&seconds, &zoned, text("29/03/2026"), &month));
    assert_true(strstr(pace_usage_time_wanted(text("03/04/2026 10:00")), "month-first") != NULL);
    assert_true(strstr(pace_usage_time_wanted(text("2026-03-04 10:00 CST")), "zone") != NULL);
    assert_true(strstr(pace_usage_time_wanted(text("tomorrow")), "such as") != NULL);
}

TEST(counts_may_have_thousands_apart) {
    double count;
    (void)state;
    assert_true(pace_thousands_parse(&count, "1,024", 5) && count == 1024);
    assert_true(pace_thousands_parse(&count, "12,345,678", 10) && count == 12345678);
    static const char *const bad[] = {"1,02", "1,0244", "1,024.5", ",024", "1024,1", "", "1,", "1024"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pace_thousands_parse(&count, bad[i], strlen(bad[i])));
}

TEST(durations_have_days_hours_and_minutes) {
    static const struct {
        const char *text;
        double unit_s, seconds;
    } good[] = {{"1-02:03:04", 1, 93784},
                {"26:03:04", 1, 93784},
                {"03:04.250", 1, 184.25},
                {"00:00:00", 1, 0},
                {"3600", 1, 3600},
                {"1.5", 1, 1.5},
                {"1.5", 3600, 5400},
                {"90", 60, 5400},
                {"1 day, 2:03:04", 1, 93784},
                {"26:03:04", 3600, 93784},
                {"1-02:03:04", 3600, 93784},
                {"26:03", 3600, 93780},
                {"26:03", 60, 1563},
                {"7200 second(s)", 60, 7200},
                {"90 seconds", 1, 90},
                {"1.5 hours", 1, 5400},
                {"2 minute", 1, 120},
                {"2h 30m", 1, 9000},
                {"2h30m5s", 3600, 9005},
                {"90 min", 1, 5400},
                {"150m", 1, 9000},
                {"1 days", 1, 86400},
                {"1 day, 2 hours", 1, 93600},
                {"P1DT2H30M", 1, 95400},
                {"PT2.5H", 1, 9000},
                {"0 days 00:03:04.25", 1, 184.25}};
    static const char *const bad[] = {"",      "soon", "30m 2h", "1 dog 2:03", "1-",          "1-2-03:04:05", "1:2:3:4",
                                      "-5",    "1:",   ":1",     "-5 seconds", "5 secondary", "x seconds",    "2h 30",
                                      "2h 2h", "P1M",  "P",      "PT",         "PT1D",        "P1.DX"};
    double seconds;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(pace_usage_duration(&seconds, text(good[i].text), good[i].unit_s));
        assert_true(seconds == good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(pace_usage_duration(&seconds, text(bad[i]), 1));
}

TEST(lists_tell_models_apart) {
    pace_usage_gpus gpus[PACE_USAGE_KINDS_OF_GPU];
    size_t count;
    double total;
    (void)state;
    assert_true(
        pace_usage_list(&total, gpus, &count, text("cpu=4,gres/gpu:a100=8,gres/gpu=8,gres/gpumem=1"), "gres/gpu"));
    assert_true(total == 8 && count == 1 && gpus[0].count == 8 && memcmp(gpus[0].model.data, "a100", 4) == 0);
    assert_true(pace_usage_list(&total, gpus, &count, text("gres/gpu:a=4,gres/gpu:b=2"), "gres/gpu"));
    assert_true(total == 6 && count == 2);
    assert_true(pace_usage_list(&total, gpus, &count, text("gres/gpu:a=1,gres/gpu=3"), "gres/gpu"));
    assert_true(total == 3 && count == 2 && gpus[1].count == 2 && gpus[1].model.length == 0);
    assert_true(pace_usage_list(&total, gpus, &count, text("gpu:v100:4(S:0-1),craynetwork:1"), "gpu"));
    assert_true(total == 4 && count == 1 && gpus[0].count == 4);
    assert_int_equal(pace_usage_slices(text("nvidia_a100_3g.20gb")), 3);
    assert_int_equal(pace_usage_slices(text("1g.5gb")), 1);
    assert_int_equal(pace_usage_slices(text("a100g.80gb")), 0);
    assert_int_equal(pace_usage_slices(text("h100-80gb")), 0);
    assert_true(pace_usage_list(&total, gpus, &count, text("cpu=4"), "gres/gpu"));
    assert_true(total == 0 && count == 0);
    assert_false(pace_usage_list(&total, gpus, &count, text("gres/gpu=-1"), "gres/gpu"));
    assert_false(pace_usage_list(&total, gpus, &count, text("gres/gpu"), "gres/gpu"));
}

TEST(brackets_count_tasks) {
    double count;
    (void)state;
    assert_true(pace_usage_brackets(&count, text("123_[3-10,12%2]")) && count == 9);
    assert_true(pace_usage_brackets(&count, text("123_[0-8:4]")) && count == 3);
    assert_true(pace_usage_brackets(&count, text("123")) && count == 1);
    assert_true(pace_usage_ranges(&count, text("3-10,12%2")) && count == 9);
    assert_false(pace_usage_ranges(&count, text("")) || pace_usage_ranges(&count, text("3-")) ||
                 pace_usage_ranges(&count, text("3,x")));
    assert_false(pace_usage_brackets(&count, text("123_[5-3]")));
    assert_false(pace_usage_brackets(&count, text("123_[")));
    assert_false(pace_usage_brackets(&count, text("123_[]")));
}

TEST(nodes_are_held_by_one_job_or_more) {
    pace_usage_nodes nodes = {0};
    pace_names names;
    pace_name one, two, found = 0;
    (void)state;
    assert_int_equal(pace_names_init(&names), PACE_OK);
    assert_int_equal(pace_names_add(&one, &names, "one", 3), PACE_OK);
    assert_int_equal(pace_names_add(&two, &names, "two", 3), PACE_OK);
    assert_int_equal(pace_usage_nodes_add(&nodes, &names, text("n[008-010,12]-ib,login.site"),
                                          &(pace_usage_hold){.job = one, .start_s = 10, .end_s = 20}),
                     PACE_OK);
    assert_int_equal(pace_usage_nodes_add(&nodes, &names, text("n009-ib,10.0.0.1"),
                                          &(pace_usage_hold){.job = two, .start_s = 15, .end_s = 30}),
                     PACE_OK);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, 0, text("n010-ib.cluster"), 12), 1);
    assert_int_equal(found, one);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, 0, text("login:9400"), 20), 1);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, 0, text("n009-ib"), 16), 2);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, 0, text("n009-ib"), 25), 1);
    assert_int_equal(found, two);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, 0, text("10.0.0.1:9400"), 25), 1);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, 0, text("n12-ib"), 10), 0);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, 0, text("n011-ib"), 12), 0);
    assert_int_equal(pace_usage_holder(&found, &nodes, &names, two, text("n010-ib"), 12), 0); /* of another cluster */
    pace_usage_nodes_free(&nodes);
    pace_names_free(&names);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
