#include "ask/validate/live_figures.h"
#include "ask/validate/ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* An entry {figure, case, metric, bar, means}, and the runner where that is not Paceline's own. */
static pace_status judge(pace_live_verdict *v, const pace_live_done *done, const pace_yaml_node *entry) {
    const char *figure = pace_yaml_text_of(entry, "figure");
    pace_live_judged one = {.name = pace_yaml_text_of(entry, "case"),
                            .metric = pace_yaml_text_of(entry, "metric"),
                            .bar = pace_yaml_text_of(entry, "bar"),
                            .means = pace_yaml_text_of(entry, "means")};
    const char *runner = pace_yaml_text_of(entry, "runner");
    pace_bar bar;
    if (strcmp(runner ? runner : "paceline", done->runner) != 0) return PACE_OK;
    if (!figure || !one.name || !one.metric || !one.bar || !one.means || !pace_bar_parse(&bar, one.metric, one.bar))
        return pace_yaml_fail(v->cases.yaml, entry, "expected {figure, case, metric, bar, means}");
    const pace_live_figure *found = PACE_FIND(done->figures, done->figure_count, name, figure);
    if (!found || !isfinite(found->value)) return PACE_OK;
    one.value = found->value, one.count = (int64_t)found->count;
    one.holds = pace_bar_holds(&bar, one.value) ? "yes" : "no";
    return PACE_PUSH(&v->all, one);
}

pace_status pace_live_judge(pace_live_verdict *out, const pace_live_done *done, const char *path) {
    pace_live_verdict v = {0};
    PACE_TRY(pace_cases_load(&v.cases, path));
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(v.cases.yaml), "live");
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < pace_yaml_count(list); i++)
        status = judge(&v, done, pace_yaml_item(list, i));
    return PACE_GIVE(out, v, status, pace_live_verdict_free(&v));
}

void pace_live_verdict_free(pace_live_verdict *v) {
    PACE_VEC_FREE(&v->all);
    pace_cases_free(&v->cases);
}

/* What the first line that names the processor says of it. */
static void read_processor(char *out, size_t size) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "processor unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *name = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!name) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%.80s", name + 1 + strspn(name + 1, " "));
        break;
    }
    if (file) fclose(file);
}

static void describe(char *out, size_t size, const pace_live_done *done) {
    char day[16], processor[96], load[16] = "";
    time_t now = time(NULL);
    struct tm parts;
    FILE *file = fopen("/proc/loadavg", "r");
    gmtime_r(&now, &parts);
    strftime(day, sizeof day, "%Y-%m-%d", &parts);
    read_processor(processor, sizeof processor);
    if (file && fscanf(file, "%15s", load) != 1) *load = '\0';
    if (file) fclose(file);
    snprintf(out, size, "%s, %s, %d processors, %d thread%s a rank, %s, load %s at the end", day, processor,
             done->cores, done->threads, done->threads == 1 ? "" : "s", done->software, load);
}

static pace_status add_line(pace_ledger *fresh, const pace_live_judged *one, const char *machine) {
    char count[24], value[32], note[400];
    snprintf(count, sizeof count, "%lld", (long long)one->count);
    pace_snprintf(value, sizeof value, "%.4f", one->value);
    snprintf(note, sizeof note, "%s; %s", machine, one->means);
    const char *const cells[PACE_LEDGER_COLUMNS] = {
        one->name, "paceline validate --live", "live", one->metric, "share", count, value, one->bar, one->holds, note};
    return pace_ledger_add(fresh, cells);
}

pace_status pace_live_keep(const pace_live_verdict *v, const pace_live_done *done, const char *ledger) {
    char machine[300];
    pace_ledger fresh = {0};
    pace_status status = PACE_OK;
    describe(machine, sizeof machine, done);
    for (size_t i = 0; status == PACE_OK && i < v->all.count; i++) status = add_line(&fresh, &v->all.items[i], machine);
    if (status == PACE_OK) status = pace_ledger_update(ledger, &fresh);
    pace_ledger_free(&fresh);
    return status;
}
