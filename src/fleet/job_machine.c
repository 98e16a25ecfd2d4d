/* The machine of a job by what --on says: a name of jobs.yaml or any other machine, and figures in place of its own. */
#include "fleet/job_machine_derive.h"

#include "base/text.h"
#include "base/print.h"

#include <stdio.h>
#include <string.h>

static int find_figure(const char *key) {
    pace_job_resource resource;
    if (pace_job_resource_find(&resource, key)) return (int)resource;
    if (strcmp(key, "net") == 0) return PACE_JOB_NETWORK;
    return pace_word_number(pace_job_figure_names, PACE_FIGURES, key);
}

/* What a figure is of; false: of nothing that has a unit. */
static bool dimension_of(pace_dimension *out, int which) {
    bool shares = which >= PACE_FIGURE_EFFICIENCY && which < PACE_FIGURE_MIXED;
    if (shares || which == PACE_FIGURE_DEVICES) return false;
    *out = which == PACE_JOB_COMPUTE || which == PACE_FIGURE_MIXED ? PACE_IN_FLOP_PER_S
           : which == PACE_FIGURE_DEVICE_MEMORY                    ? PACE_IN_BYTES
                                                                   : PACE_IN_BYTES_PER_S;
    return true;
}

bool pace_job_figure_parse(double *out, int which, const char *text) {
    enum { LEAST = 1000 };
    const double most = 1e18;
    pace_dimension dimension;
    double figure;
    if (!dimension_of(&dimension, which)) return pace_parse_amount(out, text, "") && *out > 0;
    if (!pace_parse_figure(&figure, text, dimension) || !(figure >= LEAST) || !(figure <= most)) return false;
    *out = figure;
    return true;
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
    bool good = factor ? pace_parse_amount(&figure, number, "") && figure > 0 && figure <= 1e6
                       : pace_job_figure_parse(&figure, which, value);
    if (!good)
        return pace_fail(
            PACE_E_USAGE,
            "%.40s: expected a figure with its unit such as 25Gb/s, 15TFLOP/s or 16GB, a share, or a factor such "
            "as 2x, found \"%.40s\"",
            key, value);
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

/* --- which machine ------------------------------------------------------------------------------------------------ */

static bool is_job_machine(pace_job_machine *out, const pace_job_catalog *catalog, const char *name) {
    const pace_job_machine *known = PACE_FIND(catalog->machines.items, catalog->machines.count, name, name);
    if (known) *out = *known;
    return known != NULL;
}

static const char *closest_name(const pace_job_catalog *catalog, const char *name) {
    const char *best = catalog->machines.items[0].name;
    for (size_t i = 1; i < catalog->machines.count; i++)
        best = pace_word_nearer(name, best, catalog->machines.items[i].name);
    for (size_t i = 0; i < catalog->named.machines.count; i++)
        best = pace_word_nearer(name, best, catalog->named.machines.items[i].name);
    return best;
}

/* Words that machine/machine.h understands; the others are figures of the job model. "pcie" is the host link here, and
 * what joins the devices where nothing else does. */
static bool describes_machine(const char *word, bool joined) {
    static const char *const keys[] = {"nvlink=", "xgmi=", "latency=",     "launch=",   "nodes=",
                                       "net=",    "nics=", "net-latency=", "net-kind=", "pcie="};
    size_t length = strlen(word);
    bool factor = length > 0 && word[length - 1] == 'x' && strncmp(word, "net=", 4) != 0;
    for (size_t i = 0; i < PACE_COUNT(keys) - joined && !factor; i++)
        if (strncmp(word, keys[i], strlen(keys[i])) == 0) return true;
    return false;
}

static bool is_known(const pace_job_catalog *catalog, const char *name) {
    size_t length = strcspn(name, "*");
    for (size_t i = 0; i < catalog->named.machines.count; i++) {
        const char *known = catalog->named.machines.items[i].name;
        if (strlen(known) == length && pace_strncasecmp(known, name, length) == 0) return true;
    }
    return pace_ends(name, ".yaml") || pace_ends(name, ".yml") || pace_ends(name, ".xml");
}

/* Builds the machine that the first word and those that describe it say. */
static pace_status derive(pace_job_machine *out, const pace_job_catalog *catalog, const char *const *words,
                          size_t count) {
    char text[512] = "";
    pace_machine machine;
    bool joined = is_known(catalog, words[0]);
    pace_append(text, sizeof text, "%s", words[0]);
    for (size_t i = 1; i < count; i++)
        joined = joined || strncmp(words[i], "nvlink=", 7) == 0 || strncmp(words[i], "xgmi=", 5) == 0;
    for (size_t i = 1; i < count; i++)
        if (describes_machine(words[i], joined)) pace_append(text, sizeof text, " %s", words[i]);
    pace_status status = pace_machine_parse(&machine, catalog->devices.documents, text);
    if (status == PACE_E_MISSING)
        return pace_fail(PACE_E_MISSING,
                         "\"%.60s\": no machine or device of the catalogue, nor a file; the closest is "
                         "\"%s\"",
                         words[0], closest_name(catalog, words[0]));
    PACE_TRY(status);
    return pace_job_machine_derive(out, catalog, &machine);
}

enum { WORDS = 64 };

static pace_status split(const char **words, size_t *count, char *text) {
    char *rest = NULL;
    *count = 0;
    for (char *word = strtok_r(text, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest)) {
        if (*count == WORDS) return pace_fail(PACE_E_USAGE, "expected at most %d words of a machine", WORDS);
        words[(*count)++] = word;
    }
    return PACE_OK;
}

static pace_status find_value(char key[64], const char **value, const char *text, const char *word) {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;
    if (!equals || length >= 64)
        return pace_fail(PACE_E_USAGE, "\"%.80s\": expected KEY=VALUE, found \"%.40s\"", text, word);
    memcpy(key, word, length);
    key[length] = '\0';
    *value = equals + 1;
    return PACE_OK;
}

/* A factor that is given twice would be taken twice. */
static pace_status check_once(const char *text, const char *const *words, size_t count) {
    bool seen[PACE_FIGURES] = {false};
    char key[64];
    const char *value = "";
    for (size_t i = 0; i < count; i++) {
        PACE_TRY(find_value(key, &value, text, words[i]));
        int which = find_figure(key);
        if (which >= 0 && seen[which])
            return pace_fail(PACE_E_USAGE, "\"%.80s\": %s is given twice", text, pace_job_figure_names[which]);
        if (which >= 0) seen[which] = true;
    }
    return PACE_OK;
}

static pace_status set_word(pace_job_machine *machine, const char *text, const char *word) {
    char key[64];
    const char *value = "";
    PACE_TRY(find_value(key, &value, text, word));
    return pace_job_machine_set(machine, key, value);
}

pace_status pace_job_machine_parse(pace_job_machine *out, const pace_job_catalog *catalog, const char *text) {
    char copy[512];
    const char *words[WORDS];
    size_t count;
    pace_job_machine machine = catalog->machines.items[0];
    if (strlen(text) >= sizeof copy) return pace_fail(PACE_E_USAGE, "\"%.60s...\": too long for a machine", text);
    memcpy(copy, text, strlen(text) + 1);
    PACE_TRY(split(words, &count, copy));
    bool named = count > 0 && !strchr(words[0], '='), derived = named && !is_job_machine(&machine, catalog, words[0]);
    PACE_TRY(check_once(text, words + named, count - named));
    if (derived) PACE_TRY(derive(&machine, catalog, words, count));
    for (size_t i = named; i < count; i++)
        if (!derived || !describes_machine(words[i], true)) PACE_TRY(set_word(&machine, text, words[i]));
    snprintf(machine.name, sizeof machine.name, "%.95s", text);
    *out = machine;
    return PACE_OK;
}
