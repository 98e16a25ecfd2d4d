/* The machine of a job by what --on says: a name of the catalogue, and figures in place of its own. */
#include "fleet/job_catalog.h"

#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

static int find_figure(const char *key) {
    pace_job_resource resource;
    if (pace_job_resource_find(&resource, key)) return (int)resource;
    for (int i = 0; i < PACE_FIGURES; i++)
        if (strcmp(key, pace_job_figure_names[i]) == 0) return i;
    return -1;
}

pace_status pace_job_machine_set(pace_job_machine *machine, const char *key, const char *value) {
    int which = find_figure(key);
    size_t length = strlen(value);
    char number[40] = "";
    double figure;
    if (which < 0)
        return pace_fail(PACE_E_USAGE,
                         "\"%.40s\": unknown figure; expected compute, memory, pcie, network, nvlink, one of them "
                         "followed by _efficiency, nvlink_aggregate_bytes_per_s, device_memory_bytes, ...",
                         key);
    bool factor = length > 1 && length < sizeof number && value[length - 1] == 'x';
    if (factor) {
        memcpy(number, value, length - 1);
        number[length - 1] = '\0';
    }
    if (!pace_parse_quantity(&figure, factor ? number : value) || !(figure > 0))
        return pace_fail(PACE_E_USAGE,
                         "%.40s: expected a number above 0 such as 25Gb/s, 15TFLOP/s or 2x, found \"%.40s\"", key,
                         value);
    if (factor) figure *= machine->figure[which];
    if (which >= PACE_FIGURE_EFFICIENCY && which < PACE_FIGURE_MIXED && figure > 1)
        return pace_fail(PACE_E_USAGE, "%.40s: expected a share of at most 1, found \"%.40s\"", key, value);
    machine->figure[which] = figure;
    machine->source[which] = (pace_figure_source){"as given", "given"};
    /* A device with other NVLinks has as many of them. */
    if (which == PACE_JOB_NVLINK && machine->figure[PACE_FIGURE_NVLINK_AGGREGATE] < figure)
        machine->figure[PACE_FIGURE_NVLINK_AGGREGATE] = figure;
    return PACE_OK;
}

/* Letters that two names share from the start. */
static size_t common(const char *a, const char *b) {
    size_t length = 0;
    while (a[length] && a[length] == b[length]) length++;
    return length;
}

static pace_status find_machine(pace_job_machine *out, const pace_job_catalog *catalog, const char *name) {
    const pace_job_machine *closest = &catalog->machines.items[0];
    for (size_t i = 0; i < catalog->machines.count; i++) {
        const pace_job_machine *machine = &catalog->machines.items[i];
        if (strcmp(machine->name, name) == 0) {
            *out = *machine;
            return PACE_OK;
        }
        if (common(machine->name, name) > common(closest->name, name)) closest = machine;
    }
    return pace_fail(PACE_E_MISSING, "the catalogue of job machines has no \"%.60s\"; the closest is \"%s\"", name,
                     closest->name);
}

pace_status pace_job_machine_parse(pace_job_machine *out, const pace_job_catalog *catalog, const char *text) {
    char words[512], *rest = NULL;
    pace_job_machine machine;
    if (strlen(text) >= sizeof words) return pace_fail(PACE_E_USAGE, "\"%.60s...\": too long for a machine", text);
    memcpy(words, text, strlen(text) + 1);
    char *word = strtok_r(words, " ,", &rest);
    bool named = word && !strchr(word, '=');
    PACE_TRY(find_machine(&machine, catalog, named ? word : catalog->machines.items[0].name));
    if (named) word = strtok_r(NULL, " ,", &rest);
    for (; word; word = strtok_r(NULL, " ,", &rest)) {
        char *value = strchr(word, '=');
        if (!value) return pace_fail(PACE_E_USAGE, "\"%.80s\": expected KEY=VALUE, found \"%.40s\"", text, word);
        *value++ = '\0';
        PACE_TRY(pace_job_machine_set(&machine, word, value));
    }
    snprintf(machine.name, sizeof machine.name, "%.95s", text);
    *out = machine;
    return PACE_OK;
}
