/* The machine of a job by what --on says: a name of jobs.yaml or any other machine, and figures in place of its own. */

#include "base/text.h"
#include "base/print.h"
#include "fleet/job_catalog.h"
#include "machine/machine.h"
#include "machine/device_resolve.h"

#include <stdio.h>
#include <string.h>

/* --- from a machine of the catalogue ------------------------------------------------------------------------------ */

/* One that outlives the machine. */
static const char *lasting_confidence(const char *confidence) {
    static const char *const words[] = {"high", "medium", "low"};
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (strcmp(words[i], confidence) == 0) return words[i];
    return "low";
}

static pace_figure_source machine_source(const pace_job_catalog *catalog, const pace_machine *machine) {
    for (size_t i = 0; i < catalog->named.machines.count; i++)
        if (strcmp(catalog->named.machines.items[i].source, machine->source) == 0)
            return (pace_figure_source){catalog->named.machines.items[i].source,
                                        lasting_confidence(machine->confidence)};
    return (pace_figure_source){"the machine as given", "given"};
}

static const pace_figure_source not_described = {"not described: as the first machine of jobs.yaml", "low"};

static void set(pace_job_machine *out, int figure, double value, pace_figure_source source) {
    out->figure[figure] = value;
    out->source[figure] = source;
}

/* What somebody reached of a peak, where that is known; else the share stays as it is. */
static void set_share(pace_job_machine *out, pace_job_resource resource, double reached, double peak,
                      pace_figure_source source) {
    if (reached > 0 && peak > 0)
        set(out, PACE_FIGURE_EFFICIENCY + (int)resource, reached < peak ? reached / peak : 1, source);
}

/* The first of some precisions that the device has. */
static pace_status set_peak(pace_job_machine *out, int figure, const pace_job_catalog *catalog,
                            const pace_device *device, const pace_precision *order, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *key = pace_precision_key(order[i]);
        double peak = device->flop_per_s[order[i]];
        if (!(peak > 0)) continue;
        set(out, figure, peak, pace_device_figure_source(&catalog->devices, device, "flop_per_s", key));
        if (figure == PACE_JOB_COMPUTE)
            set_share(out, PACE_JOB_COMPUTE, device->achievable_flop_per_s[order[i]], peak,
                      pace_device_figure_source(&catalog->devices, device, "achievable_flop_per_s", key));
        return PACE_OK;
    }
    return pace_fail(PACE_E_MISSING, "device %s: no %s is known", device->name, pace_job_figure_names[figure]);
}

static pace_status set_device(pace_job_machine *out, const pace_job_catalog *catalog, const pace_device *device) {
    static const pace_precision single[] = {PACE_TF32, PACE_FP32_MATRIX, PACE_FP32};
    static const pace_precision mixed[] = {PACE_BF16, PACE_FP16, PACE_TF32, PACE_FP32};
    const pace_device_catalog *devices = &catalog->devices;
    PACE_TRY(set_peak(out, PACE_JOB_COMPUTE, catalog, device, single, PACE_COUNT(single)));
    PACE_TRY(set_peak(out, PACE_FIGURE_MIXED, catalog, device, mixed, PACE_COUNT(mixed)));
    if (!(device->memory_bytes_per_s > 0) || !(device->memory_bytes > 0))
        return pace_fail(PACE_E_MISSING, "device %s: the size or rate of its memory is not known", device->name);
    set(out, PACE_JOB_MEMORY, device->memory_bytes_per_s,
        pace_device_figure_source(devices, device, "memory_bytes_per_s", NULL));
    set_share(out, PACE_JOB_MEMORY, device->achievable_bytes_per_s, device->memory_bytes_per_s,
              pace_device_figure_source(devices, device, "achievable_bytes_per_s", NULL));
    set_share(out, PACE_JOB_PCIE, device->pcie_pinned_bytes_per_s, device->pcie_bytes_per_s,
              pace_device_figure_source(devices, device, "pcie_pinned_bytes_per_s", NULL));
    set(out, PACE_FIGURE_DEVICE_MEMORY, device->memory_bytes,
        pace_device_figure_source(devices, device, "memory_bytes", NULL));
    if (device->pcie_bytes_per_s > 0)
        set(out, PACE_JOB_PCIE, device->pcie_bytes_per_s,
            pace_device_figure_source(devices, device, "pcie_bytes_per_s", NULL));
    else out->source[PACE_JOB_PCIE] = not_described;
    return PACE_OK;
}

