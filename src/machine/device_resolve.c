#include "machine/device_resolve.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/print.h"
#include "base/text.h"
#include "machine/counted_name.h"
#include "machine/device_entry.h"
#include "machine/device_names.h"
#include "machine/device_slice.h"
#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------------------------ */

typedef struct {
    char name[64];
    size_t half_edits;   /* a letter is two, another number one more */
    char beginning[200]; /* names that begin with the wanted one */
    size_t begin;        /* how many */
} nearest;

/* Whether some words of a name, in order, written together are what is wanted: "h100pcie" of h100-80-pcie. */
static bool is_some_words(const char *wanted, const char *name) {
    while (*name) {
        size_t length = strcspn(name, "-");
        const char *next = name + length + (name[length] == '-');
        bool begins = length > 0 && pace_strncasecmp(wanted, name, length) == 0;
        if (begins && (wanted[length] == '\0' || is_some_words(wanted + length, next))) return true;
        name = next;
    }
    return false;
}

/* Parts of a kind differ by their number: "dgx-h800" means an H800 sooner than a DGX. */
static bool has_number_of(const char *name, const char *wanted) {
    char number[16];
    const char *digits = strpbrk(wanted, "0123456789");
    if (!digits) return true;
    snprintf(number, sizeof number, "%.*s", (int)strspn(digits, "0123456789"), digits);
    return strstr(name, number) != NULL;
}

/* Names are often cut short: "v101" is nearer to v100-sxm2-16 than to gv100. */
static void come_near(nearest *best, const char *wanted, const char *name) {
    size_t edits[PACE_EDITED_LETTERS + 1];
    bool of_best = best->begin && pace_starts(name, best->name); /* mi300x-node beside mi300x */
    if (pace_strncasecmp(name, wanted, strlen(wanted)) == 0 && !of_best) {
        size_t used = strlen(best->beginning);
        if (used + strlen(name) + 8 < sizeof best->beginning)
            pace_list(best->beginning, sizeof best->beginning, ", ", "%s", name);
        else if (!pace_ends(best->beginning, "…")) memcpy(best->beginning + used, ", …", sizeof ", …");
        if (best->begin++ == 0) snprintf(best->name, sizeof best->name, "%s", name);
        best->half_edits = 0;
    }
    if (best->half_edits > 0 && is_some_words(wanted, name)) {
        best->half_edits = 0;
        snprintf(best->name, sizeof best->name, "%s", name);
    }
    if (*best->name && best->half_edits == 0) return;
    size_t most = pace_beginnings_edits(edits, name, wanted);
    for (size_t length = 1; length <= most; length++) {
        size_t halves = 2 * edits[length] + !has_number_of(name, wanted);
        if ((name[length] != '-' && name[length] != '\0') || (*best->name && halves >= best->half_edits)) continue;
        best->half_edits = halves;
        snprintf(best->name, sizeof best->name, "%s", name);
    }
}

pace_status pace_device_fail_nameless(void) {
    return pace_fail(PACE_E_USAGE,
                     "the machine does not name its devices, as a topology of NCCL does not: exchanges can "
                     "be asked of it (predict " PACE_FIELD "kind exchange, tune), and nothing else");
}

static pace_status fail_unknown(const pace_device_catalog *catalog, const char *name) {
    nearest best = {0};
    pace_machine_catalog machines = {0};
    if (!*name) return pace_device_fail_nameless();
    if (pace_is_file(name))
        return pace_fail(PACE_E_INPUT,
                         "%s: expected a description of devices or machines, whose name ends with .yaml, .yml or .json",
                         name);
    PACE_TRY(pace_counted_name_refuse(catalog, catalog->documents, name));
    for (size_t i = 0; i < catalog->count; i++) come_near(&best, name, catalog->devices[i].name);
    PACE_TRY(pace_machine_catalog_load(&machines, catalog->documents));
    for (size_t i = 0; i < machines.machines.count; i++) come_near(&best, name, machines.machines.items[i].name);
    pace_machine_catalog_free(&machines);
    if (!*best.name) return pace_fail(PACE_E_MISSING, "the device catalogue is empty");
    if (pace_strcasecmp(best.name, name) == 0)
        return pace_fail(PACE_E_USAGE, "\"%s\" is a machine: expected its name, or NAME*COUNT, and no more", best.name);
    if (*name && best.begin > 1)
        return pace_fail(PACE_E_USAGE, "\"%.80s\" fits several, say which: %s", name, best.beginning);
    if (best.half_edits > strlen(name)) /* a guess would not help */
        return pace_fail(PACE_E_MISSING, "the catalogue has no device \"%.80s\" ('paceline machines' lists all)", name);
    return pace_fail(
        PACE_E_MISSING,
        "the catalogue has no device \"%.80s\"; the closest name is \"%s\" ('paceline machines' lists all)", name,
        best.name);
}

