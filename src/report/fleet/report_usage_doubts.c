/* What in records of a cluster contradicts itself, or may be in another unit than it was taken for. */
#include "report/fleet/fleet_parts.h"
#include "report/show.h"

#include <math.h>

static void doubt_files(pace_report *report, const pace_usage_asked *a, const char *const *paths) {
    for (size_t i = 0; i < a->readings.count; i++) {
        const pace_usage_reading *r = &a->readings.items[i];
        if (r->unitless)
            pace_report_warn(
                report, PACE_WARN_UNIT_ASSUMED, paths[i],
                "%s: durations without a unit count as seconds, those like 2:30 as minutes and seconds, in "
                "%llu rows: a column called \"duration (h)\" or \"duration_min\" says another",
                paths[i], (unsigned long long)r->unitless);
        if (*r->caution)
            pace_report_warn(report, PACE_WARN_ROWS_LEFT_OUT, paths[i],
                             "%s: its source warned of its answer, which may lack records: %s", paths[i], r->caution);
        if (*r->doubt) pace_report_warn(report, PACE_WARN_UNIT_DOUBTED, paths[i], "%s: %s", paths[i], r->doubt);
    }
}

static void doubt_times(pace_report *report, const pace_usage *usage, const pace_usage_rules *rules) {
    double longest_days = usage->longest_s / 86400;
    if (usage->overlong)
        pace_report_warn(report, PACE_WARN_UNIT_DOUBTED, NULL,
                         "runs whose duration is longer than the time from their start to their end: %llu; it counts "
                         "nevertheless",
                         (unsigned long long)usage->overlong);
    if (usage->of_two_zones)
        pace_report_warn(report, PACE_WARN_UNIT_ASSUMED, NULL,
                         "runs of which one time has a zone and another none: %llu; those without count as UTC "
                         "(--zone says another)",
                         (unsigned long long)usage->of_two_zones);
    if (longest_days > rules->doubted_above_days)
        pace_report_warn(report, PACE_WARN_UNIT_DOUBTED, NULL,
                         "a run lasts %s days: a start or an end may stand for none, or durations be in less than "
                         "seconds",
                         pace_show_int((int64_t)fmin(longest_days, 9e18)).text);
    if (usage->longest_s > 0 && usage->longest_s < rules->doubted_below_s)
        pace_report_warn(report, PACE_WARN_UNIT_DOUBTED, NULL,
                         "no run lasts longer than %.3g s: times and durations may be in more than seconds, such as "
                         "the days of a spreadsheet",
                         usage->longest_s);
}

static void tell_covered(pace_report *report, const pace_usage *usage) {
    double most = 0;
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) most = fmax(most, usage->covered_hours[c]);
    if (most > 0)
        pace_report_warn(report, PACE_WARN_ROWS_LEFT_OUT, NULL,
                         "counters of %.4g GPU-hours stand for time that others of the same GPU cover (a file or an "
                         "exporter twice): each hour counts once",
                         most);
}

void pace_warn_of_usage_doubts(pace_report *report, const pace_usage_asked *asked, const char *const *paths) {
    doubt_files(report, asked, paths);
    doubt_times(report, &asked->usage, &asked->rules);
    tell_covered(report, &asked->usage);
}