/* The rate between the two devices of a server that most links join. */
static double widest_pair(const pace_machine *machine) {
    unsigned char most = 0;
    for (int i = 0; i < machine->mesh_devices; i++)
        for (int j = 0; j < machine->mesh_devices; j++)
            if (machine->bricks[i][j] > most) most = machine->bricks[i][j];
    return most > 0 && machine->brick_bytes_per_s > 0 ? most * machine->brick_bytes_per_s : machine->inside.bytes_per_s;
}

/* A machine's links have one source for all their figures: bus bandwidth of large all-reduces, of this one or a
 * sibling. */
static pace_figure_source exchanged(pace_figure_source machine) {
    return (pace_figure_source){"what large exchanges reach of the link (catalog/machines.yaml)",
                                strcmp(machine.confidence, "high") == 0 ? "medium" : machine.confidence};
}

static void set_links(pace_job_machine *out, const pace_machine *machine, pace_figure_source source) {
    const pace_figure_source alone = {"one device a server: nothing joins it but the host link", "low"};
    if (machine->pcie_bytes_per_s > 0) set(out, PACE_JOB_PCIE, machine->pcie_bytes_per_s, source);
    if (machine->between.kind != PACE_LINK_NONE) {
        set(out, PACE_JOB_NETWORK, machine->between.bytes_per_s, source);
        set_share(out, PACE_JOB_NETWORK, machine->between.efficiency, 1, exchanged(source));
    } else {
        out->source[PACE_JOB_NETWORK] = not_described;
    }
    if (machine->inside.kind != PACE_LINK_NONE) {
        set_share(out, PACE_JOB_NVLINK, machine->inside.efficiency, 1, exchanged(source));
        set(out, PACE_JOB_NVLINK, widest_pair(machine), source);
        set(out, PACE_FIGURE_NVLINK_AGGREGATE, machine->inside.bytes_per_s, source);
    } else {
        set(out, PACE_JOB_NVLINK, out->figure[PACE_JOB_PCIE], alone);
        set(out, PACE_FIGURE_NVLINK_AGGREGATE, out->figure[PACE_JOB_PCIE], alone);
    }
    set(out, PACE_FIGURE_DEVICES, machine->devices, source);
}

/* What the job model needs of a machine. Work of 4 bytes is done on matrix units where they take it (TF32); the
 * network is one NIC; NVLink is what joins the devices of a server, whatever its name: as one link the widest pair of
 * devices, as aggregate all of a device's, one direction. The shares of the peaks are what was measured of the device
 * and its links: the best matrix product, a stream through memory, copies from page-locked memory, the bus bandwidth of
 * large exchanges; where nothing was, that of the first machine of catalog/jobs.yaml. Sources are borrowed from the
 * catalogue. Errors: PACE_E_MISSING for a device that is unknown or whose figures are. */
static pace_status job_machine_derive(pace_job_machine *out, const pace_job_catalog *catalog,
                                      const pace_machine *machine) {
    const pace_device *device = pace_device_find(&catalog->devices, machine->device, 0);
    pace_job_machine derived = catalog->machines.items[0];
    if (!*machine->device) return pace_device_fail_nameless();
    if (!device) return pace_fail(PACE_E_MISSING, "the catalogue has no device \"%.47s\"", machine->device);
    snprintf(derived.name, sizeof derived.name, "%s", machine->name);
    PACE_TRY(set_device(&derived, catalog, device));
    set_links(&derived, machine, machine_source(catalog, machine));
    *out = derived;
    return PACE_OK;
}

/* --- what --on says ----------------------------------------------------------------------------------------------- */

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
    return job_machine_derive(out, catalog, &machine);
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