/* "name*2": the name may be wrong already. */
static pace_status fail_several(const pace_device_catalog *catalog, const char *text) {
    char name[64];
    const pace_device *found;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "*"), text);
    PACE_TRY(pace_device_named(&found, catalog, name, 0));
    if (!found) return fail_unknown(catalog, name);
    return pace_fail(PACE_E_USAGE,
                     "expected one device, or a machine such as \"%.40s*8 nvlink=300GB/s\", found \"%.80s\"", name,
                     text);
}

/* --- files ------------------------------------------------------------------------------------------------------ */

size_t pace_device_path_length(const char *text) {
    size_t length = strlen(text);
    const char *colon = strrchr(text, ':');
    size_t path = colon ? (size_t)(colon - text) : length;
    for (int whole = 0; whole < 2; whole++, path = length)
        if (pace_span_ends(text, path, ".yaml") || pace_span_ends(text, path, ".yml") ||
            pace_span_ends(text, path, ".json"))
            return path;
    return 0;
}

static pace_status add_extra(pace_device_extra **out, pace_device_catalog *catalog) {
    pace_device_extra *extra = pace_alloc(1, sizeof *extra);
    if (!extra) return PACE_E_MEMORY;
    pace_status status = PACE_PUSH(&catalog->extras, extra);
    return PACE_GIVE(out, extra, status, pace_free(extra));
}

static pace_status choose(const pace_device **out, const pace_device_catalog *file, const char *path,
                          const char *name) {
    if (name) {
        for (size_t i = 0; i < file->count; i++)
            if (pace_strcasecmp(file->devices[i].name, name) == 0) {
                *out = &file->devices[i];
                return PACE_OK;
            }
        return pace_fail(PACE_E_MISSING, "%s: there is no device \"%.80s\"; the first is \"%s\"", path, name,
                         file->count ? file->devices[0].name : "");
    }
    if (file->count == 1) {
        *out = &file->devices[0];
        return PACE_OK;
    }
    if (file->count == 0) return pace_fail(PACE_E_INPUT, "%s: the list of devices is empty", path);
    return pace_fail(PACE_E_USAGE, "%s: holds %zu devices; say which: %s:%s", path, file->count, path,
                     file->devices[0].name);
}

static pace_status resolve_file(const pace_device **out, pace_device_catalog *catalog, const char *text,
                                size_t length) {
    char *path = pace_copy_text(text, length);
    if (!path) return PACE_E_MEMORY;
    pace_device_extra *extra = NULL;
    pace_status status = add_extra(&extra, catalog);
    if (status == PACE_OK) status = pace_device_catalog_load_file(&extra->file, path);
    if (status == PACE_OK) status = choose(out, &extra->file, path, text[length] == ':' ? text + length + 1 : NULL);
    pace_free(path);
    return status;
}

/* --- changed figures -------------------------------------------------------------------------------------------- */

/* Short words for keys of an entry, and the measured rates that go with a peak. A key says its unit. */
static const struct {
    const char *word, *key;
    size_t with[2]; /* offsets of figures that change in proportion; 0 = none (the name lies there) */
} words[] = {
    {"memory", "memory_bytes_per_s", {offsetof(pace_device, achievable_bytes_per_s)}},
    {"memory_size", "memory_bytes", {0}},
    {"l2", "l2_bytes_per_s", {0}},
    {"l2_size", "l2_bytes", {0}},
    {"launch", "launch_s", {0}},
    {"clock", "boost_hz", {offsetof(pace_device, l2_bytes_per_s)}},
    {"pcie",
     "pcie_bytes_per_s",
     {offsetof(pace_device, pcie_pinned_bytes_per_s), offsetof(pace_device, pcie_pageable_bytes_per_s)}},
    {"pinned", "pcie_pinned_bytes_per_s", {0}},
    {"pageable", "pcie_pageable_bytes_per_s", {0}},
};

