#include "ask/cases.h"

#include "base/decimal.h"
#include "base/text.h"
#include "base/yaml_member.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pace_bar_parse(pace_bar *out, const char *metric, const char *text) {
    pace_bar bar = {.least = -INFINITY, .most = INFINITY};
    const char *most = text + 2;
    if (strlen(metric) >= sizeof bar.metric || strlen(text) >= sizeof bar.text) return false;
    memcpy(bar.metric, metric, strlen(metric) + 1);
    memcpy(bar.text, text, strlen(text) + 1);
    if (!pace_starts(text, "<=") && !pace_starts(text, ">=")) {
        most = pace_number_read(&bar.least, text);
        if (!most || !pace_starts(most, "..")) return false;
        most += 2;
    }
    if (!pace_number_parse(*text == '>' ? &bar.least : &bar.most, most)) return false;
    *out = bar;
    return true;
}

bool pace_bar_holds(const pace_bar *bar, double value) { return value >= bar->least && value <= bar->most; }

static pace_status read_bars(pace_case *out, const pace_yaml *yaml, const pace_yaml_node *bars) {
    static const char *const metrics[] = {"gmae", "geomean", "mape", "signed_mean", "max", "coverage"};
    for (size_t i = 0; i < pace_yaml_count(bars); i++) {
        const char *metric = pace_yaml_key(bars, i), *text = pace_yaml_text(pace_yaml_item(bars, i));
        size_t k = 0;
        while (metric && k < sizeof metrics / sizeof *metrics && strcmp(metrics[k], metric) != 0) k++;
        if (!metric || !text || k == sizeof metrics / sizeof *metrics || out->bar_count == PACE_CASE_BARS ||
            !pace_bar_parse(&out->bars[out->bar_count], metric, text))
            return pace_fail(PACE_E_INPUT,
                             "%s: expected a metric (gmae, geomean, mape, signed_mean, max, coverage) and a bar such "
                             "as \"<=0.04\" or \"0.85..0.95\"",
                             pace_yaml_place(yaml, pace_yaml_item(bars, i)));
        out->bar_count++;
    }
    return PACE_OK;
}

static pace_status read_number(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key,
                               double most) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    if (!node) return PACE_OK;
    PACE_TRY(pace_yaml_number(out, yaml, node));
    if (*out > 0 && *out <= most) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected above 0 and at most %g", pace_yaml_place(yaml, node), most);
}

static pace_status read_case(pace_case *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const pace_yaml_node *files = pace_yaml_get(entry, "files"), *split = pace_yaml_get(entry, "split");
    double folds = 0;
    out->name = pace_yaml_text(pace_yaml_get(entry, "case"));
    out->note = pace_yaml_text(pace_yaml_get(entry, "note"));
    out->kind = pace_yaml_text(pace_yaml_get(entry, "kind"));
    out->on = pace_yaml_text(pace_yaml_get(entry, "on"));
    if (out->kind && strcmp(out->kind, "step") != 0 && strcmp(out->kind, "kernel") != 0)
        return pace_fail(PACE_E_INPUT, "%s: kind: expected kernel or step", pace_yaml_place(yaml, entry));
    out->fit = !pace_yaml_text(pace_yaml_get(entry, "fit")) ||
               strcmp(pace_yaml_text(pace_yaml_get(entry, "fit")), "none") != 0;
    out->where = pace_yaml_get(entry, "where");
    out->errors = pace_yaml_text(pace_yaml_get(entry, "errors"));
    out->test_where = pace_yaml_get(split, "test_where");
    out->by = pace_yaml_text(pace_yaml_get(split, "by"));
    if (!out->name || !pace_yaml_is_list(files) || pace_yaml_count(files) == 0 ||
        pace_yaml_count(files) > PACE_CASE_FILES)
        return pace_fail(PACE_E_INPUT, "%s: a case needs \"case\" and 1 to %d \"files\"", pace_yaml_place(yaml, entry),
                         PACE_CASE_FILES);
    for (size_t i = 0; i < pace_yaml_count(files); i++) {
        out->files[i] = pace_yaml_text(pace_yaml_item(files, i));
        if (!out->files[i]) return pace_fail(PACE_E_INPUT, "%s: expected a file", pace_yaml_place(yaml, files));
        out->file_count++;
    }
    PACE_TRY(read_number(&out->test_share, yaml, split, "test", 1));
    PACE_TRY(read_number(&out->beyond, yaml, split, "beyond", 1));
    PACE_TRY(read_number(&folds, yaml, split, "folds", 100));
    out->folds = (unsigned)folds;
    return read_bars(out, yaml, pace_yaml_get(entry, "bars"));
}

static pace_status read_cases(pace_cases *cases) {
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, cases->yaml, pace_yaml_root(cases->yaml), "cases"));
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        pace_case one = {0};
        PACE_TRY(read_case(&one, cases->yaml, pace_yaml_item(list, i)));
        PACE_TRY(PACE_PUSH(&cases->items, one));
    }
    return PACE_OK;
}

pace_status pace_cases_load(pace_cases *out, const char *path) {
    pace_cases cases = {0};
    PACE_TRY(pace_yaml_load(&cases.yaml, path));
    pace_status status = read_cases(&cases);
    if (status != PACE_OK) pace_cases_free(&cases);
    else *out = cases;
    return status;
}

void pace_cases_free(pace_cases *cases) {
    pace_yaml_free(cases->yaml);
    PACE_VEC_FREE(&cases->items);
    *cases = (pace_cases){0};
}
