#include "ask/rows/fit_system.h"

#include "ask/rows/row_kind.h"
#include "machine/device.h"

#include <string.h>

/* Nodes of one make: the same devices by generation, joined alike, and where there are several, by the same NICs. */
static bool alike(const pace_machine *a, const pace_machine *b, int nodes) {
    bool inside = a->generation == b->generation && a->inside.kind == b->inside.kind &&
                  a->inside.bytes_per_s == b->inside.bytes_per_s;
    bool between =
        a->nics == b->nics && a->between.kind == b->between.kind && a->between.bytes_per_s == b->between.bytes_per_s;
    return inside && (nodes < 2 || between);
}

typedef enum { UNKNOWN, ANOTHER, THE_SAME } identity;

/* Logs name devices; the machine's own may be joined in any way. */
static identity of_device(const char *system, pace_catalog *catalog, const pace_machine *machine) {
    pace_device_catalog devices;
    if (pace_device_catalog_load(&devices, catalog) != PACE_OK) return UNKNOWN;
    const pace_device *device = pace_device_find(&devices, system, 0);
    bool other = device && pace_row_names_other(device->name, machine->device);
    pace_device_catalog_free(&devices);
    return other ? ANOTHER : UNKNOWN;
}

/* What a log's name for a system says of it. A name that describes nodes alone says nothing of a network, and that of a
 * device nothing of what joins it. */
static identity identify(const char *system, pace_catalog *catalog, const pace_machine *machine) {
    pace_machine named;
    if (strcmp(system, machine->name) == 0) return THE_SAME;
    for (int nodes = 2; nodes > 0; nodes--) {
        if (!*system) return UNKNOWN;
        bool parsed = pace_machine_asked(&named, catalog, system) == PACE_OK && named.devices * named.nodes > 1;
        if (!parsed && pace_machine_named(&named, catalog, system, nodes) != PACE_OK) continue; /* or a device alone */
        if (alike(&named, machine, nodes)) return THE_SAME;
        return parsed || nodes > 1 ? ANOTHER : of_device(system, catalog, machine);
    }
    return of_device(system, catalog, machine);
}

static bool seen_before(const pace_exchange_fit *fit, size_t curve) {
    return PACE_FIND(fit->curves.items, curve, system, fit->curves.items[curve].system) != NULL;
}

bool pace_system_is_machine(const char *system, pace_catalog *catalog, const pace_machine *machine) {
    return identify(system, catalog, machine) == THE_SAME;
}

pace_status pace_fit_system_of(const char **out, const pace_exchange_fit *fit, pace_catalog *catalog,
                               const pace_machine *machine, bool else_only) {
    char names[160] = "";
    size_t systems = 0, unknown = 0;
    const char *known = NULL;
    for (size_t i = 0; i < fit->curves.count; i++) {
        const char *system = fit->curves.items[i].system;
        if (seen_before(fit, i)) continue;
        identity is = identify(system, catalog, machine);
        if (is == THE_SAME && (!known || strcmp(system, machine->name) == 0)) known = system;
        unknown += is == UNKNOWN;
        systems++;
        if (strlen(names) + strlen(system) + 3 < sizeof names) strcat(strcat(names, *names ? ", " : ""), system);
    }
    if (!known && else_only && systems == 1 && unknown == 1) known = fit->curves.items[0].system;
    if (!known)
        return pace_fail(PACE_E_USAGE, "fit: has no effect on %.60s: its curves are of %s", machine->name, names);
    *out = known;
    return PACE_OK;
}