/* "2TB/s" or, with *factor, "1.5x"; a bare number where the key says the unit. */
static bool read_value(double *out, bool *factor, const char *text, pace_dimension dimension, bool bare) {
    const char *end = pace_is_digit(*text) || *text == '.' ? pace_number_read(out, text) : NULL;
    if (!end) return false;
    *factor = pace_strcasecmp(end, "x") == 0;
    if (!*factor && !(bare && *end == '\0') && !pace_parse_figure(out, text, dimension)) return false;
    return *out > 0 && *out < 1e300;
}

static void scale(pace_device *device, size_t offset, double by) {
    if (offset) *(double *)(void *)((char *)device + offset) *= by;
}

/* All that is computed goes with the clock. */
static void scale_with_clock(pace_device *device, double by) {
    for (int i = 0; i < PACE_PRECISIONS; i++) {
        device->flop_per_s[i] *= by;
        device->achievable_flop_per_s[i] *= by;
    }
}

/* A change of a figure: `word` numbers the short words; none for a precision. */
typedef struct {
    const char *text, *key;
    int word;
    double value;
    bool factor;
} change;

static pace_status set_figure(pace_device *device, const change *c) {
    pace_figure_limits limits;
    double *figure = pace_device_figure(device, c->key, &limits);
    if (!figure)
        return pace_fail(
            PACE_E_USAGE,
            "\"%.80s\": unknown figure; expected memory, memory_size, l2, l2_size, launch, clock, pcie, pinned, pageable or a "
            "precision such as fp16",
            c->text);
    if ((c->factor || figure == &device->boost_hz) && !(*figure > 0))
        return pace_fail(PACE_E_USAGE, "\"%.80s\": this figure of %s is not known%s", c->text, device->name,
                         c->factor ? ", give its value" : "");
    double now = c->factor ? *figure * c->value : c->value, by = *figure > 0 ? now / *figure : 1;
    if (now > limits.most || now < limits.least)
        return pace_fail(PACE_E_USAGE, "\"%.80s\": %g is beyond any device, expected %g to %g", c->text, now,
                         limits.least, limits.most);
    *figure = now;
    if (figure >= device->flop_per_s && figure < device->flop_per_s + PACE_PRECISIONS)
        device->achievable_flop_per_s[figure - device->flop_per_s] *= by;
    if (figure == &device->boost_hz) scale_with_clock(device, by);
    if (figure == &device->boost_hz && device->base_hz > now) device->base_hz = now;
    if (figure == &device->boost_hz && device->sustained_hz > now) device->sustained_hz = now;
    for (int i = 0; c->word >= 0 && i < 2; i++) scale(device, words[c->word].with[i], by);
    return PACE_OK;
}

enum { MOST_CHANGES = 32 };

/* `text` is "memory=2TB/s"; `seen` holds the figures that were changed before. */
static pace_status change_figure(pace_device *device, const char *text, const double *seen[MOST_CHANGES],
                                 size_t *seen_count) {
    char key[32];
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= sizeof key)
        return pace_fail(PACE_E_USAGE, "\"%.80s\": expected FIGURE=VALUE, as in memory=2TB/s", text);
    for (size_t i = 0; i <= length; i++) key[i] = i < length ? pace_lower(text[i]) : '\0';
    change c = {.text = text, .key = key, .word = -1};
    bool named = false; /* by its key, which says the unit */
    for (size_t i = 0; i < PACE_COUNT(words); i++) {
        named = strcmp(words[i].key, key) == 0;
        if (!named && strcmp(words[i].word, key) != 0) continue;
        c.word = (int)i;
        c.key = words[i].key;
        break;
    }
    pace_figure_limits limits;
    const double *figure = pace_device_figure(device, c.key, &limits);
    if (figure && !read_value(&c.value, &c.factor, equals + 1, limits.dimension, named && c.word >= 0))
        return pace_fail(PACE_E_USAGE,
                         "\"%.80s\": expected a value above 0 with its unit such as %s, or a factor such as 1.5x", text,
                         pace_figure_example(limits.dimension));
    for (size_t i = 0; figure && i < *seen_count; i++)
        if (seen[i] == figure) return pace_fail(PACE_E_USAGE, "\"%.80s\": this figure is given twice", text);
    if (*seen_count < MOST_CHANGES) seen[(*seen_count)++] = figure;
    return set_figure(device, &c);
}

