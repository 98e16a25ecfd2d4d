/* The assumptions of the job model from the command line, and which jobs it can answer. */
#include "base/print.h"
#include "base/words.h"
#include "fleet/job_model.h"

#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

const char *const pace_job_overlaps[2] = {"none", "ideal"};
const char *const pace_job_contentions[3] = {
    [PACE_CONTENTION_NONE] = "none", [PACE_CONTENTION_PROJECTED] = "projected", [PACE_CONTENTION_ALL] = "all"};
const char *const pace_job_nvlinks[2] = {"link", "aggregate"};

static pace_status parse_overlap(double *out, const char *text) {
    *out = 0;
    if (!text || strcmp(text, pace_job_overlaps[0]) == 0) return PACE_OK;
    if (strcmp(text, pace_job_overlaps[1]) == 0) *out = 1;
    else if (!pace_parse_amount(out, text, "") || *out > 1)
        return pace_word_fail("overlap", PACE_WORDS(pace_job_overlaps), " or a number from 0 to 1", text);
    return PACE_OK;
}

static pace_status parse_contention(pace_job_contention *out, const char *text) {
    int number = PACE_CONTENTION_PROJECTED;
    if (text) PACE_TRY(pace_word_read(&number, "contention", PACE_WORDS(pace_job_contentions), text));
    *out = (pace_job_contention)number;
    return PACE_OK;
}

static pace_status parse_nvlink(bool *aggregate, const char *text) {
    int number = 0;
    if (text) PACE_TRY(pace_word_read(&number, "nvlink", PACE_WORDS(pace_job_nvlinks), text));
    *aggregate = number > 0;
    return PACE_OK;
}

static pace_status set_efficiency(pace_job_machine *machine, int resource, const char *value) {
    pace_status status = pace_job_machine_set(machine, pace_job_figure_names[PACE_FIGURE_EFFICIENCY + resource], value);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, "efficiency");
}

/* "0.5" for all, or "compute=0.5,memory=0.03". */
static pace_status parse_efficiency(pace_job_machine *machine, const char *text) {
    char words[256], *rest = NULL;
    bool given[PACE_JOB_RESOURCES] = {false};
    if (!text) return PACE_OK;
    if (strlen(text) >= sizeof words) return pace_fail(PACE_E_USAGE, "efficiency: \"%.40s...\" is too long", text);
    memcpy(words, text, strlen(text) + 1);
    if (!strchr(words, '=')) {
        for (int i = 0; i < PACE_JOB_RESOURCES; i++) PACE_TRY(set_efficiency(machine, i, words));
        return PACE_OK;
    }
    for (char *word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        char *value = strchr(word, '=');
        pace_job_resource resource;
        if (value) *value++ = '\0';
        if (!value || !pace_job_resource_find(&resource, word))
            return pace_fail(PACE_E_USAGE,
                             "efficiency: expected compute=, memory=, pcie=, network= or nvlink=, found \"%.40s\"",
                             word);
        if (given[resource]) return pace_fail(PACE_E_USAGE, "efficiency: %.40s is given twice", word);
        given[resource] = true;
        PACE_TRY(set_efficiency(machine, (int)resource, value));
    }
    return PACE_OK;
}

pace_status pace_job_setting_parse(pace_job_setting *out, const pace_job_catalog *catalog,
                                   const pace_job_setting_words *words) {
    pace_job_setting setting = {.catalog = catalog, .spread = catalog->spread, .rung = PACE_RUNG_FORMULA};
    const char *machine = words->on ? words->on : catalog->machines.items[0].name;
    pace_status status = pace_job_machine_parse(&setting.machine, catalog, machine);
    if (status != PACE_OK) return pace_fail_in(status, "on");
    PACE_TRY(parse_efficiency(&setting.machine, words->efficiency));
    PACE_TRY(parse_overlap(&setting.overlap, words->overlap));
    PACE_TRY(parse_contention(&setting.contention, words->contention));
    PACE_TRY(parse_nvlink(&setting.nvlink_aggregate, words->nvlink));
    *out = setting;
    return PACE_OK;
}

/* --- which jobs can be asked -------------------------------------------------------------------------------------- */

static bool number_fault(char *why, size_t size, const pace_jobs *jobs, size_t job) {
    for (int c = 0; c < PACE_JOB_COLUMNS; c++) {
        double value = jobs->values[c][job];
        bool share = c >= PACE_JOB_COMPUTE_EFFICIENCY, missing = value != value;
        if (missing && c >= PACE_JOB_REQUIRED) continue;
        if (value >= 0 && value < 1e300 && !(share && (value > 1 || value == 0)) &&
            !(c == PACE_JOB_STEP_S && value == 0))
            continue;
        if (c == PACE_JOB_START_S && value < 1e300 && value > -1e300) continue;
        if (missing) snprintf(why, size, "%s is missing", pace_job_column_names[c]);
        else
            pace_snprintf(why, size, "%s: expected %s, found %g", pace_job_column_names[c],
                          share ? "a share above 0, at most 1" : "a number from 0", value);
        return true;
    }
    return false;
}

bool pace_job_fault(char *why, size_t size, const pace_jobs *jobs, size_t job, const pace_job_catalog *catalog) {
    static const pace_job_column work[] = {PACE_JOB_FLOP, PACE_JOB_MEMORY_ACCESS_BYTES, PACE_JOB_INPUT_BYTES};
    const pace_job_scheme *scheme = &catalog->schemes[jobs->architectures[job]];
    const char *name = pace_job_architecture_names[jobs->architectures[job]];
    double cnodes = jobs->values[PACE_JOB_CNODES][job], sum = 0;
    if (number_fault(why, size, jobs, job)) return true;
    if (cnodes < 1 || cnodes > 1e9 || cnodes != (double)(int64_t)cnodes) {
        pace_snprintf(why, size, "cnodes: expected a whole number from 1, found %g", cnodes);
        return true;
    }
    if (scheme->span == PACE_SPAN_GPU && cnodes > 1) {
        pace_snprintf(why, size, "cnodes: expected 1 of %s, found %g", name, cnodes);
        return true;
    }
    for (size_t i = 0; i < PACE_COUNT(work); i++) sum += jobs->values[work[i]][job];
    for (int r = 0; r < PACE_JOB_RESOURCES; r++)
        if (scheme->link[r]) sum += jobs->values[PACE_JOB_WEIGHT_TRAFFIC_BYTES][job];
    if (sum > 0) return false;
    snprintf(why, size, "there is nothing to do: no operations, no bytes");
    return true;
}

void pace_job_remark(char *out, size_t size, const pace_jobs *jobs, size_t job, const pace_job_setting *setting) {
    const pace_job_scheme *scheme = &setting->catalog->schemes[jobs->architectures[job]];
    const char *name = pace_job_architecture_names[jobs->architectures[job]];
    double cnodes = jobs->values[PACE_JOB_CNODES][job], devices = setting->machine.figure[PACE_FIGURE_DEVICES];
    bool linked = false;
    *out = '\0';
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) linked |= scheme->link[r];
    if (!linked && jobs->values[PACE_JOB_WEIGHT_TRAFFIC_BYTES][job] > 0)
        pace_list(out, size, "; ", "weight_traffic_bytes has no effect on %s", name);
    if (scheme->span == PACE_SPAN_SERVER && cnodes > devices)
        pace_list(out, size, "; ", "%g cnodes of %s are in one server, and a server of %.60s has %g device%s", cnodes,
                  name, setting->machine.name, devices, devices == 1 ? "" : "s");
}
