#include "machine/device_slice.h"
#include "base/decimal.h"
#include "base/print.h"
#include "machine/catalog.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static double gib_of(double bytes) { return bytes / 1073741824.0; }

bool pace_slice_profile_read(pace_slice_profile *out, const char *text) {
    double slices, memory;
    if (pace_strncasecmp(text, "mig", 3) == 0) text += 3 + strspn(text + 3, " -=");
    const char *at = pace_number_read(&slices, text);
    if (!at || pace_strncasecmp(at, "g.", 2) != 0 || !(slices >= 1) || slices > 64 || slices != floor(slices))
        return false;
    at = pace_number_read(&memory, at + 2);
    if (!at || pace_strncasecmp(at, "gb", 2) != 0 || !(memory > 0)) return false;
    *out = (pace_slice_profile){(int)slices, memory};
    return at[2] == '\0' || at[2] == '+'; /* with media engines or graphics, which cost no share */
}

const char *pace_slice_in(size_t *name_length, const char *text) {
    for (const char *at = strcasestr(text, "mig"); at; at = strcasestr(at + 1, "mig")) {
        if (at == text || (at[-1] != ' ' && at[-1] != ',') || !strchr(" =-", at[3])) continue;
        const char *end = at;
        while (end > text && (end[-1] == ' ' || end[-1] == ',')) end--;
        *name_length = (size_t)(end - text);
        return at + 3 + strspn(at + 3, " =-");
    }
    return NULL;
}

/* One row of the catalogue: shares of the whole. */
typedef struct {
    int slices, whole_slices;
    double memory, whole_memory;
} row;

static pace_status read_number(double *out, const pace_yaml *yaml, const pace_yaml_node *node, const char *what) {
    PACE_TRY(pace_yaml_number(out, yaml, node));
    if (*out >= 1 && *out <= 64 && *out == floor(*out)) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: %s: expected a whole number from 1 to 64", pace_yaml_place(yaml, node), what);
}

static pace_status read_row(row *out, const pace_yaml *yaml, const pace_yaml_node *kind, size_t i) {
    const pace_yaml_node *profile = pace_yaml_item(pace_yaml_get(kind, "profiles"), i);
    double whole, slices;
    PACE_TRY(read_number(&whole, yaml, pace_yaml_get(kind, "slices"), "slices"));
    PACE_TRY(read_number(&out->whole_memory, yaml, pace_yaml_get(kind, "memory"), "memory"));
    PACE_TRY(read_number(&slices, yaml, pace_yaml_item(profile, 0), "compute slices"));
    PACE_TRY(read_number(&out->memory, yaml, pace_yaml_item(profile, 1), "memory slices"));
    out->slices = (int)slices;
    out->whole_slices = (int)whole;
    return PACE_OK;
}

/* Figures that were changed stand behind the name. */
static bool has_device(const pace_yaml_node *kind, const char *name) {
    const pace_yaml_node *devices = pace_yaml_get(kind, "devices");
    size_t length = strcspn(name, " ");
    PACE_YAML_EACH (one, devices) {
        const char *own = pace_yaml_text(one);
        if (own && strlen(own) == length && pace_strncasecmp(own, name, length) == 0) return true;
    }
    return false;
}

double pace_slice_whole_bytes(pace_catalog *catalog, const pace_slice_profile *profile, size_t nth) {
    const pace_yaml *yaml;
    if (pace_catalog_document(&yaml, catalog, "slices.yaml") != PACE_OK) return 0;
    const pace_yaml_node *kinds = pace_yaml_get(pace_yaml_root(yaml), "kinds");
    PACE_YAML_EACH (kind, kinds)
        for (size_t i = 0; i < pace_yaml_count(pace_yaml_get(kind, "profiles")); i++) {
            row r;
            if (read_row(&r, yaml, kind, i) != PACE_OK || r.slices != profile->slices || nth-- > 0) continue;
            return profile->memory_gb * 1073741824.0 * r.whole_memory / r.memory;
        }
    return 0;
}

/* Names round the memory, and some GPUs keep a part of theirs back: a tenth is allowed for. Neighbouring rows are a
 * factor of two apart. */
static bool fits(const row *r, const pace_device *device, const pace_slice_profile *profile) {
    double gb = gib_of(device->memory_bytes) * r->memory / r->whole_memory;
    return r->slices == profile->slices && fabs(profile->memory_gb - gb) <= fmax(gb / 10, 0.5);
}

static void cut(pace_device *device, const row *r) {
    double compute = (double)r->slices / r->whole_slices, memory = r->memory / r->whole_memory;
    for (int p = 0; p < PACE_PRECISIONS; p++) {
        device->flop_per_s[p] *= compute;
        device->achievable_flop_per_s[p] *= compute;
    }
    device->is_part = compute < 1 || memory < 1;
    device->sm_count = (int)(device->sm_count * compute);
    device->tdp_w *= compute;
    device->memory_bytes *= memory;
    device->memory_bytes_per_s *= memory;
    device->achievable_bytes_per_s *= memory;
    device->l2_bytes *= memory;
    device->l2_bytes_per_s *= memory;
}

static void list(char *out, size_t size, const pace_device *device, const row *r) {
    pace_list(out, size, ", ", "%dg.%.0fgb", r->slices, gib_of(device->memory_bytes) * r->memory / r->whole_memory);
}

static pace_status cut_kind(pace_device *device, const pace_yaml *yaml, const pace_yaml_node *kind,
                            const pace_slice_profile *profile, const char *text) {
    char known[160] = "";
    for (size_t i = 0; i < pace_yaml_count(pace_yaml_get(kind, "profiles")); i++) {
        row r;
        PACE_TRY(read_row(&r, yaml, kind, i));
        if (fits(&r, device, profile)) {
            cut(device, &r);
            return PACE_OK;
        }
        list(known, sizeof known, device, &r);
    }
    return pace_fail(PACE_E_USAGE, "\"%.40s\": %s has no such part: expected %s", text, device->name, known);
}

pace_status pace_slice_of(pace_device *device, pace_catalog *catalog, const char *text) {
    pace_slice_profile profile;
    const pace_yaml *yaml;
    if (!pace_slice_profile_read(&profile, text))
        return pace_fail(PACE_E_USAGE, "\"%.40s\": expected a part of a GPU such as 3g.20gb", text);
    PACE_TRY(pace_catalog_document(&yaml, catalog, "slices.yaml"));
    const pace_yaml_node *kinds = pace_yaml_get(pace_yaml_root(yaml), "kinds");
    PACE_YAML_EACH (one, kinds)
        if (has_device(one, device->name)) return cut_kind(device, yaml, one, &profile, text);
    return pace_fail(
        PACE_E_USAGE,
        "\"%.40s\": %s is not known to be cut into parts (MIG); catalog/slices.yaml lists devices that are", text,
        device->name);
}