/* The figures are the words that hold a '='; the words before them are the name. */
static pace_status resolve_changed(const pace_device **out, pace_device_catalog *catalog, char *text,
                                   size_t name_length, double memory_bytes) {
    char *changes = text + name_length;
    const pace_device *device;
    pace_device_extra *extra;
    *changes++ = '\0';
    PACE_TRY(pace_device_resolve(&device, catalog, text, memory_bytes));
    PACE_TRY(add_extra(&extra, catalog));
    extra->device = *device;
    size_t seen_count = 0;
    const double *seen[MOST_CHANGES];
    char *rest = NULL;
    for (char *word = strtok_r(changes, " \t,", &rest); word; word = strtok_r(NULL, " \t,", &rest)) {
        PACE_TRY(change_figure(&extra->device, word, seen, &seen_count));
        pace_append(extra->device.name, sizeof extra->device.name, " %s", word);
    }
    pace_status status = pace_device_check(&extra->device);
    if (status == PACE_OK) *out = &extra->device;
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, extra->device.name);
}

size_t pace_changed_name_length(const char *text) {
    const char *equals = strchr(text, '='), *at = equals;
    if (!equals) return 0;
    while (at > text && !pace_is_space(at[-1]) && at[-1] != ',') at--;
    while (at > text && (pace_is_space(at[-1]) || at[-1] == ',')) at--;
    return (size_t)(at - text);
}

/* A part of a GPU. Of several GPUs of that name, the one whose part has the memory that the profile names. */
static pace_status resolve_slice(const pace_device **out, pace_device_catalog *catalog, const char *name,
                                 const char *text) {
    pace_slice_profile profile;
    pace_device_extra *extra;
    const pace_device *whole;
    pace_device part;
    if (!pace_slice_profile_read(&profile, text))
        return pace_fail(PACE_E_USAGE, "\"%.40s\": expected a part of a GPU such as 3g.20gb, and nothing behind it",
                         text);
    double bytes;
    pace_status status = PACE_E_USAGE;
    for (size_t nth = 0; status != PACE_OK && (bytes = pace_slice_whole_bytes(catalog->documents, &profile, nth)) > 0;
         nth++) {
        PACE_TRY(pace_device_resolve(&whole, catalog, name, bytes));
        part = *whole;
        status = pace_slice_of(&part, catalog->documents, text);
    }
    if (status != PACE_OK) {
        PACE_TRY(pace_device_resolve(&whole, catalog, name, 0));
        part = *whole;
        PACE_TRY(pace_slice_of(&part, catalog->documents, text));
    }
    pace_snprintf(part.name + strlen(part.name), sizeof part.name - strlen(part.name), " mig=%s", text);
    PACE_TRY(add_extra(&extra, catalog));
    extra->device = part;
    *out = &extra->device;
    return PACE_OK;
}

pace_status pace_device_resolve(const pace_device **out, pace_device_catalog *catalog, const char *text,
                                double memory_bytes) {
    size_t changed = pace_changed_name_length(text), path = pace_device_path_length(text);
    const pace_device *found;
    size_t whole;
    const char *slice = pace_slice_in(&whole, text);
    if (slice) {
        char *name = pace_copy_text(text, whole);
        if (!name) return PACE_E_MEMORY;
        pace_status status = resolve_slice(out, catalog, name, slice);
        pace_free(name);
        return status;
    }
    if (changed) {
        char *copy = pace_copy_text(text, strlen(text));
        if (!copy) return PACE_E_MEMORY;
        pace_status status = resolve_changed(out, catalog, copy, changed, memory_bytes);
        pace_free(copy);
        return status;
    }
    if (strchr(text, '='))
        return pace_fail(PACE_E_USAGE, "\"%.80s\": expected a device before its figures, as in \"a100 memory=2TB/s\"",
                         text);
    if (path) return resolve_file(out, catalog, text, path);
    if (strchr(text, '*')) return fail_several(catalog, text);
    PACE_TRY(pace_device_named(&found, catalog, text, memory_bytes));
    if (!found) return fail_unknown(catalog, text);
    *out = found;
    return PACE_OK;
}

pace_status pace_device_to_run_on(const pace_device **out, pace_device_catalog *catalog, const char *text) {
    const pace_device *found;
    const char *named = "";
    PACE_TRY(pace_device_resolve(&found, catalog, text, 0));
    if (found->memory_bytes_per_s > 0 || !found->is_cpu) {
        *out = found;
        return PACE_OK;
    }
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->devices[i].is_cpu && catalog->devices[i].memory_bytes_per_s > 0) named = catalog->devices[i].name;
    return pace_fail(
        PACE_E_MISSING,
        "%.40s: what a CPU can do is not known in general: measure this one in half a minute with 'paceline "
        "calibrate --quick -o box.csv -e box.yaml' and give --on box.yaml, or name one%s%s",
        text, *named ? " that was measured: " : "", named);
}
